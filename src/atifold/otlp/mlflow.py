"""Read traces as MLflow gives them: the artifact of a trace, `traces/get`, `Trace.to_json`, and lists of them.

Each attribute is JSON text, whatever it was; ids are hex or base64, and of the first schema begin with `0x`. What a
trace says of itself stands beside its spans. Source: MLflow's `Span.to_dict` of schemas 2 to 4, its REST API.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from atifold.jsontext import from_json
from atifold.kinds import field, is_list, is_object
from atifold.otlp import json
from atifold.otlp.items import Origin
from atifold.otlp.place import BAD, Place
from atifold.otlp.plain import is_plain, plain_span
from atifold.otlp.shapes import object_in
from atifold.spans import Attributes, Span

_TRACES: Final = ("traces", "trace")
_INFOS: Final = ("trace_info", "info")
_METADATA: Final = ("trace_metadata", "request_metadata")
_SESSION: Final = "mlflow.trace.session"
_OWN: Final = "mlflow."
_SERVERS_ID: Final = "mlflow.traceRequestId"
"""What the server calls the trace; it says nothing of who made the span."""

_CONTAINERS: Final = ("{", "[")


def is_mlflow(value: Any) -> bool:
    """Tell whether a value is a trace with its spans, or an answer that holds such traces."""
    return any(True for _ in _traces(value))


def decode(value: Any, place: Place) -> None:
    """Read the spans of a value that `is_mlflow`; one that cannot be read leaves a complaint."""
    for trace, spans in _traces(value):
        session = _session(trace)
        for item in spans:
            try:
                place.batch.spans.append(_span(object_in(item), session))
            except BAD as error:
                place.complain("span", error)


def _traces(value: Any) -> Iterator[tuple[Mapping[str, Any], list[Any] | tuple[Any, ...]]]:
    """Yield each trace and its spans."""
    if not is_object(value):
        return
    for name in _TRACES:
        inner = value.get(name)
        for item in inner if is_list(inner) else [inner]:
            yield from _traces(item)
    spans = value.get("spans", field(value.get("data"), "spans"))
    if is_list(spans) and any(is_plain(span) or json.is_span(span) for span in spans):
        yield value, spans


def _session(trace: Mapping[str, Any]) -> Any:
    """Return the id of the session that a trace says it is of, None where it says none."""
    places = [field(trace.get(info), metadata) for info in _INFOS for metadata in _METADATA]
    return next((found for place in places if (found := field(place, _SESSION))), None)


def _span(item: Mapping[str, Any], session: Any) -> Span:
    span = json.span(item, Origin({})) if json.is_span(item) else plain_span(item)
    attributes = _opened(span.attributes)
    attributes.pop(_SERVERS_ID, None)
    if session is not None:
        attributes.setdefault(_SESSION, session)
    return replace(span, attributes=attributes)


def _opened(attributes: Attributes) -> dict[str, Any]:
    """Return attributes with the texts, numbers and truths that their JSON texts stand for.

    JSON texts of objects and lists stay: every dialect reads those, and one that was a text must keep its form. So do
    MLflow's own, which its dialect opens.
    """
    return {name: value if name.startswith(_OWN) else _scalar(value) for name, value in attributes.items()}


def _scalar(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip().startswith(_CONTAINERS):
        return value
    try:
        return from_json(value)
    except ValueError:
        return value
