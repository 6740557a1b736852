"""OTLP protobuf: the real encoder's bytes are read as the same request in JSON is."""

from __future__ import annotations

import gzip
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtoRecord
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData, ResourceLogs, ScopeLogs
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, TracesData
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from atifold import otlp
from atifold.spans import Kind, Link, Span, SpanEvent, Status

TRACE, SPAN = bytes(range(16)), bytes(range(1, 9))
VALUES = st.recursive(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.binary(min_size=1),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


def any_value(value: Any) -> AnyValue:  # noqa: PLR0911 - one return a kind of value
    """Return a plain value as protobuf has it."""
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case bytes():
            return AnyValue(bytes_value=value)
        case list():
            return AnyValue(array_value=ArrayValue(values=[any_value(item) for item in value]))
        case dict():
            return AnyValue(kvlist_value=KeyValueList(values=pairs(value)))
        case _:
            return AnyValue(string_value=value)


def pairs(values: dict[str, Any]) -> list[KeyValue]:
    """Return attributes as protobuf has them."""
    return [KeyValue(key=key, value=any_value(value)) for key, value in values.items()]


def spans(*items: ProtoSpan) -> bytes:
    """Return a request of spans."""
    return TracesData(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=items)])]).SerializeToString()


def records(*items: ProtoRecord) -> bytes:
    """Return a request of log records."""
    return LogsData(resource_logs=[ResourceLogs(scope_logs=[ScopeLogs(log_records=items)])]).SerializeToString()


def test_a_span_is_read_whole() -> None:
    """Each field that the neutral record has."""
    item = ProtoSpan(
        trace_id=TRACE,
        span_id=SPAN,
        parent_span_id=SPAN[::-1],
        name="chat",
        kind=ProtoSpan.SPAN_KIND_CLIENT,
        start_time_unix_nano=5,
        end_time_unix_nano=2**63 + 1,
        attributes=pairs({"n": -1}),
        events=[ProtoSpan.Event(name="e", time_unix_nano=6, attributes=pairs({"x": [1.5, True]}))],
        links=[ProtoSpan.Link(trace_id=TRACE[::-1], span_id=SPAN, attributes=pairs({"y": "z"}))],
    )
    item.status.code, item.status.message = 2, "no"
    assert otlp.parse(spans(item), "x.pb").spans == [
        Span(
            trace_id=TRACE.hex(),
            span_id=SPAN.hex(),
            parent_id=SPAN[::-1].hex(),
            name="chat",
            start_ns=5,
            end_ns=2**63 + 1,
            kind=Kind.CLIENT,
            attributes={"n": -1},
            events=(SpanEvent("e", 6, {"x": [1.5, True]}),),
            links=(Link(TRACE[::-1].hex(), SPAN.hex(), {"y": "z"}),),
            status=Status.ERROR,
            status_message="no",
        )
    ]


def test_a_record_is_read_whole() -> None:
    """It is told from a span by its fields, and its time may be that of its observation."""
    item = ProtoRecord(
        trace_id=TRACE,
        span_id=SPAN,
        observed_time_unix_nano=7,
        severity_number=9,
        severity_text="INFO",
        event_name="gen_ai.choice",
        body=any_value({"index": 0}),
        attributes=pairs({"a": "b"}),
    )
    (record,) = otlp.parse(records(item), "x.pb").logs
    assert (record.trace_id, record.span_id, record.time_ns) == (TRACE.hex(), SPAN.hex(), 7)
    assert (record.name, record.body, record.attributes) == ("gen_ai.choice", {"index": 0}, {"a": "b"})


@given(st.dictionaries(st.text("abc", min_size=1), VALUES, max_size=4))
def test_each_value_comes_back(values: dict[str, Any]) -> None:
    """All kinds of values, however nested; null alone is an empty message."""
    item = ProtoSpan(trace_id=TRACE, span_id=SPAN, attributes=[*pairs(values), KeyValue(key="none", value=AnyValue())])
    (span,) = otlp.parse(spans(item), "x.pb").spans
    assert span.attributes == {**values, "none": None}


def test_a_number_that_is_none_leaves_its_name_out() -> None:
    """As in JSON."""
    item = ProtoSpan(trace_id=TRACE, span_id=SPAN, attributes=pairs({"a": math.nan, "b": 1.0}))
    assert otlp.parse(spans(item), "x.pb").spans[0].attributes == {"b": 1.0}


def test_messages_after_their_lengths_are_one_input() -> None:
    """The collector's file exporter writes so; traces and logs may follow each other, and gzip be around all."""
    parts = [spans(ProtoSpan(trace_id=TRACE, span_id=SPAN)), records(ProtoRecord(event_name="a"))]
    data = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    for whole in (data, gzip.compress(data)):
        batch = otlp.parse(whole, "x.pb")
        assert (len(batch.spans), len(batch.logs), batch.complaints) == (1, 1, [])


def test_fields_that_nobody_knows_are_passed_over() -> None:
    """A later version of the format may add some, of any wire type."""
    unknown = b"\xf8\x06\x01" + b"\xf9\x06" + b"8 bytes." + b"\xfa\x06\x02ab" + b"\xfd\x06" + b"four"
    span = ProtoSpan(trace_id=TRACE, span_id=SPAN).SerializeToString() + unknown
    inner = b"\x12" + bytes([len(span)]) + span
    scope = b"\x12" + bytes([len(inner)]) + inner
    assert len(otlp.parse(b"\x0a" + bytes([len(scope)]) + scope, "x.pb").spans) == 1


@given(st.binary(max_size=200), st.integers(0, 200))
def test_broken_bytes_are_a_complaint(noise: bytes, cut: int) -> None:
    """Whatever they are, and wherever a request was cut: nothing raises, nothing is silent."""
    whole = spans(ProtoSpan(trace_id=TRACE, span_id=SPAN, name="x" * 90))
    for data in (b"\x0a" + noise, b"\0" + noise, whole[: min(cut, len(whole) - 1)]):
        batch = otlp.parse(data, "x.pb")
        assert batch.spans or batch.logs or batch.complaints or not data.strip() or not data.strip(b"\0\n\t\r \x0b\x0c")


def test_text_that_is_not_utf_8_costs_only_its_bad_bytes() -> None:
    """Writers that cut texts by bytes leave such."""
    whole = spans(ProtoSpan(trace_id=TRACE, span_id=SPAN, name="a name", attributes=pairs({"k": "value"})))
    (span,) = otlp.parse(whole.replace(b"name", b"nam\xff").replace(b"value", b"\xfealue"), "x.pb").spans
    assert (span.name, span.attributes) == ("a nam\ufffd", {"k": "\ufffdalue"})


def test_metrics_are_passed_over() -> None:
    """They are neither spans nor log records, and no complaint."""
    point = NumberDataPoint(as_int=1, attributes=pairs({"a": 1}))
    item = Metric(name="m", description="d", gauge=Gauge(data_points=[point]))
    data = MetricsData(resource_metrics=[ResourceMetrics(scope_metrics=[ScopeMetrics(metrics=[item])])])
    assert otlp.parse(data.SerializeToString(), "x.pb") == otlp.Batch()


def test_spans_with_ids_of_another_size_are_complaints() -> None:
    """They are not taken for something else."""
    batch = otlp.parse(spans(ProtoSpan(trace_id=b"x" * 17, span_id=SPAN, name="a")), "x.pb")
    assert (batch.spans, batch.logs) == ([], [])
    assert str(batch.complaints[0]).startswith("x.pb: found a span that cannot be read (id ")


def test_text_that_begins_with_a_line_end_is_still_text() -> None:
    """The byte that begins protobuf is a line end in JSON."""
    span = {"traceId": TRACE.hex(), "spanId": SPAN.hex(), "name": "x"}
    data = b"\n" + json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
    assert len(otlp.parse(data, "x.json").spans) == 1


@pytest.mark.parametrize("data", [b"\n", b"\n\n", b"\n \n"])
def test_blank_lines_are_no_protobuf(data: bytes) -> None:
    """They hold nothing, and are no complaint."""
    assert otlp.parse(data, "x") == otlp.Batch()
