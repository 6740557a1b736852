"""Read OTLP JSON: one export request of spans or log records, several of them, and what is passed off as one.

Besides the mapping that the OTLP specification asks for, this takes protobuf's own JSON form
(snake_case keys, enum names, ids in base64), the older `instrumentationLibrarySpans`, Tempo's
`batches`, and the wrappers of query APIs (`result`, `trace`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from atifold.kinds import is_list, is_object
from atifold.otlp.anyvalue import attributes
from atifold.otlp.batch import Batch
from atifold.otlp.enums import kind_of, status_of
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, read_id
from atifold.otlp.items import Origin, first, nanoseconds, required_id
from atifold.otlp.log_json import log_record
from atifold.otlp.place import BAD, Place
from atifold.otlp.shapes import list_in, object_in, optional_object, text_in
from atifold.spans import Link, Span, SpanEvent

_WRAPPERS: Final = ("result", "trace")
_RESOURCE_SPANS: Final = ("resourceSpans", "resource_spans", "batches")
_SCOPE_SPANS: Final = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
    "ilSpans",
)
_RESOURCE_LOGS: Final = ("resourceLogs", "resource_logs")
_SCOPE_LOGS: Final = ("scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs")
_SCOPE: Final = ("scope", "instrumentationLibrary", "instrumentation_library")
_OTHER_SIGNALS: Final = ("resourceMetrics", "resource_metrics", "resourceProfiles", "resource_profiles")

_NAMES: Final = (*_RESOURCE_SPANS, *_SCOPE_SPANS, *_RESOURCE_LOGS, *_SCOPE_LOGS, *_OTHER_SIGNALS)
_SPAN_IDS: Final = (("traceId", "trace_id"), ("spanId", "span_id"))
_STARTS: Final = ("startTimeUnixNano", "start_time_unix_nano")
_ABSENT: Final = object()


class _Signal(NamedTuple):
    """One kind of item: what it is called, the names around it, outermost first, and its reader."""

    what: str
    resources: tuple[str, ...]
    scopes: tuple[str, ...]
    items: tuple[str, ...]
    read: Callable[[Mapping[str, Any], Origin], Any]
    put: Callable[[Batch], list[Any]]


def is_otlp(value: Any) -> bool:
    """Tell whether a JSON value is an OTLP request of any signal, bare or wrapped, or a list of them."""
    return all(_is_request(item) for item in value) if is_list(value) else _is_request(value)


def _is_request(value: Any) -> bool:
    if not is_object(value):
        return False
    found = (inner.get(name, _ABSENT) for inner in (value, *_wrapped(value)) for name in _NAMES)
    lists = [item for item in found if item is not _ABSENT]
    return all(item is None or is_list(item) for item in lists) and (bool(lists) or not value)


def _wrapped(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [value[name] for name in _WRAPPERS if is_object(value.get(name))]


def is_span(value: Any) -> bool:
    """Tell whether a JSON value is a span by itself, without the request around it."""
    if not is_object(value) or not (value.get("attributes") is None or is_list(value["attributes"])):
        return False
    return all(isinstance(first(value, names), str) for names in _SPAN_IDS) and first(value, _STARTS) is not None


def decode(value: Any, place: Place) -> None:
    """Read the spans and the log records of a value that `is_otlp`.

    An item that cannot be read, or what a scope or resource says of its items, costs only itself and
    leaves a complaint. Metrics are passed over in silence.
    """
    for signal in _SIGNALS:
        for resource in _resources(value, signal):
            with place.sparing("resource"):
                _decode_resource(object_in(resource), signal, place)


def _resources(value: Any, signal: _Signal) -> Iterator[Any]:
    """Yield each `ResourceSpans` or `ResourceLogs`, however it is wrapped."""
    for request in value if is_list(value) else [value]:
        for inner in (request, *_wrapped(request)):
            if first(inner, signal.scopes) is not None:
                yield inner
            yield from first(inner, signal.resources) or ()


def _decode_resource(found: Mapping[str, Any], signal: _Signal, place: Place) -> None:
    resource: dict[str, Any] = {}
    with place.sparing("resource"):
        resource = attributes(optional_object(found.get("resource")).get("attributes"))
    for scope in list_in(first(found, signal.scopes)):
        with place.sparing("scope"):
            _decode_scope(object_in(scope), resource, signal, place)


def _decode_scope(found: Mapping[str, Any], resource: dict[str, Any], signal: _Signal, place: Place) -> None:
    origin = Origin(resource)
    with place.sparing("scope"):
        scope = optional_object(first(found, _SCOPE))
        origin = Origin(resource, text_in(scope.get("name")), text_in(scope.get("version")))
    items = signal.put(place.batch)
    for item in list_in(first(found, signal.items)):
        try:  # not `sparing`: a context for each item would be felt
            items.append(signal.read(object_in(item), origin))
        except BAD as error:
            place.complain(signal.what, error)


def span(item: Mapping[str, Any], origin: Origin) -> Span:
    """Return a span; raises one of `BAD` for what cannot be read."""
    get = item.get
    status = optional_object(get("status"))
    return Span(
        trace_id=required_id(item, "traceId", "trace_id", TRACE_BYTES),
        span_id=required_id(item, "spanId", "span_id", SPAN_BYTES),
        parent_id=read_id(get("parentSpanId", get("parent_span_id")), SPAN_BYTES),
        name=text_in(get("name")),
        start_ns=nanoseconds(get("startTimeUnixNano", get("start_time_unix_nano"))),
        end_ns=nanoseconds(get("endTimeUnixNano", get("end_time_unix_nano"))) or None,
        kind=kind_of(get("kind")),
        attributes=attributes(get("attributes")),
        events=tuple(_event(object_in(event)) for event in list_in(get("events"))),
        links=tuple(_link(object_in(link)) for link in list_in(get("links"))),
        status=status_of(status.get("code")),
        status_message=text_in(status.get("message")),
        resource=origin.resource,
        scope_name=origin.scope_name,
        scope_version=origin.scope_version,
    )


def _event(item: Mapping[str, Any]) -> SpanEvent:
    time = item.get("timeUnixNano", item.get("time_unix_nano"))
    return SpanEvent(text_in(item.get("name")), nanoseconds(time), attributes(item.get("attributes")))


def _link(item: Mapping[str, Any]) -> Link:
    return Link(
        required_id(item, "traceId", "trace_id", TRACE_BYTES),
        required_id(item, "spanId", "span_id", SPAN_BYTES),
        attributes(item.get("attributes")),
    )


_SIGNALS: Final = (
    _Signal("span", _RESOURCE_SPANS, _SCOPE_SPANS, ("spans",), span, lambda batch: batch.spans),
    _Signal(
        "log record",
        _RESOURCE_LOGS,
        _SCOPE_LOGS,
        ("logRecords", "log_records", "logs"),
        log_record,
        lambda batch: batch.logs,
    ),
)
