"""Hold one complaint about a document, and the words in which values and places are shown."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Final, Literal

from atifold.kinds import is_list, is_object

Severity = Literal["error", "warning"]
"""An error makes the document invalid; a warning does not."""

_LONGEST_TEXT: Final = 60
_WIDEST_NUMBER_BITS: Final = 256


@dataclass(frozen=True, slots=True)
class Finding:
    """Name a place in a document, what was found there and what was wanted, in one line.

    `path` is like `steps[3].observation.results[0].source_call_id`, counted from 0; it is empty where
    the document as a whole is meant.
    """

    path: str
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        """Return `PATH: MESSAGE`."""
        return f"{self.path or 'document'}: {self.message}"


def shown(value: object) -> str:
    """Return a value in few printable words: never a line break, never the whole of something big."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + "…")
    if isinstance(value, (int, float)):
        return _figure(value)
    if is_object(value):
        return f"an object with {_count(value, 'field')}"
    if is_list(value):
        return f"a list of {_count(value, 'item')}"
    return f"a Python {type(value).__name__}"


def at(place: str, key: str | int) -> str:
    """Return the path of a field or an item of the thing at `place`; `place` is empty at the top.

    >>> at(at("steps", 3), "message")
    'steps[3].message'
    """
    if isinstance(key, int):
        return f"{place}[{key}]"
    if not key.isidentifier():
        return f"{place}[{shown(key)}]"
    return f"{place}.{key}" if place else key


def inside(place: str, rest: str) -> str:
    """Return the path of `rest` seen from the top, where `rest` is a path seen from `place`."""
    return f"{place}.{rest}" if place and rest else place or rest


def _figure(value: float) -> str:
    """Return a number; one that would fill a screen by its size, as Python refuses to print some."""
    if isinstance(value, int) and value.bit_length() > _WIDEST_NUMBER_BITS:
        return f"a whole number of {value.bit_length()} bits"
    return repr(value)


def _count(things: Sized, name: str) -> str:
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")
