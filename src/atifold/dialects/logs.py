"""Bring log records to the spans that they name, as events of those spans.

Instrumentations write what was said into span events or into log records; a dialect sees no
difference: a record becomes an event with the record's body as its attribute `body`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.jsontext import sorted_json
from atifold.spans import LogRecord, Span, SpanEvent, SpanKey

BODY: Final = "body"
"""The attribute under which an event keeps the body of its record; an attribute of that name goes before it."""

_RESPONSE: Final = "gen_ai.response.id"


def attach(spans: Mapping[SpanKey, Span], logs: Iterable[LogRecord]) -> tuple[Mapping[SpanKey, Span], list[LogRecord]]:
    """Return the spans with the events that log records make, and the records that name none of them.

    Records come in the order of their time; one that comes twice counts once.
    """
    by_span: dict[SpanKey, list[LogRecord]] = {}
    loose: list[LogRecord] = []
    records = distinct(logs)
    answered = _answered(spans) if any(_RESPONSE in record.attributes for record in records) else {}
    for record in records:
        key = (record.trace_id or "", record.span_id or "")
        key = answered.get((*key, str(record.attributes.get(_RESPONSE))), key)
        (by_span.setdefault(key, []) if key in spans else loose).append(record)
    if not by_span:
        return spans, loose
    return {key: _with_events(span, by_span.get(key, ())) for key, span in spans.items()}, loose


def _answered(spans: Mapping[SpanKey, Span]) -> dict[tuple[str, str, str], SpanKey]:
    """Return, by the span around it and the id of the response, the only span there with that response.

    A record that is written when a stream has ended names the span that is open then (OpenLIT).
    """
    found: dict[tuple[str, str, str], list[SpanKey]] = {}
    for key, span in spans.items():
        told = span.attributes.get(_RESPONSE)
        if isinstance(told, str) and told and span.parent_id is not None:
            found.setdefault((key[0], span.parent_id, told), []).append(key)
    return {place: keys[0] for place, keys in found.items() if len(keys) == 1}


def _with_events(span: Span, records: Sequence[LogRecord]) -> Span:
    return replace(span, events=(*span.events, *map(event_of, records))) if records else span


def event_of(record: LogRecord) -> SpanEvent:
    """Return the event that a record is."""
    body: dict[str, Any] = {} if record.body is None else {BODY: record.body}
    return SpanEvent(record.name, record.time_ns, {**body, **record.attributes})


def distinct(logs: Iterable[LogRecord]) -> list[LogRecord]:
    """Return each record once, in the order of time, equal times in the order of the input."""
    found: dict[bytes, LogRecord] = {}
    for record in logs:
        identity = (record.trace_id, record.span_id, record.name, record.time_ns, record.attributes, record.body)
        found.setdefault(sorted_json(identity), record)
    return sorted(found.values(), key=lambda record: record.time_ns)
