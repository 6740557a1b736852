"""Read spans as Phoenix gives them: `/v1/projects/…/spans`, and `/spans/otlpv1`, which is not quite OTLP.

Phoenix takes attributes apart to names with dots, or keeps them nested; lists of objects become numbers in names.
It is undone where a dialect wants the whole value. Source: the Phoenix REST API, `getSpans` and `spanSearch`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from atifold.kinds import is_list, is_object
from atifold.otlp import json
from atifold.otlp.dotted import WHOLE, flat, gathered
from atifold.otlp.items import Origin
from atifold.otlp.place import BAD, Place
from atifold.otlp.plain import is_plain, plain_span
from atifold.otlp.shapes import object_in
from atifold.spans import Span

_KIND: Final = "openinference.span.kind"
_UNKNOWN: Final = "UNKNOWN"
_IN_EVENTS: Final = (*WHOLE, "body", "input", "output")
"""What AWS's distribution writes into events besides: the messages of a call."""


def is_phoenix(value: Any) -> bool:
    """Tell whether a value is a page of spans, or one span of it."""
    if is_object(value) and is_list(value.get("data")):
        return any(_is_span(item) for item in value["data"])
    return _is_span(value)


def _is_span(value: Any) -> bool:
    return is_plain(value) or json.is_span(value)


def decode(value: Any, place: Place) -> None:
    """Read the spans of a value that `is_phoenix`; one that cannot be read leaves a complaint."""
    for item in value["data"] if is_list(value.get("data")) else [value]:
        try:
            place.batch.spans.append(_span(object_in(item)))
        except BAD as error:
            place.complain("span", error)


def _span(item: Mapping[str, Any]) -> Span:
    span = json.span(item, Origin({})) if json.is_span(item) else plain_span(item)
    attributes = gathered(flat(span.attributes))
    kind = item.get("span_kind")
    if isinstance(kind, str) and kind.upper() != _UNKNOWN:
        attributes.setdefault(_KIND, kind)
    events = tuple(replace(event, attributes=gathered(event.attributes, _IN_EVENTS)) for event in span.events)
    return replace(span, attributes=attributes, events=events)
