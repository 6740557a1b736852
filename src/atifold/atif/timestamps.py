"""Read timestamps as the reference validator does, on every Python alike.

The reference takes what `datetime.fromisoformat` of Python 3.12 takes, after Z became +00:00. Before
3.11 that function knew one spelling alone, so what it did not know is first spelled out for it.
"""

from __future__ import annotations

import re
import sys
from datetime import date, datetime
from typing import Final

_OFFSET = r"[+-]\d{2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?"
_SHAPE: Final = re.compile(
    r"(?P<year>\d{4})(?:-?W(?P<week>\d{2})(?:-?(?P<weekday>\d))?|-(?P<md>\d{2}-\d{2})|(?P<mmdd>\d{4}))"
    r"(?:.(?P<clock>\d{2}(?::\d{2}(?::\d{2})?|\d{2}(?:\d{2})?)?)(?:[.,](?P<fraction>\d+))?"
    rf"(?P<offset>{_OFFSET})?)?",
    re.ASCII | re.DOTALL,
)


def moment(text: str) -> datetime:
    """Return the time that an ISO 8601 text means, naive where it names no offset.

    Raise ValueError where it means none.
    """
    text = text.replace("Z", "+00:00")
    return datetime.fromisoformat(text if sys.version_info >= (3, 11) else spelled_out(text))


def spelled_out(text: str) -> str:
    """Return an ISO 8601 text in the one spelling that every Python reads; any other text as it is."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        return text
    day = _day(found)
    if found["clock"] is None:
        return day
    return f"{day}T{_clock(found['clock'])}{_fraction(found['fraction'])}{_offset(found['offset'])}"


def _day(found: re.Match[str]) -> str:
    year, week = found["year"], found["week"]
    if week is not None:
        return date.fromisocalendar(int(year), int(week), int(found["weekday"] or 1)).isoformat()
    month_and_day = found["md"] or f"{found['mmdd'][:2]}-{found['mmdd'][2:]}"
    return f"{year}-{month_and_day}"


def _clock(text: str) -> str:
    """Return hours, minutes and seconds with colons, zero where they are not said."""
    digits = text.replace(":", "").ljust(6, "0")
    return f"{digits[:2]}:{digits[2:4]}:{digits[4:]}"


def _fraction(digits: str | None) -> str:
    """Return the fraction of a second in six digits, cut off, not rounded."""
    return "" if digits is None else f".{digits[:6].ljust(6, '0')}"


def _offset(text: str | None) -> str:
    if text is None:
        return ""
    whole, _, fraction = text[1:].replace(",", ".").partition(".")
    return text[0] + _clock(whole) + _fraction(fraction or None)
