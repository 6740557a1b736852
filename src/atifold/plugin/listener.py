"""Name what a provider may feed that is ours: a side door to which emitters give up what they hold."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from atifold.redaction import Redact
from atifold.spans import SideDoor

_log = logging.getLogger("atifold")


def quietly(step: Callable[..., object], *given: object) -> None:
    """Take one step of a flush or a shutdown; where it raises that is said, and the others are taken all the same."""
    try:
        step(*given)
    except Exception as error:  # noqa: BLE001 - guards the user's program
        _log.warning("a step of a flush or a shutdown failed: %s", type(error).__name__)


class Source(Protocol):
    """What holds spans back for a while before they come in: an emitter."""

    def sweep(self, quiet_since_ns: int) -> bool:
        """End what can be ended; return whether anything is left to end soon."""
        ...

    def flush(self) -> None:
        """End everything."""
        ...


class Listener(SideDoor):
    """A processor or exporter of ours: it is found in a provider, and gets whole records there."""

    def __init__(self) -> None:
        """Start without sources and without a redaction."""
        self._sources: list[Source] = []
        self.redact: Redact | None = None

    def feed_from(self, source: Source) -> Callable[[], None]:
        """Have `source` give up what it holds back whenever this is flushed or shut down; return the way to stop."""
        self._sources.append(source)
        return lambda: self._sources.remove(source)

    def redact_with(self, redact: Redact, instead_of: Redact | None = None) -> None:
        """Ask `redact` of the spans of others from now on, unless one is asked already that is not `instead_of`."""
        if self.redact is None or self.redact is instead_of:
            self.redact = redact
