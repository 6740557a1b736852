"""Tell a parsed value's kind in a way that the type checker follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_object(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether a value is an object with string keys, as all of JSON and OTLP are."""
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Tell whether a value is a list, or the tuple that a live program has in its place."""
    return isinstance(value, (list, tuple))
