"""Read what Langfuse exports: a trace with its observations, lists of either, the rows of a blob export.

An observation becomes the span that its SDK would have sent: under the names that the dialect reads. What came to
Langfuse over OTLP has the span's own attributes, its resource and its scope in the observation's metadata.
Source: Langfuse's public API (`TraceWithFullDetails`, `Observation`), the download of its UI, its blob storage export.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from atifold.jsontext import parsed, to_json_text
from atifold.kinds import is_list, is_object
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, made_id
from atifold.otlp.instants import instant
from atifold.otlp.items import first
from atifold.otlp.place import BAD, Place
from atifold.otlp.shapes import object_in, optional_object, text_in
from atifold.spans import Span, Status

_OBSERVATION: Final = "langfuse.observation."
_METADATA: Final = _OBSERVATION + "metadata."
_PARENT: Final = ("parentObservationId", "parent_observation_id")
_TRACE: Final = ("traceId", "trace_id")
_START: Final = ("startTime", "start_time")
_END: Final = ("endTime", "end_time")
_USAGE: Final = ("usageDetails", "usage_details", "usage")
_ABSENT: Final[tuple[Any, ...]] = (None, "", {}, [])
_OTEL: Final = ("attributes", "resourceAttributes", "scope")
"""What the metadata of an observation keeps of the span that it came from."""


def _text(value: Any) -> Any:
    """Write a value as the SDK does: JSON text, a text as it is."""
    return value if isinstance(value, str) else to_json_text(value)


def _cost(value: Any) -> Any:
    """Write what an observation cost in all; nothing for 0, which stands for an unknown price."""
    return to_json_text({"total": value}) if value else None


class _Row(NamedTuple):
    """An attribute, the fields of an observation that hold it, the first that says something counting."""

    attribute: str
    fields: tuple[str, ...]
    write: Callable[[Any], Any] = _text


_ROWS: Final = (
    _Row(_OBSERVATION + "type", ("type",), lambda value: str(value).lower()),
    _Row(_OBSERVATION + "input", ("input",)),
    _Row(_OBSERVATION + "output", ("output",)),
    _Row(_OBSERVATION + "model.name", ("model", "providedModelName", "provided_model_name")),
    _Row(_OBSERVATION + "model.parameters", ("modelParameters", "model_parameters")),
    _Row(_OBSERVATION + "usage_details", _USAGE),
    _Row(_OBSERVATION + "cost_details", ("calculatedTotalCost", "totalCost", "total_cost"), _cost),
    _Row(_OBSERVATION + "cost_details", ("costDetails", "cost_details")),
    _Row(_OBSERVATION + "level", ("level",)),
    _Row(_OBSERVATION + "status_message", ("statusMessage", "status_message")),
    _Row(_OBSERVATION + "completion_start_time", ("completionStartTime", "completion_start_time")),
)
_TRACE_ROWS: Final = (
    _Row("session.id", ("sessionId", "session_id")),
    _Row("user.id", ("userId", "user_id")),
    _Row("langfuse.trace.name", ("name",)),
)


def is_langfuse(value: Any) -> bool:
    """Tell whether a value is a trace with observations, a page of either, or one observation."""
    return any(True for _ in _observations(value, {}))


def decode(value: Any, place: Place) -> None:
    """Read the observations of a value that `is_langfuse`; one that cannot be read leaves a complaint.

    The download of the UI has each twice: the later one, which is whole, counts.
    """
    found: dict[str, Span] = {}
    for item, trace in _observations(value, {}):
        try:
            span = _span(object_in(item), trace)
        except BAD as error:
            place.complain("observation", error)
        else:
            found[span.span_id] = span
    place.batch.spans += found.values()


def _observations(value: Any, trace: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield each observation, and what is said of the trace that it is in."""
    if is_list(value):
        alike = any(_is_observation(item) for item in value)
        for item in value:
            yield from [(item, trace)] if alike else _observations(item, trace)
    elif _is_observation(value):
        yield value, trace
    elif is_object(value):
        inner = value.get("trace")
        trace = inner if is_object(inner) else value if "observations" in value else trace
        for part in (inner, value.get("observations"), value.get("data")):
            yield from _observations(part, trace)


def _is_observation(value: Any) -> bool:
    if not is_object(value) or not isinstance(value.get("id"), str) or not isinstance(value.get("type"), str):
        return False
    return first(value, _START) is not None and any(name in value for name in (*_PARENT, *_TRACE))


def _span(item: Mapping[str, Any], trace: Mapping[str, Any]) -> Span:
    if first(item, _START) is None:
        raise KeyError("startTime")
    metadata = _metadata(item)
    otel = {name: optional_object(metadata.get(name)) for name in _OTEL}
    attributes = {**otel["attributes"], **_described(metadata), **_written(_TRACE_ROWS, trace), **_written(_ROWS, item)}
    is_error = str(item.get("level")).upper() == "ERROR"
    parent = first(item, _PARENT)
    return Span(
        trace_id=made_id(first(item, _TRACE) or trace["id"], TRACE_BYTES),
        span_id=made_id(item["id"], SPAN_BYTES),
        parent_id=made_id(parent, SPAN_BYTES) if parent else None,
        name=text_in(item.get("name")),
        start_ns=instant(first(item, _START)),
        end_ns=instant(first(item, _END)) or None,
        attributes=attributes,
        status=Status.ERROR if is_error else Status.UNSET,
        status_message=text_in(first(item, ("statusMessage", "status_message"))) if is_error else "",
        resource=otel["resourceAttributes"],
        scope_name=text_in(otel["scope"].get("name")) or "langfuse-sdk",
        scope_version=text_in(otel["scope"].get("version")),
    )


def _metadata(item: Mapping[str, Any]) -> dict[str, Any]:
    found = item.get("metadata")
    value = parsed(found) if isinstance(found, str) else found
    return object_in(value) if is_object(value) else {}


def _described(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that the user's own metadata is."""
    return {_METADATA + name: _text(value) for name, value in metadata.items() if name not in _OTEL}


def _written(rows: tuple[_Row, ...], item: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        value = next((value for name in row.fields if (value := item.get(name)) not in _ABSENT), None)
        written = None if value is None else row.write(value)
        if written is not None:
            found[row.attribute] = written
    return found
