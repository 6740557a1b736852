"""Take what the program's threads tell with one append, and hand it on later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Union

from atifold.spans import LogRecord, Span

LOOKED_AT_EVERY: Final = 63
"""Entries between two looks at how full it is; odd, as starts and ends often alternate."""

TOO_MANY: Final = 16 * LOOKED_AT_EVERY
"""Entries at which the program's own thread puts them away: the worker does not get to it."""


class Started(NamedTuple):
    """A span was started; `root` says that its parent is none or in another process."""

    trace_id: str
    span_id: str
    root: bool


class Ended(NamedTuple):
    """A span has ended, and this is its record; its parent may be in another process.

    A `whole` record, of the side door, takes the place of one that is not.
    """

    span: Span
    remote_parent: bool
    whole: bool = False


class Logged(NamedTuple):
    """A log record was emitted."""

    record: LogRecord


Told = Union[Started, Ended, Logged]
Read = Callable[[Any], Union[Told, None]]
"""Turns what was put in into what was told, None for nothing new."""

Inbox = deque[Any]
"""What was told, and things for a `Read`, in order; bare, as this is on every span's way."""
