"""Take JSON values for what the OTLP mapping says they are, and raise TypeError for what they are instead.

Absent and null are what protobuf takes them for: an empty text, no entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atifold.jsontext import text_of
from atifold.kinds import is_list, is_object, kind_name


def text_in(value: Any) -> str:
    """Return a text; a number, and a yes or no, as JSON writes it."""
    if isinstance(value, str):
        return value
    text = "" if value is None else text_of(value)
    if text is None:
        raise _wrong(value, "a text")
    return text


def object_in(value: Any) -> dict[str, Any]:
    """Return an object; null is none."""
    if not is_object(value):
        raise _wrong(value, "an object")
    return value


def optional_object(value: Any) -> dict[str, Any]:
    """Return an object, an empty one for null."""
    return {} if value is None else object_in(value)


def list_in(value: Any) -> Sequence[Any]:
    """Return a list; writers that cannot tell an empty list from an empty object are let pass."""
    if not value:
        return ()
    if not is_list(value):
        raise _wrong(value, "a list")
    return value


def _wrong(value: Any, wanted: str) -> TypeError:
    return TypeError(f"{kind_name(value)} in place of {wanted}")
