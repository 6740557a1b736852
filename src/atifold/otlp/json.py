"""Read OTLP JSON: one export request of spans or log records, several of them, and what is passed off as one.

Besides the mapping that the OTLP specification asks for, this takes protobuf's own JSON form
(snake_case keys, enum names, ids in base64), the older `instrumentationLibrarySpans`, Tempo's
`batches`, and the wrappers of query APIs (`result`, `trace`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from atifold.errors import InputError
from atifold.kinds import is_list, is_object
from atifold.otlp.anyvalue import attributes
from atifold.otlp.batch import Batch
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, read_id
from atifold.otlp.items import Origin, first, nanoseconds, required_id
from atifold.otlp.log_json import log_record
from atifold.otlp.shapes import list_in, object_in, optional_object, text_in
from atifold.spans import Kind, Link, Span, SpanEvent, Status

WANTED: Final = "wanted OTLP JSON (resourceSpans)"

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
_ABSENT: Final = object()

_KINDS: Final = dict(
    enumerate((Kind.UNSPECIFIED, Kind.INTERNAL, Kind.SERVER, Kind.CLIENT, Kind.PRODUCER, Kind.CONSUMER))
)
_STATUSES: Final = dict(enumerate((Status.UNSET, Status.OK, Status.ERROR)))
_BAD: Final = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


class _Signal(NamedTuple):
    """One kind of item: what it is called, the names around it, outermost first, and its reader."""

    what: str
    resources: tuple[str, ...]
    scopes: tuple[str, ...]
    items: tuple[str, ...]
    read: Callable[[Mapping[str, Any], Origin], Any]
    put: Callable[[Batch], list[Any]]


class _Place(NamedTuple):
    """Where spans are read, and the batch that they go into."""

    batch: Batch
    where: str
    line: int | None

    @contextmanager
    def sparing(self, what: str) -> Generator[None]:
        """Turn what cannot be read in the block into one complaint, so that it costs nothing but itself."""
        try:
            yield
        except _BAD as error:
            self.complain(what, error)

    def complain(self, what: str, error: Exception) -> None:
        """Leave a complaint about what cannot be read."""
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        found = f"found a {what} that cannot be read ({why})"
        self.batch.complaints.append(InputError(self.where, found, f"wanted an OTLP {what}", line=self.line))


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


def decode(value: Any, where: str, line: int | None = None) -> Batch:
    """Read the spans and the log records of one parsed JSON value.

    An item that cannot be read, or what a scope or resource says of its items, costs only itself and
    leaves a complaint. A value that is no OTLP at all gives one complaint; metrics are passed over in
    silence.
    """
    batch = Batch()
    if not is_otlp(value):
        batch.complaints.append(InputError(where, _describe(value), WANTED, line=line))
        return batch
    place = _Place(batch, where, line)
    for signal in _SIGNALS:
        for resource in _resources(value, signal):
            with place.sparing("resource"):
                _decode_resource(object_in(resource), signal, place)
    return batch


def _describe(value: Any) -> str:
    if is_object(value):
        return "found a JSON object with " + (", ".join(sorted(map(str, value))[:5]))
    return f"found a JSON {type(value).__name__}"


def _resources(value: Any, signal: _Signal) -> Iterator[Any]:
    """Yield each `ResourceSpans` or `ResourceLogs`, however it is wrapped."""
    for request in value if is_list(value) else [value]:
        for inner in (request, *_wrapped(request)):
            if first(inner, signal.scopes) is not None:
                yield inner
            yield from first(inner, signal.resources) or ()


def _decode_resource(found: Mapping[str, Any], signal: _Signal, place: _Place) -> None:
    resource: dict[str, Any] = {}
    with place.sparing("resource"):
        resource = attributes(optional_object(found.get("resource")).get("attributes"))
    for scope in list_in(first(found, signal.scopes)):
        with place.sparing("scope"):
            _decode_scope(object_in(scope), resource, signal, place)


def _decode_scope(found: Mapping[str, Any], resource: dict[str, Any], signal: _Signal, place: _Place) -> None:
    origin = Origin(resource)
    with place.sparing("scope"):
        scope = optional_object(first(found, _SCOPE))
        origin = Origin(resource, text_in(scope.get("name")), text_in(scope.get("version")))
    items = signal.put(place.batch)
    for item in list_in(first(found, signal.items)):
        try:  # not `sparing`: a context for each item would be felt
            items.append(signal.read(object_in(item), origin))
        except _BAD as error:
            place.complain(signal.what, error)


def _span(item: Mapping[str, Any], origin: Origin) -> Span:
    get = item.get
    status = optional_object(get("status"))
    return Span(
        trace_id=required_id(item, "traceId", "trace_id", TRACE_BYTES),
        span_id=required_id(item, "spanId", "span_id", SPAN_BYTES),
        parent_id=read_id(get("parentSpanId", get("parent_span_id")), SPAN_BYTES),
        name=text_in(get("name")),
        start_ns=nanoseconds(get("startTimeUnixNano", get("start_time_unix_nano"))),
        end_ns=nanoseconds(get("endTimeUnixNano", get("end_time_unix_nano"))) or None,
        kind=_KINDS[_enum(get("kind"), "SPAN_KIND_", _KIND_NUMBERS)],
        attributes=attributes(get("attributes")),
        events=tuple(_event(object_in(event)) for event in list_in(get("events"))),
        links=tuple(_link(object_in(link)) for link in list_in(get("links"))),
        status=_STATUSES[_enum(status.get("code"), "STATUS_CODE_", _STATUS_NUMBERS)],
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


_KIND_NUMBERS: Final = {kind.value: number for number, kind in _KINDS.items()}
_STATUS_NUMBERS: Final = {status.value: number for number, status in _STATUSES.items()}


def _enum(value: Any, prefix: str, numbers: Mapping[str, int]) -> int:
    """Return the number of an enum value given as number, as digits or by its name; 0 for an unknown one."""
    if isinstance(value, str):
        value = int(value) if value.isdigit() else numbers.get(value.upper().removeprefix(prefix), 0)
    return value if value in numbers.values() else 0


_SIGNALS: Final = (
    _Signal("span", _RESOURCE_SPANS, _SCOPE_SPANS, ("spans",), _span, lambda batch: batch.spans),
    _Signal(
        "log record",
        _RESOURCE_LOGS,
        _SCOPE_LOGS,
        ("logRecords", "log_records", "logs"),
        log_record,
        lambda batch: batch.logs,
    ),
)
