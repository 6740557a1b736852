"""Make spans of what log records tell, for programs that tell of their calls in records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final

from atifold.dialects.values import number
from atifold.jsontext import sorted_json, text_of
from atifold.spans import Attributes, LogRecord, Span, SpanEvent, SpanKey

_SPAN_BYTES: Final = 8
_TRACE_BYTES: Final = 16
_NS_PER_MS: Final = 1_000_000


def made_span_id(*told: Any) -> str:
    """Return a span id that depends on what is told only."""
    return blake2b(sorted_json(told), digest_size=_SPAN_BYTES).hexdigest()


def made_trace_id(*told: Any) -> str:
    """Return a trace id that depends on what is told only."""
    return blake2b(sorted_json(told), digest_size=_TRACE_BYTES).hexdigest()


def begun_ns(record: LogRecord) -> int:
    """Return when that began whose end a record tells, by its `duration_ms`; without one its own time."""
    lasted = number(record.attributes.get("duration_ms"))
    return max(0, record.time_ns - int(lasted * _NS_PER_MS)) if lasted is not None and lasted > 0 else record.time_ns


def named(attributes: Attributes, *names: str) -> str | None:
    """Return the first attribute of some names that is a text or a number, as text; None where there is none."""
    found = (text_of(attributes[name]) for name in names if name in attributes)
    return next((text for text in found if text), None)


def span_of(
    record: LogRecord,
    key: SpanKey,
    parent: SpanKey | None,
    name: str,
    attributes: Mapping[str, Any],
    *,
    start_ns: int | None = None,
    end_ns: int | None = None,
) -> Span:
    """Return the span of a call that ended with a record, in the trace of its key."""
    return Span(
        trace_id=key[0],
        span_id=key[1],
        parent_id=None if parent is None else parent[1],
        name=name,
        start_ns=begun_ns(record) if start_ns is None else start_ns,
        end_ns=record.time_ns if end_ns is None else end_ns,
        attributes=attributes,
        resource=record.resource,
        scope_name=record.scope_name,
        scope_version=record.scope_version,
    )


def told_by(events: Iterable[SpanEvent], name: str) -> Mapping[str, Any]:
    """Return what the first event of a name tells, nothing where there is none."""
    return next((event.attributes for event in events if event.name == name), {})
