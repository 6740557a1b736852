"""Have emitters give up their spans before a provider's exporters are flushed or shut down."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from opentelemetry.sdk.trace import SpanProcessor

from atifold.plugin.listener import Source, quietly


class Forerunner(SpanProcessor):
    """Stand first among a provider's processors, and pass its flush and its shutdown on to emitters.

    Spans themselves do not interest it.
    """

    quiet_at_start: Final = True  # see `atifold.emit.lane`

    def __init__(self) -> None:
        """Start without emitters."""
        self._releases: dict[Source, Callable[[], None]] = {}

    def go_before(self, source: Source, release: Callable[[], None]) -> None:
        """Sweep `source` at each flush; at the shutdown call `release`, which ends and lets go of it."""
        self._releases[source] = release

    def leave(self, source: Source) -> None:
        """Let go of `source`; one that is not there is no error."""
        self._releases.pop(source, None)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """End what has ended in the emitters, so that all processors have it when they are flushed."""
        for source in tuple(self._releases):
            quietly(source.sweep, time.time_ns())
        return True

    def shutdown(self) -> None:
        """End everything, and take no event any more."""
        for release in tuple(self._releases.values()):
            quietly(release)
