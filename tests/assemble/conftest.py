"""Give the assembler a clock to turn, a fold of its own and a sink that can fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from atifold.assemble import Assembler
from atifold.spans import Span


@dataclass(frozen=True)
class Page:
    """A document of the fold below: the span ids of one or more tied traces."""

    name: str
    trajectory: dict[str, Any]


def one_page_a_fold(spans: Sequence[Span], *, incomplete: Sequence[str] = (), part: int = 1) -> list[Page]:
    """Fold tied traces into one page, named by the first of their ids; `boom` spans cannot be folded."""
    if any(span.name == "boom" for span in spans):
        raise ZeroDivisionError
    if not any(span.name.startswith("agent") for span in spans):
        return []
    name = min(span.trace_id for span in spans) + (f".part{part}" if part > 1 else "")
    ours: dict[str, Any] = {"incomplete": list(incomplete)}
    if any(span.name == "agent paused" for span in spans) and not any("resumed" in span.name for span in spans):
        ours["state"] = "paused"
    trajectory = {"spans": sorted(span.span_id for span in spans), "extra": {"atifold": ours}}
    return [Page(name, trajectory)]


@dataclass
class Shelf:
    """A sink in memory; while `broken` every write fails."""

    pages: dict[str, list[str]] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    broken: bool = False
    threads: set[str] = field(default_factory=set)

    def write(self, document: Page) -> None:
        """Put the page on the shelf."""
        self.threads.add(threading.current_thread().name)
        if self.broken:
            raise OSError(28, "No space left on device")
        self.writes.append(document.name)
        self.pages[document.name] = document.trajectory["spans"]
        self.reasons[document.name] = document.trajectory["extra"]["atifold"]["incomplete"]

    def discard(self, name: str) -> None:
        """Take it away."""
        self.pages.pop(name, None)


@dataclass
class Clock:
    """Seconds that pass when told."""

    now: float = 1000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@dataclass
class Desk:
    """An assembler with its shelf and clock; `turn` lets time pass and does what is due."""

    assembler: Assembler
    shelf: Shelf
    clock: Clock

    def put_away(self) -> None:
        """Bring what was told into the table."""
        self.assembler._put_away()

    def turn(self, seconds: float) -> None:
        """Let time pass, and do the worker's work here."""
        self.put_away()
        self.clock.now += seconds
        with self.assembler._working:
            self.assembler._work_off()

    def span(
        self, trace_id: str, span_id: str, parent: str | None = None, name: str = "agent", **attributes: Any
    ) -> Span:
        """Return a span of one second."""
        return Span(trace_id, span_id, parent, name, 1, 1_000_000_001, attributes=attributes)

    def start(self, trace_id: str, span_id: str, parent: str | None = None) -> None:
        """Tell of a start."""
        self.assembler.opened(trace_id, span_id, parent)

    def end(
        self, trace_id: str, span_id: str, parent: str | None = None, name: str = "agent", **attributes: Any
    ) -> None:
        """Tell of an end."""
        self.assembler.closed(self.span(trace_id, span_id, parent, name, **attributes))


class Desks:
    """Make desks whose own worker never gets to run: the clock stands still for it."""

    page, shelf, clock = Page, Shelf, Clock
    fold = staticmethod(one_page_a_fold)

    def __init__(self) -> None:
        """Start with none."""
        self.made: list[Assembler] = []

    def __call__(self, **settings: Any) -> Desk:
        """Return a desk with these settings of the assembler."""
        shelf, clock = Shelf(), Clock()
        assembler = Assembler(settings.pop("fold", one_page_a_fold), shelf, clock=clock, **settings)
        assembler._wake = lambda: None  # type: ignore[method-assign]  # tests turn the crank themselves
        self.made.append(assembler)
        return Desk(assembler, shelf, clock)


@pytest.fixture(scope="session")
def parts() -> type[Desks]:
    """Return the parts of a desk: its fold, shelf, page and clock."""
    return Desks


@pytest.fixture
def desk_of() -> Iterator[Desks]:
    """Return a maker of desks; they are shut down afterwards."""
    desks = Desks()
    yield desks
    for assembler in desks.made:
        assembler.shutdown(1)
