"""Bound the bytes of requests that are in work at once."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING

from atifold.serve.refusals import BUSY, RefusedError

if TYPE_CHECKING:
    from typing_extensions import Self


class Room:
    """A number of bytes that requests share, from any thread; one request may have more where it is alone."""

    def __init__(self, most: int, retry_s: int) -> None:
        """Take the bytes, and after how many seconds who finds no room may come again."""
        self._most = most
        self._retry_s = retry_s
        self._lock = threading.Lock()
        self.held = 0

    def share(self) -> Share:
        """Return a share of one request, with nothing in it yet."""
        return Share(self)

    def take(self, more: int, alone: int) -> None:
        """Take `more` bytes for a request that has `alone` already; raises RefusedError where they are not free."""
        with self._lock:
            if self.held + more > self._most and self.held > alone:
                raise RefusedError(BUSY, "too much is in work: come again later", retry_s=self._retry_s)
            self.held += more

    def give_back(self, n: int) -> None:
        """Give bytes back."""
        with self._lock:
            self.held -= n


class Share:
    """What one request has of a room, until the block ends."""

    def __init__(self, room: Room) -> None:
        """Start with nothing."""
        self._room = room
        self._size = 0

    def grow(self, more: int) -> None:
        """Take more; raises RefusedError where there is no room."""
        self._room.take(more, self._size)
        self._size += more

    def __enter__(self) -> Self:
        """Return the share."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give all of it back."""
        self._room.give_back(self._size)
        self._size = 0
