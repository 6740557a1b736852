"""Tell which dialects a span speaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from atifold.dialects.registry import DIALECTS
from atifold.dialects.table import Dialect
from atifold.spans import Span

_MOST: Final = 1024
_BY_EVENTS: Final = tuple(dialect for dialect in DIALECTS if dialect.marks_events)
_KNOWN: Final[dict[tuple[str, ...], tuple[Dialect, ...]]] = {}
"""Dialects by the names of a span's attributes: a program's spans have few sets of them, and each is asked a lot."""


def spoken(span: Span) -> tuple[Dialect, ...]:
    """Return the dialects whose mark a span bears, in the order of the registry."""
    names = tuple(span.attributes)
    found = _KNOWN.get(names)
    if found is None:
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        bare = replace(span, events=()) if span.events else span
        found = _KNOWN[names] = tuple([dialect for dialect in DIALECTS if dialect.marks(bare)])
    if not span.events:
        return found
    more = [dialect for dialect in _BY_EVENTS if dialect not in found and dialect.marks(span)]
    return tuple([dialect for dialect in DIALECTS if dialect in found or dialect in more]) if more else found
