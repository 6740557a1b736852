"""Read the JSON text of attributes again, as log events take structures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from atifold import semconv
from atifold.emit.facts import INT64, JsonText
from atifold.jsontext import parsed
from atifold.kinds import is_list, is_object

_JSON: Final = frozenset(
    {
        semconv.INPUT_MESSAGES,
        semconv.OUTPUT_MESSAGES,
        semconv.RETRIEVAL_DOCUMENTS,
        semconv.SYSTEM_INSTRUCTIONS,
        semconv.TOOL_ARGUMENTS,
        semconv.TOOL_DEFINITIONS,
        semconv.TOOL_RESULT,
    }
)
"""Attributes of the conventions that hold JSON text on spans; a tool's result may be any other text."""

_DEEPEST: Final = 30  # levels; each is up to three messages of OTLP, of which parsers read a hundred
_MAYBE_HUGE: Final = re.compile(r"\d{19}")


def structured(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes with lists and objects in place of their JSON text."""
    return {
        name: _read(value) if type(value) is JsonText or name in _JSON else value for name, value in attributes.items()
    }


def _read(text: Any) -> Any:
    value = parsed(text) if isinstance(text, str) and text[:1] in ("[", "{") else None
    if not (is_list(value) or is_object(value)) or (text.count("[") + text.count("{") > _DEEPEST and _is_deep(value)):
        return text
    return _fitting(value) if _MAYBE_HUGE.search(text) else value


def _is_deep(value: Any, levels: int = _DEEPEST) -> bool:
    """Tell whether a value is nested deeper than a protobuf parser reads: it would cost the whole attribute."""
    if levels == 0:
        return True
    items = value.values() if is_object(value) else value if is_list(value) else ()
    return any(_is_deep(item, levels - 1) for item in items)


def _fitting(value: Any) -> Any:
    """Return a value in which whole numbers beyond 64 bits are texts: one would cost the whole attribute."""
    if is_object(value):
        return {key: _fitting(item) for key, item in value.items()}
    if is_list(value):
        return [_fitting(item) for item in value]
    return str(value) if type(value) is int and value not in INT64 else value
