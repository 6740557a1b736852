"""OTLP JSON whose values are of other types than the specification wants: texts that are none, above all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atifold import otlp

TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(number: int, **more: Any) -> dict[str, Any]:
    """Return one span in the JSON mapping of OTLP."""
    return {"traceId": TRACE, "spanId": f"{number:016x}", "name": "x", "startTimeUnixNano": "10", **more}


def parse(*resource_spans: Any) -> otlp.Batch:
    """Read one request."""
    return otlp.parse(json.dumps({"resourceSpans": list(resource_spans)}).encode(), "in.json")


def beside_a_good_one(bad: dict[str, Any]) -> otlp.Batch:
    """Read a request of a span and of a good one after it."""
    return parse({"scopeSpans": [{"spans": [bad, span(2)]}]})


@pytest.mark.parametrize(("given", "wanted"), [(7, "7"), (1.5, "1.5"), (True, "true"), (None, ""), ("t", "t")])
def test_a_number_in_place_of_a_text_is_read_as_text(given: Any, wanted: str) -> None:
    """As JSON writes it; null is the empty text that the mapping takes it for."""
    batch = beside_a_good_one(
        span(1, name=given, status={"code": 2, "message": given}, events=[{"name": given, "timeUnixNano": "11"}])
    )
    assert batch.complaints == []
    first = batch.spans[0]
    assert (first.name, first.status_message, first.events[0].name) == (wanted, wanted, wanted)


@pytest.mark.parametrize("given", [["a"], {"a": 1}, []])
@pytest.mark.parametrize(
    "make",
    [
        lambda given: {"name": given},
        lambda given: {"status": {"code": 2, "message": given}},
        lambda given: {"events": [{"name": given, "timeUnixNano": "11"}]},
        lambda given: {"attributes": [{"key": given, "value": {"stringValue": "x"}}]},
    ],
)
def test_a_list_or_object_in_place_of_a_text_costs_its_span(make: Any, given: Any) -> None:
    """One complaint says what was found; the span beside it is kept."""
    batch = beside_a_good_one(span(1, **make(given)))
    assert [found.span_id for found in batch.spans] == [f"{2:016x}"]
    found = "an object" if isinstance(given, dict) else "a list"
    assert [str(complaint) for complaint in batch.complaints] == [
        f"in.json: found a span that cannot be read ({found} in place of a text), wanted an OTLP span"
    ]


def test_a_number_in_place_of_an_attributes_name_is_read_as_text() -> None:
    """Also inside of a map; a name that is null is none, and costs the span."""
    inner = {"kvlistValue": {"values": [{"key": 8, "value": {"intValue": 1}}]}}
    batch = beside_a_good_one(span(1, attributes=[{"key": 7, "value": inner}]))
    assert batch.spans[0].attributes == {"7": {"8": 1}}
    batch = beside_a_good_one(span(1, attributes=[{"key": None, "value": inner}]))
    assert (len(batch.spans), len(batch.complaints)) == (1, 1)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"stringValue": 7}, "7"),
        ({"stringValue": True}, "true"),
        ({"stringValue": {"a": [1, None]}}, '{"a":[1,null]}'),
        ({"stringValue": None}, None),
        ({"boolValue": "True"}, True),
        ({"boolValue": "false"}, False),
    ],
)
def test_a_value_of_another_type_than_its_kind_is_read_as_what_it_shows(value: Any, wanted: Any) -> None:
    """Texts as JSON text, never as Python's; null stays null."""
    batch = beside_a_good_one(span(1, attributes=[{"key": "a", "value": value}]))
    assert batch.complaints == []
    assert batch.spans[0].attributes == {"a": wanted}


@pytest.mark.parametrize("value", [{"boolValue": None}, {"boolValue": [1]}, {"boolValue": "perhaps"}])
def test_a_yes_or_no_that_is_neither_leaves_its_attribute_out(value: Any) -> None:
    """As a number that is none does: nothing is made up."""
    assert beside_a_good_one(span(1, attributes=[{"key": "a", "value": value}])).spans[0].attributes == {}


@pytest.mark.parametrize("resource", [7, {"attributes": 7}, {"attributes": [{"key": [], "value": {}}]}])
def test_a_bad_resource_costs_only_its_own_attributes(resource: Any) -> None:
    """The spans that came with it are kept, and one complaint is left."""
    batch = parse({"resource": resource, "scopeSpans": [{"spans": [span(1)]}]})
    assert [dict(found.resource) for found in batch.spans] == [{}]
    (complaint,) = batch.complaints
    assert complaint.found.startswith("found a resource that cannot be read")


@pytest.mark.parametrize("scope", [7, {"name": []}, {"name": "s", "version": {}}])
def test_a_bad_scope_costs_only_its_own_name(scope: Any) -> None:
    """The spans that came with it are kept, and one complaint is left."""
    batch = parse({"scopeSpans": [{"scope": scope, "spans": [span(1)]}, {"scope": {"name": 3}, "spans": [span(2)]}]})
    assert [found.scope_name for found in batch.spans] == ["", "3"]
    (complaint,) = batch.complaints
    assert complaint.found.startswith("found a scope that cannot be read")


@pytest.mark.parametrize("bad", [7, None, "scopeSpans", [1], {"spans": 7}, {"spans": {"a": 1}}])
def test_what_is_no_list_of_spans_costs_only_itself(bad: Any) -> None:
    """The scopes and the resources after it are read."""
    batch = parse({"scopeSpans": [bad, {"spans": [span(1)]}]}, bad, {"scopeSpans": [{"spans": [span(2)]}]})
    assert [found.span_id for found in batch.spans] == [f"{1:016x}", f"{2:016x}"]
    assert batch.complaints


def test_a_complaint_speaks_of_json() -> None:
    """Never of Python's types: what was found is a list, an object, a number."""
    batch = parse({"scopeSpans": [{"spans": [7, span(1, attributes=[7]), span(2, attributes=[{"value": [1]}])]}]})
    assert [complaint.found for complaint in batch.complaints] == [
        "found a span that cannot be read (a number in place of an object)",
        "found a span that cannot be read (a number in place of an object)",
        "found a span that cannot be read (no 'key')",
    ]
