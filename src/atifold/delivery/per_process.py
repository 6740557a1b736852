"""Hold one exporter for each process: a connection that a fork has copied serves neither side well.

gRPC channels do not work in a child of the process that used them, and two processes that read from one HTTP
connection get each other's answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from atifold import process


class Exporter(Protocol):
    """What can be shut down."""

    def shutdown(self) -> None:
        """End the connection."""
        ...


E = TypeVar("E", bound=Exporter)


class PerProcess(Generic[E]):
    """Make an exporter when it is first needed, and another one in a forked child."""

    def __init__(self, make: Callable[[], E]) -> None:
        """Take what makes it; nothing is made yet."""
        self._make = make
        self._made: E | None = None
        self._shut = False
        self._lock = threading.Lock()
        process.watch_forks(self)

    def own(self) -> E:
        """Return the exporter of this process."""
        with self._lock:
            if self._made is None:
                with process.loading():
                    self._made = self._make()
                if self._shut:  # so that it says what it says after its shutdown
                    self._made.shutdown()
            return self._made

    def after_fork(self) -> None:
        """Leave the parent's exporter to the parent."""
        self._lock = threading.Lock()
        self._left, self._made = self._made, None  # kept, as its end would close the parent's connection

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Return True: OTLP exporters hold nothing back."""
        return True

    def shutdown(self) -> None:
        """End the connection where there is one."""
        with self._lock:
            self._shut = True
            made = self._made
        if made is not None:
            made.shutdown()
