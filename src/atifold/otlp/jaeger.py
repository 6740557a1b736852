"""Read Jaeger's own JSON, as its UI and `/api/traces` give it: tags with types, references, microseconds.

Source: Jaeger's model of JSON and its translation from OTLP, which puts scope, status and kind into tags.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from atifold.kinds import is_list, is_object
from atifold.otlp.enums import kind_of
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, read_id
from atifold.otlp.items import known_id, nanoseconds
from atifold.otlp.place import BAD, Place
from atifold.otlp.shapes import list_in, object_in, optional_object, text_in
from atifold.spans import Link, Span, SpanEvent, Status

_MICROSECOND: Final = 1000
_CHILD_OF: Final = "CHILD_OF"
_SCOPE: Final = (("otel.scope.name", "otel.library.name"), ("otel.scope.version", "otel.library.version"))
_KIND, _STATUS, _MESSAGE, _ERROR = "span.kind", "otel.status_code", "otel.status_description", "error"
_OWN: Final = frozenset({*_SCOPE[0], *_SCOPE[1], _KIND, _STATUS, _MESSAGE, "internal.span.format"})
"""Tags that are fields of a span."""


def is_jaeger(value: Any) -> bool:
    """Tell whether a value is an answer with traces, or one trace."""
    return any(True for _ in _traces(value))


def decode(value: Any, place: Place) -> None:
    """Read the spans of a value that `is_jaeger`; one that cannot be read leaves a complaint."""
    for trace in _traces(value):
        resources: dict[str, dict[str, Any]] = {}
        with place.sparing("process"):
            resources = {key: _resource(object_in(process)) for key, process in _processes(trace).items()}
        for item in trace["spans"]:
            try:
                place.batch.spans.append(_span(object_in(item), resources))
            except BAD as error:
                place.complain("span", error)


def _traces(value: Any) -> Iterator[Mapping[str, Any]]:
    if not is_object(value):
        return
    inner = value.get("data")
    for item in inner if is_list(inner) else [inner]:
        yield from _traces(item)
    spans = value.get("spans")
    if is_list(spans) and any(is_object(item) and "operationName" in item for item in spans):
        yield value


def _processes(trace: Mapping[str, Any]) -> dict[str, Any]:
    return optional_object(trace.get("processes"))


def _resource(process: Mapping[str, Any]) -> dict[str, Any]:
    return {"service.name": text_in(process.get("serviceName")), **_tags(process.get("tags"))}


def _span(item: Mapping[str, Any], resources: Mapping[str, dict[str, Any]]) -> Span:
    tags = _tags(item.get("tags"))
    trace_id = known_id(item.get("traceID"), "traceID", TRACE_BYTES)
    start = nanoseconds(item.get("startTime"))
    parent, links = _references(item, trace_id)
    process = item.get("process")
    return Span(
        trace_id=trace_id,
        span_id=known_id(item.get("spanID"), "spanID", SPAN_BYTES),
        parent_id=parent,
        name=text_in(item.get("operationName")),
        start_ns=start * _MICROSECOND,
        end_ns=(start + nanoseconds(item.get("duration"))) * _MICROSECOND,
        kind=kind_of(tags.get(_KIND)),
        attributes={name: value for name, value in tags.items() if name not in _OWN},
        events=tuple(_event(object_in(log)) for log in list_in(item.get("logs"))),
        links=links,
        status=_status(tags),
        status_message=text_in(tags.get(_MESSAGE)),
        resource=_resource(process) if is_object(process) else resources.get(text_in(item.get("processID")), {}),
        scope_name=_first(tags, _SCOPE[0]),
        scope_version=_first(tags, _SCOPE[1]),
    )


def _references(item: Mapping[str, Any], trace_id: str) -> tuple[str | None, tuple[Link, ...]]:
    """Return the parent and the links.

    The parent is the first reference of the own trace that says so; where none does, the first of the own trace:
    a link to the parent takes its place.
    """
    found = [object_in(reference) for reference in list_in(item.get("references"))]
    links = [(_link(reference), reference.get("refType") == _CHILD_OF) for reference in found]
    own = [(link, is_child) for link, is_child in links if link.trace_id == trace_id]
    parent = next((link for link, is_child in own if is_child), own[0][0] if own else None)
    parent_id = read_id(item.get("parentSpanID"), SPAN_BYTES) if parent is None else parent.span_id
    return parent_id, tuple(link for link, is_child in links if not (is_child and link is parent))


def _link(reference: Mapping[str, Any]) -> Link:
    trace_id = known_id(reference.get("traceID"), "traceID", TRACE_BYTES)
    return Link(trace_id, known_id(reference.get("spanID"), "spanID", SPAN_BYTES))


def _event(log: Mapping[str, Any]) -> SpanEvent:
    fields = _tags(log.get("fields"))
    name = text_in(fields.pop("event", ""))
    return SpanEvent(name, nanoseconds(log.get("timestamp")) * _MICROSECOND, fields)


def _status(tags: Mapping[str, Any]) -> Status:
    said = str(tags.get(_STATUS, "")).upper()
    if said in (Status.OK.value, Status.ERROR.value):
        return Status(said)
    return Status.ERROR if str(tags.get(_ERROR)).lower() == "true" else Status.UNSET


def _first(tags: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((text_in(tags[name]) for name in names if name in tags), "")


def _tags(items: Any) -> dict[str, Any]:
    """Read a list of tags; a value that is not of the type which it names stays as it is."""
    found: dict[str, Any] = {}
    for item in list_in(items):
        tag = object_in(item)
        found[text_in(tag["key"])] = _value(tag)
    return found


def _value(tag: Mapping[str, Any]) -> Any:
    value, read = tag.get("value"), _TYPES.get(str(tag.get("type", "")).lower())
    if read is None or value is None:
        return value
    try:
        return read(value)
    except (TypeError, ValueError, OverflowError):
        return value


_TYPES: Final[Mapping[str, Callable[[Any], Any]]] = {
    "bool": lambda value: value if isinstance(value, bool) else str(value).lower() == "true",
    "int64": int,
    "float64": float,
    "binary": lambda value: base64.b64decode(value, validate=True),
}
