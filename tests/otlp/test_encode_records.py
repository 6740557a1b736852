"""Log records that were read, written as OTLP JSON, come back as they were."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from atifold import otlp
from atifold.jsontext import to_json
from atifold.spans import LogRecord

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS | st.binary(max_size=8)
BODIES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(TEXTS.filter(lambda name: name != "event.name"), LEAVES, max_size=3)
RECORDS = st.builds(
    LogRecord,
    name=TEXTS,
    time_ns=st.integers(0, 2**62),
    trace_id=st.none() | st.integers(1, 2**128 - 1).map("{:032x}".format),
    span_id=st.none() | st.integers(1, 2**64 - 1).map("{:016x}".format),
    attributes=ATTRIBUTES,
    body=BODIES,
    resource=ATTRIBUTES,
    scope_name=TEXTS,
    scope_version=TEXTS,
)


def _read(records: list[LogRecord]) -> Any:
    return otlp.parse(to_json({"resourceLogs": otlp.resource_logs(records)}), "x")


@given(st.lists(RECORDS, max_size=5))
def test_what_is_written_reads_as_the_same_records(records: list[LogRecord]) -> None:
    """Bodies of every kind, and the order of the records."""
    batch = _read(records)
    assert (batch.logs, batch.complaints) == (records, [])


def test_what_says_nothing_is_not_written() -> None:
    """A plain line without a place has its text and its time."""
    (resource,) = otlp.resource_logs([LogRecord("", 7, body="line")])
    (record,) = resource["scopeLogs"][0]["logRecords"]
    assert json.loads(to_json(record)) == {"timeUnixNano": "7", "body": {"stringValue": "line"}}
