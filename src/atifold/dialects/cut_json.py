"""Read what stands before the place where a length limit has cut JSON text."""

from __future__ import annotations

import json
from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects.values import parsed, plain

_SPACE: Final = " \t\r\n"
_CLOSERS: Final = {"{": "}", "[": "]"}
_HALF_ESCAPE: Final = 6
"""Characters of the longest escape in a JSON text: a backslash, `u` and four digits."""


def whole_entries(text: str) -> tuple[list[Any], str]:
    """Return (the entries of a JSON list that stand whole before it breaks off, the text after them)."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    at = text.index("[") + 1
    while at < len(text):
        while at < len(text) and text[at] in _SPACE + ",":
            at += 1
        try:
            entry, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(plain(entry))
    return found, text[at:]


def still_open(text: str) -> int:
    """Return how many lists and objects are open where JSON text was cut."""
    depth, in_text, escaped = 0, False, False
    for sign in text:
        if in_text:
            in_text = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            in_text = True
        else:
            depth += (sign in _CLOSERS) - (sign in "}]")
    return depth


def mended(text: str) -> Any:
    """Return the value of JSON text with what is still open closed at the cut, MISSING where that is none.

    A text that was cut keeps its beginning; a key without a value is left out.
    """
    closers: list[str] = []
    in_text = escaped = False
    last = 0  # the place of the last comma or opening bracket: what stands before it is whole
    whole: list[str] = []
    for at, sign in enumerate(text):
        if in_text:
            in_text = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            in_text = True
        elif sign in _CLOSERS:
            closers.append(_CLOSERS[sign])
            last, whole = at + 1, closers.copy()
        elif sign in "}]":
            if not closers or closers.pop() != sign:
                return MISSING
        elif sign == ",":
            last, whole = at, closers.copy()
    end = "".join(reversed(closers))
    found = _closed(text, end) if in_text else parsed(text + end)
    return parsed(text[:last] + "".join(reversed(whole))) if found is MISSING else found


def _closed(text: str, end: str) -> Any:
    """Return the value of a text that was cut inside a string: half an escape at its end is left out."""
    tries = (parsed(text[: len(text) - cut] + '"' + end) for cut in range(_HALF_ESCAPE))
    return next((found for found in tries if found is not MISSING), MISSING)
