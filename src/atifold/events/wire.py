"""Tell the two containers of JSON from its other values, for the type checker too."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Say whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Say whether a JSON value is a list."""
    return isinstance(value, list)
