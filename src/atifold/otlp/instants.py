"""Read points in time as the APIs of tracing servers write them: ISO 8601, or a number in some unit."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Final

_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?\s*(Z|[+-]\d\d:?\d\d)?", re.IGNORECASE
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_UNITS: Final = ((10**17, 1), (10**14, 1_000), (10**11, 1_000_000), (0, 1_000_000_000))
"""A number from the first on is in units of so many nanoseconds; each row holds from 1973 to beyond 4900."""


def instant(value: Any) -> int:
    """Return nanoseconds since the epoch, 0 for none; raises ValueError for what is no time.

    The size of a number tells its unit: seconds, milliseconds, microseconds or nanoseconds. A number with a
    fraction is taken to the microsecond, which is what a double holds of a time in seconds. A text without a zone
    is UTC.
    """
    if value is None or value == "":
        return 0
    if isinstance(value, str) and (found := _ISO.fullmatch(value.strip())) is not None:
        return _from_text(*found.groups())
    try:
        return _from_number(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"time {str(value)[:40]}") from None


def _from_text(date: str, time: str, fraction: str | None, zone: str | None) -> int:
    offset = "+00:00" if zone in (None, "Z", "z") else f"{zone[:3]}:{zone[-2:]}"
    seconds = (datetime.fromisoformat(f"{date}T{time}{offset}") - _EPOCH) // timedelta(seconds=1)
    return seconds * 10**9 + int((fraction or "0").ljust(9, "0"))


def _from_number(value: Any) -> int:
    number = float(value) if isinstance(value, float) or "." in str(value) else int(value)
    if number < 0 or not math.isfinite(number):
        raise ValueError(value)
    size = next(size for least, size in _UNITS if number >= least)
    return number * size if isinstance(number, int) else round(number * size / 1000) * 1000
