"""Hold one finding of the conformity check."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong with one item.

    `item` is a span's name and id, a metric's name or a log event's name; `attribute` is empty where
    the fault is no attribute's; `rule` says what was found, what was wanted, and in brackets the part
    of the conventions that wants it.
    """

    item: str
    attribute: str
    rule: str

    def __str__(self) -> str:
        """Return the fault as one line."""
        return ": ".join(part for part in self if part)
