"""Leave values that are too long out of a span whole, since half a JSON text is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.trace import Span

from atifold import semconv
from atifold.emit.lane import LightSpan

_JSON: Final = ("{", "[")


class Fitting:
    """Keep of one span's attributes what is short enough; `omitted` says `name:characters` of the others.

    The limit is the user's (`max_value`, 0 for none) or the SDK's own on lengths, whichever is lower.
    The SDK's cuts texts off, so what it would break of our JSON is left out too; names it may cut.
    """

    __slots__ = ("_cut", "_event_cut", "_limit", "omitted")

    def __init__(self, span: Span, max_value: int) -> None:
        """Take the span, whose limits are known if it is one of the SDK, and the user's limit."""
        self._limit = max_value or math.inf
        # a light span has no such limit: see `atifold.emit.lane`
        limits = None if isinstance(span, LightSpan) else getattr(span, "_limits", None)
        self._cut = _limit_of(limits, "max_span_attribute_length")
        self._event_cut = _limit_of(limits, "max_attribute_length")
        self.omitted: list[str] = []

    def attributes(self, structure: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
        """Return a span's attributes: structure, and of the content what is short enough."""
        return self._kept(structure, content, self._cut)

    def of_event(self, structure: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes of an event of the span, which has a limit of its own in the SDK."""
        return self._kept(structure, content, self._event_cut)

    def text(self, name: str, text: str | None) -> str | None:
        """Return a text that is no attribute, None where it is too long; the SDK cuts none of these."""
        return text if text is None or self._fits(name, text, self._limit) else None

    def with_omitted(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Return a span's attributes with the names of what was left out, of its events and status too."""
        if self.omitted:
            attributes[semconv.OMITTED] = tuple(self.omitted)
        return attributes

    def _kept(self, structure: Mapping[str, Any], content: Mapping[str, Any], cut: float) -> dict[str, Any]:
        limit = min(self._limit, cut)
        if limit == math.inf:
            return {**structure, **content}
        kept = {name: value for name, value in content.items() if self._fits(name, value, limit)}
        if cut == math.inf:
            return {**structure, **kept}
        return {
            **{name: value for name, value in structure.items() if not _is_json(value) or self._fits(name, value, cut)},
            **kept,
        }

    def _fits(self, name: str, value: Any, limit: float) -> bool:
        size = _length(value)
        if size <= limit or name == semconv.WITHHELD:
            return True
        self.omitted.append(f"{name}:{size}")
        return False


def short_enough(content: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    """Return content without values of more than `most` characters, which are named; 0 is no limit."""
    sizes = {name: _length(value) for name, value in content.items() if name != semconv.WITHHELD}
    long = {name: size for name, size in sizes.items() if size > most > 0}
    if not long:
        return content
    kept = {name: value for name, value in content.items() if name not in long}
    return {**kept, semconv.OMITTED: tuple(f"{name}:{size}" for name, size in long.items())}


def _limit_of(limits: object, name: str) -> float:
    found = getattr(limits, name, None)
    return found if isinstance(found, int) else math.inf


def _is_json(value: object) -> bool:
    return isinstance(value, str) and value.startswith(_JSON)


def _length(value: Any) -> int:
    """Return the characters of a text, or of all texts of a list; numbers have none."""
    if isinstance(value, str):
        return len(value)
    return sum(len(item) for item in value if isinstance(item, str)) if isinstance(value, (list, tuple)) else 0
