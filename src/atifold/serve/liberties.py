"""Find what a request in JSON has that OTLP's JSON has not: it is taken, and whoever sent it is told.

Receivers written in Go refuse such a request whole. Keys are looked for with their quotes, which stand escaped in
a text, so that no text of a person, a model or a tool is taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_ID: Final = rb'"(?:trace|span|parentSpan|parent_span)(?:Id|_id)"\s*:\s*'
_VALUE: Final = rb'"(?:string|bool|int|double|bytes|array|kvlist)(?:Value|_value)"\s*:\s*'


class Liberty(NamedTuple):
    """One liberty: its name in counts, words for it, and how it looks."""

    kind: str
    words: str
    pattern: re.Pattern[bytes]


LIBERTIES: Final = (
    Liberty("ids_in_base64", "ids in base64", re.compile(_ID + rb'"(?:[\w+/-]{22}(?:==)?|[\w+/-]{11}=?)"')),
    Liberty("null_values", "null values", re.compile(_VALUE + rb"null\b")),
    Liberty("no_numbers", "NaN or Infinity as numbers", re.compile(_VALUE + rb"-?(?:NaN|Infinity)\b")),
)


def liberties(data: bytes) -> dict[str, int]:
    """Return how often a request takes each liberty, by kind; one that it does not take is not there."""
    found = ((each.kind, len(each.pattern.findall(data))) for each in LIBERTIES)
    return {kind: count for kind, count in found if count}


def told(taken: Mapping[str, int]) -> str:
    """Return words for the liberties of a request, "" for none."""
    found = [f"{each.words} ({taken[each.kind]})" for each in LIBERTIES if each.kind in taken]
    return f"taken, though OTLP's JSON has none: {', '.join(found)}" if found else ""


def words_of(kind: str) -> str:
    """Return the words for a kind."""
    return next(each.words for each in LIBERTIES if each.kind == kind)
