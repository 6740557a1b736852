"""The bound of the encoded size: never below the truth, and not far above it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.trace import Link, SpanContext

from atifold.delivery.weight import frame_bytes, record_bytes, span_bytes, text_bytes, value_bytes

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | TEXTS | st.binary(max_size=40)
VALUES = st.recursive(
    LEAVES, lambda each: st.lists(each, max_size=4) | st.dictionaries(TEXTS, each, max_size=4), max_leaves=12
)
ATTRIBUTES = st.dictionaries(TEXTS.filter(bool), VALUES, max_size=6)
SHARED_MAKER = [HealthCheck.function_scoped_fixture]


@settings(suppress_health_check=SHARED_MAKER, deadline=None)
@given(name=TEXTS, attributes=ATTRIBUTES, told=ATTRIBUTES, words=TEXTS, remote=st.booleans())
def test_a_span_never_is_larger_than_its_bound(
    name: str, attributes: Any, told: Any, words: str, remote: bool, make: Any
) -> None:
    """With events, links, a status and values of every kind."""
    link = Link(SpanContext(1, 2, is_remote=remote), told)
    span = make.span(name, attributes, events=[(name, told), (words, {})], links=[link, link], status=words, scope=name)
    bound = span_bytes(span) + frame_bytes(span.resource, span.instrumentation_scope)
    assert encode_spans([span]).ByteSize() <= bound


@settings(suppress_health_check=SHARED_MAKER, deadline=None)
@given(name=TEXTS, body=VALUES, attributes=ATTRIBUTES)
def test_a_log_record_never_is_larger_than_its_bound(name: str, body: Any, attributes: Any, make: Any) -> None:
    """With a body and attributes of every kind."""
    record = make.record(body, attributes, name)
    bound = record_bytes(record) + frame_bytes(record.resource, record.instrumentation_scope)
    assert encode_logs([record]).ByteSize() <= bound


def test_the_bound_of_a_prompt_is_close(make: Any) -> None:
    """A hundred spans of an agent: less than a tenth above the truth, so few requests are made for nothing."""
    attributes = {"gen_ai.input.messages": "x" * 4000, **{f"gen_ai.attribute.{n}": "some value" * 4 for n in range(20)}}
    spans = [make.span("chat gpt-4o", attributes) for _ in range(100)]
    true = encode_spans(spans).ByteSize()
    assert true <= sum(map(span_bytes, spans)) + frame_bytes(spans[0].resource, None) <= true * 1.1


def test_texts_are_measured_in_utf_8() -> None:
    """Not in characters."""
    assert text_bytes("ab") == 2
    assert text_bytes("é€😀") == 9
    assert text_bytes(None) == 0


@pytest.mark.parametrize("value", ["\ud83d", ["ok", "\udc00"], {"\ud800": 1}, {"a": {"b": ["\udfff"]}}])
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(value: Any) -> None:
    """As the encoder refuses it, which costs the batch or the attribute."""
    with pytest.raises(UnicodeEncodeError):
        value_bytes(value)
