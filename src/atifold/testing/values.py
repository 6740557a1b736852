"""Tell whether a value is one of a type of the conventions, and one that OTLP can carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

_MOST: Final = 2**63 - 1


def is_whole(value: Any) -> bool:
    """Tell whether a value is an integer of 64 bits, which a boolean is not."""
    return type(value) is int and -_MOST - 1 <= value <= _MOST


def is_texts(value: Any) -> bool:
    """Tell whether a value is a sequence of texts."""
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def is_flat(value: Any) -> bool:
    """Tell whether every OTLP receiver reads a value: a scalar, or a sequence of scalars of one type."""
    if isinstance(value, (list, tuple)):
        return len({type(item) for item in value}) <= 1 and all(_is_scalar(item) for item in value)
    return _is_scalar(value)


def is_structured(value: Any) -> bool:
    """Tell whether a value is one of OTLP's any value: flat, or maps and lists of such, bytes and None."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and is_structured(inner) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return all(is_structured(inner) for inner in value)
    return value is None or isinstance(value, bytes) or _is_scalar(value)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, bool)) or is_whole(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


FITS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": _is_text,
    "enum": lambda value: isinstance(value, str) and bool(value),
    "int": is_whole,
    "double": lambda value: type(value) is float and math.isfinite(value),
    "boolean": lambda value: isinstance(value, bool),
    "string[]": is_texts,
    "any": is_structured,
    "template[string]": _is_text,
}
"""Type of the conventions to its test. Enumerations are open: any word will do."""


def shown(value: Any) -> str:
    """Return a value as a fault shows it, cut short."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 - the room in a line
