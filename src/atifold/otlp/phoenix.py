"""Read spans as Phoenix gives them: `/v1/projects/…/spans`, and `/spans/otlpv1`, which is not quite OTLP.

Phoenix takes attributes apart to names with dots, or keeps them nested; lists of objects become numbers in names.
It is undone where a dialect wants the whole value. Source: the Phoenix REST API, `getSpans` and `spanSearch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from atifold.jsontext import parsed
from atifold.kinds import is_list, is_object
from atifold.otlp import json
from atifold.otlp.dotted import WHOLE, flat, gathered
from atifold.otlp.items import Origin
from atifold.otlp.place import BAD, Place
from atifold.otlp.plain import is_plain, plain_span
from atifold.otlp.shapes import object_in
from atifold.spans import Span

_KIND: Final = "openinference.span.kind"
_COLUMN: Final = "attributes."
_UNKNOWN: Final = "UNKNOWN"
_IN_EVENTS: Final = (*WHOLE, "body", "input", "output")
"""What AWS's distribution writes into events besides: the messages of a call."""

_INPUT: Final = "gen_ai.usage.input_tokens"
_OUTPUT: Final = "gen_ai.usage.output_tokens"
_COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "llm.token_count.prompt": (_INPUT,),
    "llm.token_count.completion": (_OUTPUT,),
    "llm.token_count.total": (_INPUT, _OUTPUT),
    "llm.token_count.prompt_details.cache_read": ("gen_ai.usage.cache_read.input_tokens",),
    "llm.token_count.prompt_details.cache_write": ("gen_ai.usage.cache_creation.input_tokens",),
    "llm.token_count.completion_details.reasoning": ("gen_ai.usage.reasoning.output_tokens",),
}
"""Counts that Phoenix puts beside those of the conventions, and what each is the sum of."""
_PARAMETERS: Final = "llm.invocation_parameters"
_REQUEST: Final = "gen_ai.request."


def is_phoenix(value: Any) -> bool:
    """Tell whether a value is a page of spans, or one span of it."""
    if is_object(value) and is_list(value.get("data")):
        return any(_is_span(item) for item in value["data"])
    return _is_span(value)


def _is_span(value: Any) -> bool:
    return is_plain(_row(value)) or json.is_span(value)


def _row(item: Any) -> Any:
    """Return a row of the client's data frame of spans as a span; its columns are paths. Anything else as it is."""
    if not is_object(item) or "context.span_id" not in item:
        return item
    context = {name: item.get(f"context.{name}") for name in ("trace_id", "span_id")}
    cells = {name: value for name, value in item.items() if name.startswith(_COLUMN) and value is not None}
    return {**item, "context": context, "attributes": {name[len(_COLUMN) :]: cells[name] for name in cells}}


def decode(value: Any, place: Place) -> None:
    """Read the spans of a value that `is_phoenix`; one that cannot be read leaves a complaint."""
    for item in value["data"] if is_list(value.get("data")) else [value]:
        try:
            place.batch.spans.append(_span(object_in(_row(item))))
        except BAD as error:
            place.complain("span", error)


def _span(item: Mapping[str, Any]) -> Span:
    span = json.span(item, Origin({})) if json.is_span(item) else plain_span(item)
    attributes = _without_repeats(gathered(flat(span.attributes)))
    kind = item.get("span_kind")
    if isinstance(kind, str) and kind.upper() != _UNKNOWN:
        attributes.setdefault(_KIND, kind)
    events = tuple(replace(event, attributes=gathered(event.attributes, _IN_EVENTS)) for event in span.events)
    return replace(span, attributes=attributes, events=events)


def _without_repeats(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return attributes without those in which Phoenix says once more what the conventions' say."""
    return {name: value for name, value in attributes.items() if not _repeats(name, value, attributes)}


def _repeats(name: str, value: Any, attributes: Mapping[str, Any]) -> bool:
    if name == _PARAMETERS:
        told = parsed(value) if isinstance(value, str) else value
        return is_object(told) and all(attributes.get(_REQUEST + key) == item for key, item in told.items())
    parts = _COUNTS.get(name, ())
    counts = [count for part in parts if isinstance(count := attributes.get(part), int)]
    return bool(parts) and len(counts) == len(parts) and sum(counts) == value
