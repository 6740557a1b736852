"""Read OTLP protobuf: one export request of spans, log records or metrics, by the messages of opentelemetry-proto.

A request does not say of which signal it is, and the messages are built alike: the first of a table whose items
say what such an item must say is the one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from google.protobuf.message import DecodeError
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from atifold.otlp.anyvalue import DROPPED, finite
from atifold.otlp.batch import Batch
from atifold.otlp.enums import kind_of, status_of
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, read_id
from atifold.otlp.items import Origin, event_name, known_id
from atifold.otlp.lenient import lenient
from atifold.otlp.place import BAD, Place
from atifold.spans import Link, LogRecord, Span, SpanEvent


class _Signal(NamedTuple):
    """One kind of request: its message, the names of its levels, what an item must say, its reader, its place."""

    what: str
    message: Any
    resources: str
    scopes: str
    items: str
    says: Callable[[Any], bool]
    read: Callable[[Any, Origin], Any]
    put: Callable[[Batch], list[Any] | None]


def decode(data: bytes, where: str) -> Batch | None:
    """Return what a request holds, None where it is no OTLP protobuf that says something."""
    for signal in _SIGNALS:
        request = _request(signal.message, data)
        if request is not None and any(signal.says(item) for item in _items(request, signal)):
            return _batch(request, signal, where)
    return None


def decode_as(what: Literal["span", "log record"], data: bytes, where: str) -> Batch | None:
    """Return what a request of a known signal holds, be it nothing; None where it is no protobuf of it."""
    signal = _SPANS if what == "span" else _LOGS
    request = _request(signal.message, data)
    return None if request is None else _batch(request, signal, where)


def _request(message: Any, data: bytes) -> Any:
    """Return the message, None where the data is none."""
    try:
        return message.FromString(data)
    except DecodeError:
        pass
    try:
        return lenient(message).FromString(data)
    except DecodeError:
        return None


def _scopes(request: Any, signal: _Signal) -> Iterator[tuple[Any, Any]]:
    for resource in getattr(request, signal.resources):
        for scope in getattr(resource, signal.scopes):
            yield resource, scope


def _items(request: Any, signal: _Signal) -> Iterator[Any]:
    for _, scope in _scopes(request, signal):
        yield from getattr(scope, signal.items)


def _batch(request: Any, signal: _Signal, where: str) -> Batch:
    batch = Batch()
    place = Place(batch, where)
    into = signal.put(batch)
    if into is None:
        return batch
    for found, scope in _scopes(request, signal):
        origin = Origin(_attributes(found.resource.attributes), _text(scope.scope.name), _text(scope.scope.version))
        for item in getattr(scope, signal.items):
            try:
                into.append(signal.read(item, origin))
            except BAD as error:
                place.complain(signal.what, error)
    return batch


def _span(item: Any, origin: Origin) -> Span:
    return Span(
        trace_id=known_id(item.trace_id.hex(), "traceId", TRACE_BYTES),
        span_id=known_id(item.span_id.hex(), "spanId", SPAN_BYTES),
        parent_id=read_id(item.parent_span_id.hex(), SPAN_BYTES),
        name=_text(item.name),
        start_ns=item.start_time_unix_nano,
        end_ns=item.end_time_unix_nano or None,
        kind=kind_of(item.kind),
        attributes=_attributes(item.attributes),
        events=tuple(_event(event) for event in item.events),
        links=tuple(_link(link) for link in item.links),
        status=status_of(item.status.code),
        status_message=_text(item.status.message),
        resource=origin.resource,
        scope_name=origin.scope_name,
        scope_version=origin.scope_version,
    )


def _event(item: Any) -> SpanEvent:
    return SpanEvent(_text(item.name), item.time_unix_nano, _attributes(item.attributes))


def _link(item: Any) -> Link:
    return Link(
        known_id(item.trace_id.hex(), "traceId", TRACE_BYTES),
        known_id(item.span_id.hex(), "spanId", SPAN_BYTES),
        _attributes(item.attributes),
    )


def _record(item: Any, origin: Origin) -> LogRecord:
    found = _attributes(item.attributes)
    return LogRecord(
        name=event_name(found, _text(item.event_name)),
        time_ns=item.time_unix_nano or item.observed_time_unix_nano,
        trace_id=read_id(item.trace_id.hex(), TRACE_BYTES),
        span_id=read_id(item.span_id.hex(), SPAN_BYTES),
        attributes=found,
        body=_plain(item.body),
        resource=origin.resource,
        scope_name=origin.scope_name,
        scope_version=origin.scope_version,
    )


def _attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    """Return attributes as plain values; of a name given twice the last counts, a NaN leaves its name out."""
    found = {_text(pair.key): _value(pair.value) for pair in pairs}
    return {name: value for name, value in found.items() if value is not DROPPED}


def _plain(value: Any) -> Any:
    found = _value(value)
    return None if found is DROPPED else found


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    reader = _READERS.get(kind)
    content = None if kind is None else getattr(value, kind)
    return content if reader is None else reader(content)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "string_value": _text,
    "double_value": finite,
    "array_value": lambda content: [_plain(item) for item in content.values],
    "kvlist_value": lambda content: _attributes(content.values),
}
"""What is not as it is: the values of these kinds."""

_SAYS_SOMETHING: Final = frozenset({"time_unix_nano", "observed_time_unix_nano", "body", "attributes", "event_name"})
"""Fields of a log record of which it has at least one."""

_SPANS: Final = _Signal(
    "span",
    TracesData,
    "resource_spans",
    "scope_spans",
    "spans",
    lambda item: len(item.trace_id) == TRACE_BYTES and len(item.span_id) == SPAN_BYTES,
    _span,
    lambda batch: batch.spans,
)
_METRICS: Final = _Signal(
    "metric",
    MetricsData,
    "resource_metrics",
    "scope_metrics",
    "metrics",
    lambda item: _text(item.name).isprintable() and item.WhichOneof("data") is not None,
    lambda _item, _origin: None,
    lambda _batch: None,
)
_LOGS: Final = _Signal(
    "log record",
    LogsData,
    "resource_logs",
    "scope_logs",
    "log_records",
    lambda item: bool(_SAYS_SOMETHING.intersection(field.name for field, _ in item.ListFields())),
    _record,
    lambda batch: batch.logs,
)
_SIGNALS: Final = (
    _SPANS,
    _METRICS,
    _SPANS._replace(says=lambda item: bool(item.trace_id and item.span_id)),  # none of them has ids of the right size
    _LOGS,
)
