"""Log records in OTLP JSON: a signal beside spans, read with the same patience."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atifold import otlp
from atifold.spans import LogRecord

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def request(*records: dict[str, Any], **names: str) -> bytes:
    """Return an export request of records of one resource and scope; `names` replace the keys around them."""
    scope = {"scope": {"name": "desk", "version": "2"}, names.get("items", "logRecords"): list(records)}
    resource = {
        "resource": {"attributes": [attribute("service.name", "helpdesk")]},
        names.get("scopes", "scopeLogs"): [scope],
    }
    return json.dumps({names.get("resources", "resourceLogs"): [resource]}).encode()


def attribute(key: str, text: str) -> dict[str, Any]:
    """Return an attribute that is a text."""
    return {"key": key, "value": {"stringValue": text}}


def the_one(data: bytes) -> LogRecord:
    """Return the only record in some data, which has no complaint and no span."""
    batch = otlp.parse(data, "x.json")
    assert batch.complaints == []
    assert batch.spans == []
    (record,) = batch.logs
    return record


def test_a_record_keeps_all_that_it_says() -> None:
    """Name, time, the span that it names, attributes, body, and where it comes from."""
    record = the_one(
        request(
            {
                "timeUnixNano": "5",
                "observedTimeUnixNano": "9",
                "traceId": TRACE.upper(),
                "spanId": SPAN,
                "eventName": "gen_ai.choice",
                "attributes": [attribute("gen_ai.system", "openai")],
                "body": {"kvlistValue": {"values": [{"key": "index", "value": {"intValue": "0"}}]}},
            }
        )
    )
    assert record == LogRecord(
        name="gen_ai.choice",
        time_ns=5,
        trace_id=TRACE,
        span_id=SPAN,
        attributes={"gen_ai.system": "openai"},
        body={"index": 0},
        resource={"service.name": "helpdesk"},
        scope_name="desk",
        scope_version="2",
    )


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"eventName": "a"}, "a"),
        ({"event_name": "a"}, "a"),
        ({"attributes": [attribute("event.name", "b")]}, "b"),
        ({"eventName": "src/desk.rs:12", "attributes": [attribute("event.name", "b")]}, "b"),
        ({"eventName": "a", "attributes": [attribute("event.name", "")]}, "a"),
        ({}, ""),
    ],
)
def test_a_record_is_named_by_its_attribute_or_its_field(item: dict[str, Any], name: str) -> None:
    """The attribute goes first: some writers put a place in their source into the field."""
    assert the_one(request(item)).name == name


@pytest.mark.parametrize(
    ("item", "time_ns"),
    [({"timeUnixNano": 0, "observedTimeUnixNano": "7"}, 7), ({"observed_time_unix_nano": 7}, 7), ({}, 0)],
)
def test_a_record_without_a_time_has_that_of_its_observation(item: dict[str, Any], time_ns: int) -> None:
    """And 0 where neither is known."""
    assert the_one(request(item)).time_ns == time_ns


def test_a_record_may_name_no_span() -> None:
    """Empty ids and ids of zeros are none."""
    record = the_one(request({"traceId": "", "spanId": "0" * 16, "body": {"stringValue": "up"}}))
    assert (record.trace_id, record.span_id, record.body) == (None, None, "up")


@pytest.mark.parametrize(
    "names",
    [
        {"resources": "resource_logs", "scopes": "scope_logs", "items": "log_records"},
        {"scopes": "instrumentationLibraryLogs", "items": "logs"},
    ],
)
def test_other_spellings_are_read(names: dict[str, str]) -> None:
    """Protobuf's own JSON form, and what the format was before it was stable."""
    assert the_one(request({"eventName": "a"}, **names)).name == "a"


def test_a_bad_record_costs_only_itself() -> None:
    """It is one complaint that says what it is."""
    batch = otlp.parse(request({"spanId": 7}, {"eventName": "a"}, {"timeUnixNano": "soon"}), "x.json")
    assert [record.name for record in batch.logs] == ["a"]
    assert len(batch.complaints) == 2
    assert all("a log record that cannot be read" in str(complaint) for complaint in batch.complaints)


def test_spans_and_records_may_share_a_file() -> None:
    """Line by line, or in one request of both."""
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": TRACE, "spanId": SPAN, "name": "x"}]}]}]}
    lines = json.dumps(spans).encode() + b"\n" + request({"eventName": "a"})
    both = json.dumps({**spans, **json.loads(request({"eventName": "a"}))}).encode()
    for data in (lines, both):
        batch = otlp.parse(data, "x.json")
        assert (len(batch.spans), len(batch.logs), batch.complaints) == (1, 1, [])
