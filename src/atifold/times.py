"""Write times as documents have them: UTC, whole microseconds."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

NS_PER_MS: Final = 1_000_000

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def microseconds(time_ns: int) -> int:
    """Return the time floored to the microsecond, so that ns and µs containers agree."""
    return time_ns // 1000


def timestamp(time_us: int) -> str | None:
    """Return `YYYY-MM-DDTHH:MM:SS.ffffffZ` of microseconds since the epoch.

    None for a time that no calendar has, and for 0, which writers put where they know none.
    """
    second, rest = divmod(time_us, 1_000_000)
    prefix = _second(second)
    return None if prefix is None or time_us <= 0 else f"{prefix}.{rest:06d}Z"


@lru_cache(maxsize=4096)
def _second(second: int) -> str | None:
    """Return a second since the epoch as text, None where the calendar has none."""
    try:
        return (_EPOCH + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S").zfill(19)
    except OverflowError:
        return None
