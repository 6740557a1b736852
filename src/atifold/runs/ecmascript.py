"""Read texts, JSON and times as an ECMAScript program does, since the ledger's other writer is one.

White space is that of ECMA-262 (U+FEFF counts, U+0085 and U+001C to U+001F do not), numbers are doubles.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from atifold.kinds import is_list, is_object

WHITE: Final = (
    "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
MOST_EXACT: Final = 2**53 - 1
"""The greatest whole number below which doubles are exact."""

DEEPEST: Final = 300
"""Levels of lists and objects that are read."""

_TOO_DEEP: Final = "nested too deeply"
_TIME: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?"
    r"(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2}))?"
)
_DAY_MS: Final = 86_400_000
_ERA_MS: Final = 146_097 * _DAY_MS
"""The 400 years after which the calendar begins anew; `datetime` ends with the year 9999 and knows no year 0."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def trim(text: str) -> str:
    """Return the text without white space at its ends."""
    return text.strip(WHITE)


def utf16_length(text: str) -> int:
    """Return how many UTF-16 units a text has."""
    return len(text) + sum(sign > "\uffff" for sign in text)


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, its whole numbers as int as far as a double is exact; raises ValueError.

    A number beyond every double is infinite; of a key that is told twice the last value counts.
    """
    try:
        value = json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _mind_depth(value)
    return value


def _mind_depth(value: Any) -> None:
    """Refuse what lies so deep that writing it again would end the stack."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for outer in level if is_object(outer) or is_list(outer) for item in _inside(outer)]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def _inside(value: dict[str, Any] | list[Any] | tuple[Any, ...]) -> Iterable[Any]:
    return value.values() if is_object(value) else value


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= MOST_EXACT else value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def time_ms(text: str) -> int | None:
    """Return the milliseconds since 1970 of a date and time, None where the text is none.

    `YYYY-MM-DDTHH:MM[:SS[.f+]]`, then nothing (local time), `Z`, `z`, `±HH:MM` or `±HHMM`. A day of 31
    may stand in any month and 24:00:00 for the day's end; digits beyond milliseconds are dropped.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute = (int(found[number]) for number in range(1, 6))
    second, ms = int(found[6] or 0), int((found[7] or "")[:3].ljust(3, "0"))
    fine = 1 <= month <= 12 and 1 <= day <= 31 and minute <= 59 and second <= 59  # noqa: PLR2004 - the calendar's
    at_end = hour == 24 and not (minute or second or int(found[7] or 0))  # noqa: PLR2004 - the day's end
    if not fine or not (hour <= 23 or at_end):  # noqa: PLR2004 - the day's last hour
        return None
    whole = _days(year, month, day) * _DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + ms
    if found[8]:
        return whole
    return _local(whole) if found[9] is None else _shifted(whole, found[9], int(found[10]), int(found[11]))


def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a date of the Gregorian calendar; a day beyond the month runs over."""
    shifted = year - (month <= 2)  # noqa: PLR2004 - the year begins in March, so that leap days end it
    era, rest = divmod(shifted, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + rest * 365 + rest // 4 - rest // 100 + of_year - 719_468


def _shifted(whole: int, sign: str, hours: int, minutes: int) -> int | None:
    if hours > 23 or minutes > 59:  # noqa: PLR2004 - the greatest offset
        return None
    offset = (hours * 60 + minutes) * 60_000
    return whole - offset if sign == "+" else whole + offset


def _local(whole: int) -> int:
    """Return the time that a local clock showed; one it showed twice is the first, one it skipped runs on."""
    try:
        shown = (_EPOCH + timedelta(seconds=whole // 1000)).replace(tzinfo=None)
        return round(shown.timestamp()) * 1000 + whole % 1000
    except (OverflowError, ValueError, OSError):  # a year that no local clock knows
        return whole


def iso(ms: int) -> str:
    """Return milliseconds since 1970 as `YYYY-MM-DDTHH:MM:SS.mmmZ`; other years have a sign and six digits."""
    era, rest = divmod(ms, _ERA_MS)
    at = _EPOCH + timedelta(milliseconds=rest)
    year = at.year + era * 400
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+07d}"  # noqa: PLR2004 - what four digits hold
    return f"{shown}-{at:%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"
