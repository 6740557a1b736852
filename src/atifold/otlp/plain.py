"""Read a span that a server's API gives as a plain object: attributes by name, no types around values.

Phoenix, MLflow and the SDK's own `to_json` write so, with other names for the same fields: `_FIELDS` has them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

from atifold.kinds import field, is_list, is_object
from atifold.otlp.enums import kind_of, status_of
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, read_id
from atifold.otlp.instants import instant
from atifold.otlp.items import known_id, nanoseconds
from atifold.otlp.shapes import list_in, object_in, optional_object, text_in
from atifold.spans import Link, Span, SpanEvent

_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "trace_id": (("otel_trace_id",), ("context", "trace_id"), ("trace_id",), ("traceId",)),
    "span_id": (("context", "span_id"), ("span_id",), ("spanId",)),
    "parent_id": (("parent_span_id",), ("parent_id",), ("parentSpanId",), ("parentId",)),
    "start_ns": (("start_time_unix_nano",), ("startTimeUnixNano",)),
    "start": (("start_time",), ("startTime",)),
    "end_ns": (("end_time_unix_nano",), ("endTimeUnixNano",)),
    "end": (("end_time",), ("endTime",)),
    "status": (("status", "code"), ("status", "status_code"), ("status_code",), ("statusCode",)),
    "message": (("status", "message"), ("status", "description"), ("status_message",), ("statusMessage",)),
    "time_ns": (("time_unix_nano",), ("timeUnixNano",)),
    "time": (("timestamp",), ("time",)),
}
"""The paths at which a field may stand; the first that says something counts."""


_DIGITS: Final = re.compile(r"[0-9a-fA-F]+")


def is_plain(value: Any) -> bool:
    """Tell whether a value looks like such a span: it has ids, and attributes that are an object."""
    if not is_object(value) or is_list(value.get("attributes")):
        return False
    return all(isinstance(_get(value, name), str) for name in ("trace_id", "span_id")) and "name" in value


def plain_span(item: Mapping[str, Any]) -> Span:
    """Return the span; raises one of `BAD` for what cannot be read."""
    resource = optional_object(item.get("resource"))
    scope = optional_object(item.get("scope"))
    return Span(
        trace_id=_id(item, "trace_id", TRACE_BYTES),
        span_id=_id(item, "span_id", SPAN_BYTES),
        parent_id=read_id(_bare(_get(item, "parent_id"), SPAN_BYTES), SPAN_BYTES),
        name=text_in(item.get("name")),
        start_ns=_time(item, "start"),
        end_ns=_time(item, "end") or None,
        kind=kind_of(item.get("kind")),
        attributes=optional_object(item.get("attributes")),
        events=tuple(_event(object_in(event)) for event in list_in(item.get("events"))),
        links=tuple(_link(object_in(link)) for link in list_in(item.get("links"))),
        status=status_of(_get(item, "status")),
        status_message=text_in(_get(item, "message")),
        resource=optional_object(resource.get("attributes")),
        scope_name=text_in(scope.get("name")),
        scope_version=text_in(scope.get("version")),
    )


def _event(item: Mapping[str, Any]) -> SpanEvent:
    return SpanEvent(text_in(item.get("name")), _time(item, "time"), optional_object(item.get("attributes")))


def _link(item: Mapping[str, Any]) -> Link:
    attributes = optional_object(item.get("attributes"))
    return Link(_id(item, "trace_id", TRACE_BYTES), _id(item, "span_id", SPAN_BYTES), attributes)


def _id(item: Mapping[str, Any], name: str, size: int) -> str:
    return known_id(_bare(_get(item, name), size), name, size)


def _time(item: Mapping[str, Any], name: str) -> int:
    """Return a time in nanoseconds; some fields say that they are in them."""
    return nanoseconds(_get(item, f"{name}_ns")) or instant(_get(item, name))


def _bare(value: Any, size: int) -> Any:
    """Return an id without what some put before hex; base64 may begin with the same letters.

    The ids of links that reach MLflow as OTLP JSON it takes for base64, though they are hex: that is undone, by the
    length.
    """
    if not isinstance(value, str):
        return value
    bare = value.removeprefix("0x").removeprefix("tr-")
    if not _DIGITS.fullmatch(bare):
        return value
    return b64encode(bytes.fromhex(bare)).decode() if len(bare) == 3 * size else bare


def _get(item: Mapping[str, Any], name: str) -> Any:
    for path in _FIELDS[name]:
        found: Any = item
        for key in path:
            found = field(found, key)
        if found is not None and found != "":
            return found
    return None
