"""Spans written as OTLP JSON Lines come back as they were."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from atifold import otlp
from atifold.otlp.encode import SPANS_A_LINE
from atifold.spans import Kind, Link, Span, SpanEvent, Status

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TIMES = st.integers(1, 2**62)
TRACE_IDS = st.integers(1, 2**128 - 1).map("{:032x}".format)
SPAN_IDS = st.integers(1, 2**64 - 1).map("{:016x}".format)
LEAVES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.binary(max_size=8),
    st.none(),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(TEXTS, VALUES, max_size=4)
SPANS = st.builds(
    Span,
    trace_id=TRACE_IDS,
    span_id=SPAN_IDS,
    parent_id=st.none() | SPAN_IDS,
    name=TEXTS,
    start_ns=TIMES,
    end_ns=st.none() | TIMES,
    kind=st.sampled_from(Kind),
    attributes=ATTRIBUTES,
    events=st.lists(st.builds(SpanEvent, TEXTS, TIMES, ATTRIBUTES), max_size=2).map(tuple),
    links=st.lists(st.builds(Link, TRACE_IDS, SPAN_IDS, ATTRIBUTES), max_size=2).map(tuple),
    status=st.sampled_from(Status),
    status_message=TEXTS,
    resource=ATTRIBUTES,
    scope_name=TEXTS,
    scope_version=TEXTS,
)
ONE = Span("1" * 32, "2" * 16, None, "x", 1, 2, Kind.CLIENT, status=Status.ERROR)


@given(st.lists(SPANS, max_size=5))
def test_what_is_written_reads_as_the_same_spans(spans: list[Span]) -> None:
    """Values of every kind, and the order of the spans, survive a round trip."""
    batch = otlp.parse(otlp.encode_lines(spans), "x")
    assert batch.spans == spans
    assert batch.complaints == []


@given(st.lists(SPANS, max_size=3))
def test_what_is_written_twice_is_the_same_bytes(spans: list[Span]) -> None:
    """Reading and writing again changes nothing."""
    lines = otlp.encode_lines(spans)
    assert otlp.encode_lines(otlp.parse(lines, "x").spans) == lines


def test_the_lines_are_in_the_json_mapping_of_the_specification() -> None:
    """Ids are hex, 64-bit integers strings, enums numbers, keys in camelCase."""
    span = replace(ONE, parent_id="3" * 16, attributes={"n": 5, "d": 1.0, "l": (True, None)}, scope_name="s")
    (line,) = otlp.encode_lines([span]).splitlines()
    written = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]
    assert written["scope"] == {"name": "s", "version": ""}
    assert written["spans"] == [
        {
            "traceId": "1" * 32,
            "spanId": "2" * 16,
            "parentSpanId": "3" * 16,
            "name": "x",
            "kind": 3,
            "startTimeUnixNano": "1",
            "endTimeUnixNano": "2",
            "attributes": [
                {"key": "n", "value": {"intValue": "5"}},
                {"key": "d", "value": {"doubleValue": 1.0}},
                {"key": "l", "value": {"arrayValue": {"values": [{"boolValue": True}, {}]}}},
            ],
            "status": {"code": 2},
        }
    ]


def test_protobuf_takes_the_lines() -> None:
    """The reference implementation of the message accepts every key; ids apart, which OTLP writes in hex."""
    from google.protobuf.json_format import ParseDict  # noqa: PLC0415  heavy, and only wanted here

    span = replace(ONE, events=(SpanEvent("e", 3, {"a": [1]}),), links=(Link("4" * 32, "5" * 16, {"b": {"c": b"1"}}),))
    message = ParseDict(json.loads(otlp.encode_lines([span])), ExportTraceServiceRequest())
    assert message.resource_spans[0].scope_spans[0].spans[0].events[0].time_unix_nano == 3


def test_neighbours_of_one_resource_share_a_line() -> None:
    """A line holds one resource and at most a bound of spans; nothing is reordered."""
    spans = [replace(ONE, span_id=f"{number:016x}", resource={"a": number // 600}) for number in range(1, 1201)]
    lines = otlp.encode_lines(spans).splitlines()
    sizes = [len(json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]) for line in lines]
    assert sizes == [SPANS_A_LINE, 599 - SPANS_A_LINE, SPANS_A_LINE, 600 - SPANS_A_LINE, 1]
    assert otlp.parse(b"\n".join(lines), "x").spans == spans


def test_what_otlp_cannot_hold_is_written_as_near_as_can_be() -> None:
    """NaN is left out on reading, a huge integer is a text, half a surrogate pair U+FFFD."""
    span = replace(ONE, name="a\ud83d", attributes={"nan": math.nan, "inf": -math.inf, "big": 2**70})
    (found,) = otlp.parse(otlp.encode_lines([span]), "x").spans
    assert found.name == "a\ufffd"
    assert found.attributes == {"big": str(2**70)}


def test_no_spans_are_no_lines() -> None:
    """An empty list writes nothing, which reads as nothing."""
    assert otlp.encode_lines([]) == b""
