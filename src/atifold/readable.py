"""Take the values out of the SDK's finished spans and log records, so that they themselves can go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from atifold.spans import Attributes, Kind, Link, LogRecord, Span, SpanEvent, Status

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord, ReadWriteLogRecord

_KINDS: Final = {kind: Kind[kind.name] for kind in SpanKind}
_STATUSES: Final = {code: Status[code.name] for code in StatusCode}
_EVENT_NAME: Final = "event.name"
_ATOMS: Final = frozenset({str, int, float, bool, type(None), bytes})


def span_of(readable: ReadableSpan) -> Span:
    """Return the neutral record of a finished SDK span; arrays become lists, maps become dicts.

    Raises ValueError for a span without a context, which the SDK never makes.
    """
    context = context_of(readable)
    parent, status, scope = readable.parent, readable.status, readable.instrumentation_scope
    return Span(
        trace_id=trace_id_of(context),
        span_id=span_id_of(context),
        parent_id=span_id_of(parent) if parent is not None else None,
        name=str(readable.name),  # the SDK takes any object, here and for events
        start_ns=readable.start_time or 0,
        end_ns=readable.end_time,
        kind=_KINDS[readable.kind],
        attributes=_attributes(readable),
        events=tuple(
            [SpanEvent(str(event.name), event.timestamp, _plain_map(event.attributes)) for event in readable.events]
        ),
        links=() if not readable.links else tuple([_link(link.context, link.attributes) for link in readable.links]),
        status=_STATUSES[status.status_code],
        status_message=status.description or "",
        resource=_resource(readable.resource),
        scope_name=scope.name if scope is not None else "",
        scope_version=(scope.version or "") if scope is not None else "",
    )


def record_of(readable: ReadableLogRecord | ReadWriteLogRecord) -> LogRecord:
    """Return the neutral record of the SDK's log record, of which nothing is shared that could still change."""
    record, scope, resource = readable.log_record, readable.instrumentation_scope, readable.resource
    return LogRecord(
        name=event_name_of(readable),
        time_ns=record.timestamp or record.observed_timestamp or 0,
        trace_id=f"{record.trace_id:032x}" if record.trace_id else None,
        span_id=f"{record.span_id:016x}" if record.span_id else None,
        attributes=_plain_map(record.attributes),
        body=_plain(record.body),
        resource=_resource(resource) if resource is not None else {},
        scope_name=scope.name if scope is not None else "",
        scope_version=(scope.version or "") if scope is not None else "",
    )


def event_name_of(readable: ReadableLogRecord | ReadWriteLogRecord) -> str:
    """Return the name of the event that a log record is, "" for a plain line of a log.

    The attribute that named events before there was a field goes before it, as in OTLP that is read.
    """
    record = readable.log_record
    named = record.attributes.get(_EVENT_NAME) if record.attributes else None
    return named if isinstance(named, str) and named else record.event_name or ""


def context_of(readable: ReadableSpan) -> SpanContext:
    """Return the ids and flags of a span; raises ValueError for one that has none."""
    context = readable.get_span_context()
    if context is None:
        raise ValueError("a span without a context")
    return context


def trace_id_of(context: SpanContext) -> str:
    """Return the trace id as 32 hex digits."""
    return f"{context.trace_id:032x}"


def span_id_of(context: SpanContext) -> str:
    """Return the span id as 16 hex digits."""
    return f"{context.span_id:016x}"


def _link(context: SpanContext, attributes: Mapping[str, Any] | None) -> Link:
    return Link(trace_id_of(context), span_id_of(context), _plain_map(attributes))


def _attributes(readable: ReadableSpan) -> dict[str, Any]:
    # The SDK's own dict, where it is still there under this name: its mapping in Python code costs
    # one call an attribute.
    inner = getattr(getattr(readable, "_attributes", None), "_dict", None)
    return _plain_map(inner if isinstance(inner, dict) else readable.attributes)


def _plain_map(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    plain = dict(attributes) if attributes else {}
    for name, value in plain.items():
        if value.__class__ not in _ATOMS:
            plain[name] = _plain(value)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


_last_resource: tuple[Resource | None, Attributes] = (None, {})


def _resource(resource: Resource) -> Attributes:
    """Return the resource's attributes, one dict for all spans of a provider."""
    # A resource's hash serialises it, and most processes have one: so the last one, by identity.
    global _last_resource  # noqa: PLW0603 - a cache of one, replaced in one step
    known, attributes = _last_resource
    if known is not resource:
        attributes = _plain_map(resource.attributes)
        _last_resource = (resource, attributes)
    return attributes
