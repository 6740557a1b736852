"""Say what the emitter asks of the log of events before it makes anything for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from opentelemetry.trace import SpanContext

if TYPE_CHECKING:  # the writer of spans asks the log too
    from atifold.emit.record import Moment, Record


class Log(Protocol):
    """Take what becomes log events; an `Observer` that the rest of the emitter reckons with."""

    content: bool
    """Whether content goes on log events."""
    catalogue: bool
    """Whether the catalogue's events become log events where they could be span events."""
    instead: bool
    """Whether they do so in place of span events."""

    def ready(self) -> bool:
        """Tell whether anybody takes log events now; asked for every span, so it is quick."""
        ...

    def sealed(self, record: Record) -> None:
        """Hear that a span was ended."""
        ...

    def said(self, moment: Moment, at: SpanContext | None) -> None:
        """Hear a fact that stands on no span."""
        ...


class NoLog:
    """The log of a program that wants none."""

    content = catalogue = instead = False

    def ready(self) -> bool:
        """Return False."""
        return False

    def sealed(self, record: Record) -> None:
        """Do nothing."""

    def said(self, moment: Moment, at: SpanContext | None) -> None:
        """Do nothing."""


NO_LOG: Final = NoLog()
