"""OTLP JSON, as the specification writes it and as others do."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from atifold import otlp
from atifold.spans import Kind, Link, SpanEvent, Status

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
PARENT = "00f067aa0ba902b7"


def request(
    *spans: dict[str, Any], scope_spans: str = "scopeSpans", resource_spans: str = "resourceSpans"
) -> dict[str, Any]:
    """Return one export request around some spans."""
    scope = {"scope": {"name": "s", "version": "1"}, "spans": list(spans)}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "app"}}]}
    return {resource_spans: [{"resource": resource, scope_spans: [scope]}]}


def span(**more: Any) -> dict[str, Any]:
    """Return one span in the JSON mapping of OTLP."""
    return {"traceId": TRACE, "spanId": SPAN, "name": "x", "startTimeUnixNano": "10", "endTimeUnixNano": "20", **more}


def parse(value: Any) -> otlp.Batch:
    """Read a JSON value."""
    return otlp.parse(json.dumps(value).encode(), "in.json")


def attributes(*pairs: tuple[str, Any]) -> dict[str, Any]:
    """Read one span's attributes out of AnyValues."""
    batch = parse(request(span(attributes=[{"key": key, "value": value} for key, value in pairs])))
    assert not batch.complaints
    return dict(batch.spans[0].attributes)


def test_a_span_of_the_specification_is_read_whole() -> None:
    """Every field of a span that is kept comes out as what it means."""
    found = parse(
        request(
            span(
                parentSpanId=PARENT,
                kind=3,
                status={"code": 2, "message": "bad"},
                attributes=[{"key": "a", "value": {"intValue": "5"}}],
                events=[
                    {"name": "e", "timeUnixNano": "12", "attributes": [{"key": "b", "value": {"boolValue": True}}]}
                ],
                links=[{"traceId": TRACE, "spanId": PARENT, "attributes": []}],
            )
        )
    )
    only = found.spans[0]
    assert (only.trace_id, only.span_id, only.parent_id, only.name) == (TRACE, SPAN, PARENT, "x")
    assert (only.start_ns, only.end_ns, only.kind) == (10, 20, Kind.CLIENT)
    assert (only.status, only.status_message) == (Status.ERROR, "bad")
    assert only.attributes == {"a": 5}
    assert only.events == (SpanEvent("e", 12, {"b": True}),)
    assert only.links == (Link(TRACE, PARENT, {}),)
    assert only.resource == {"service.name": "app"}
    assert (only.scope_name, only.scope_version) == ("s", "1")
    assert found.complaints == []


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"stringValue": "t"}, "t"),
        ({"boolValue": False}, False),
        ({"intValue": "-7"}, -7),
        ({"intValue": 7}, 7),
        ({"doubleValue": 6}, 6.0),
        ({"bytesValue": "AQI="}, b"\x01\x02"),
        ({"arrayValue": {"values": [{"intValue": 1}, {}]}}, [1, None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": "v"}}]}}, {"k": "v"}),
        ({}, None),
        (None, None),
        ({"string_value": "t"}, "t"),
        ({"int_value": "3"}, 3),
        ({"array_value": {"values": [{"double_value": 1.5}]}}, [1.5]),
    ],
)
def test_each_kind_of_value_is_read(value: Any, wanted: Any) -> None:
    """An AnyValue of any kind and spelling becomes the plain value."""
    assert attributes(("a", value)) == {"a": wanted}


@pytest.mark.parametrize(
    "value", [{"doubleValue": None}, {"doubleValue": "NaN"}, {"doubleValue": "Infinity"}, {"intValue": "abc"}]
)
def test_a_number_that_is_none_leaves_its_attribute_out(value: Any) -> None:
    """NaN, infinities and unreadable integers say nothing, so the attribute is absent, without complaint."""
    assert attributes(("a", value), ("b", {"intValue": 1})) == {"b": 1}


def test_of_a_doubled_attribute_the_last_counts() -> None:
    """The value given last wins, in the place where the name first stood."""
    assert attributes(("a", {"intValue": 1}), ("b", {"intValue": 2}), ("a", {"intValue": 3})) == {"a": 3, "b": 2}


def test_the_json_form_of_protobuf_is_read() -> None:
    """Snake-case keys, enum names and ids in base64 give the same span."""
    odd = {
        "resource_spans": [
            {
                "scope_spans": [
                    {
                        "spans": [
                            {
                                "trace_id": base64.b64encode(bytes.fromhex(TRACE)).decode(),
                                "span_id": base64.b64encode(bytes.fromhex(SPAN)).decode(),
                                "parent_span_id": base64.b64encode(bytes.fromhex(PARENT)).decode(),
                                "name": "x",
                                "kind": "SPAN_KIND_SERVER",
                                "start_time_unix_nano": 10,
                                "end_time_unix_nano": 20,
                                "status": {"code": "STATUS_CODE_OK"},
                            }
                        ]
                    }
                ]
            }
        ]
    }
    only = parse(odd).spans[0]
    assert (only.key, only.parent_id) == ((TRACE, SPAN), PARENT)
    assert (only.kind, only.status, only.start_ns, only.end_ns) == (Kind.SERVER, Status.OK, 10, 20)


@pytest.mark.parametrize(("given", "wanted"), [(TRACE.upper(), TRACE), ("1a", "1a".rjust(32, "0"))])
def test_hex_ids_are_made_lower_case_and_whole(given: str, wanted: str) -> None:
    """Upper case and missing zeros at the front do not make another trace."""
    assert parse(request(span(traceId=given))).spans[0].trace_id == wanted


@pytest.mark.parametrize("parent", ["", None, "0" * 16])
def test_an_empty_parent_makes_a_root(parent: str | None) -> None:
    """Absent, empty and all-zero parent ids are no parent."""
    assert parse(request(span(parentSpanId=parent))).spans[0].parent_id is None


@pytest.mark.parametrize("end", ["0", 0, None])
def test_a_span_without_an_end_never_ended(end: Any) -> None:
    """No end, or the end 0 that writers put in its place, is None."""
    assert parse(request(span(endTimeUnixNano=end))).spans[0].end_ns is None


@pytest.mark.parametrize(
    "value",
    [
        request(span(), scope_spans="instrumentationLibrarySpans"),
        request(span(), resource_spans="batches"),
        {"result": request(span())},
        {"trace": request(span())},
        [request(span())],
        request(span())["resourceSpans"],
    ],
)
def test_each_wrapping_is_opened(value: Any) -> None:
    """Older scope names, Tempo's batches, query APIs and bare lists hold the same span."""
    batch = parse(value)
    assert [found.key for found in batch.spans] == [(TRACE, SPAN)]
    assert batch.complaints == []


def test_a_bad_span_costs_only_itself() -> None:
    """A span without an id leaves one complaint, the spans beside it are kept."""
    batch = parse(request(span(), span(spanId=""), span(spanId="zz"), span(spanId=PARENT)))
    assert [found.span_id for found in batch.spans] == [SPAN, PARENT]
    assert [str(complaint) for complaint in batch.complaints] == [
        "in.json: found a span that cannot be read (no 'spanId'), wanted an OTLP span",
        "in.json: found a span that cannot be read (id 'zz'), wanted an OTLP span",
    ]


@pytest.mark.parametrize("bad", [7, None, "x", [1]])
def test_a_span_that_is_no_object_costs_only_itself(bad: Any) -> None:
    """Whatever stands in a span's place, the span beside it is read."""
    batch = parse(request(bad, span()))
    assert len(batch.spans) == 1
    assert len(batch.complaints) == 1


@pytest.mark.parametrize("time", ["-1", str(2**64), "noon"])
def test_a_time_that_fits_no_64_bits_costs_its_span(time: str) -> None:
    """No clock has such a time."""
    batch = parse(request(span(startTimeUnixNano=time), span()))
    assert len(batch.spans) == 1
    assert len(batch.complaints) == 1


def test_values_nested_without_end_are_a_complaint() -> None:
    """A value deeper than the stack costs its span, not the program."""
    deep = "[" * 900 + "]" * 900
    data = json.dumps(request(span(attributes=[{"key": "a", "value": {"arrayValue": {"values": "DEEP"}}}])))
    nested = '[{"arrayValue":{"values":' * 330 + "[]" + "}}]" * 330
    assert len(otlp.parse(data.replace('"DEEP"', nested).encode(), "in.json").complaints) == 1
    assert otlp.parse(deep.encode(), "in.json").spans == []


@pytest.mark.parametrize("value", [{"data": []}, "text", 5, [{"a": 1}], {"resourceSpans": 5}])
def test_json_that_is_no_otlp_is_one_complaint(value: Any) -> None:
    """Any other JSON gives one line that says what was wanted."""
    batch = parse(value)
    assert batch.spans == []
    assert len(batch.complaints) == 1
    assert "wanted" in str(batch.complaints[0])


@pytest.mark.parametrize("value", [{}, [], {"resourceSpans": []}, {"resourceLogs": []}, {"resourceMetrics": [{}]}])
def test_otlp_without_spans_is_no_complaint(value: Any) -> None:
    """An empty request, logs and metrics are OTLP that holds no span."""
    assert parse(value) == otlp.Batch()


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    """Half of a UTF-16 pair in an escape survives reading as U+FFFD."""
    data = json.dumps(request(span(name="NAME"))).replace("NAME", "a\\ud83d b").encode()
    batch = otlp.parse(data, "in.json")
    assert batch.spans[0].name == "a\ufffd b"
    assert batch.complaints == []
