"""Tell which dialects a span speaks."""

from __future__ import annotations

from typing import Final

from atifold.dialects.registry import DIALECTS
from atifold.dialects.table import Dialect
from atifold.spans import Span

_MOST: Final = 1024
_KNOWN: Final[dict[tuple[str, ...], tuple[Dialect, ...]]] = {}
"""Dialects by the names of a span's attributes: a program's spans have few sets of them, and each is asked a lot."""


def spoken(span: Span) -> tuple[Dialect, ...]:
    """Return the dialects whose mark a span bears, in the order of the registry."""
    if span.events:
        return _asked(span)
    names = tuple(span.attributes)
    found = _KNOWN.get(names)
    if found is None:
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        found = _KNOWN[names] = _asked(span)
    return found


def _asked(span: Span) -> tuple[Dialect, ...]:
    return tuple([dialect for dialect in DIALECTS if dialect.marks(span)])
