"""Tell the two containers of JSON from its other values, for the type checker too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a value is a JSON object; what its keys are is for others to see."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether a value is an object of JSON or what a live program has in its place.

    A dict is asked for first: the check for other mappings costs five times as much.
    """
    return type(value) is dict or isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Tell whether a value is a JSON list, or the tuple that a live program has in its place."""
    return isinstance(value, (list, tuple))


def kind_name(value: object) -> str:
    """Return what kind of JSON value it is, in words for people."""
    if value is None:
        return "null"
    names = (((dict,), "an object"), ((list, tuple), "a list"), ((str,), "a text"), ((bool,), "a yes or no"))
    return next((name for kinds, name in names if isinstance(value, kinds)), "a number")


def field(value: object, name: str) -> Any:
    """Return a field of what may be an object; None where it is none or has no such field."""
    return value.get(name) if is_object(value) else None
