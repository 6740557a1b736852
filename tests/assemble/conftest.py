"""Give the assembler a clock to turn, a fold of its own and a sink that can fail."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from atifold.assemble import Assembler, Bounds
from atifold.assemble.counts import Counts
from atifold.assemble.table import TraceTable
from atifold.settings import Settings
from atifold.spans import LogRecord, Span


@dataclass(frozen=True)
class Page:
    """A document of the fold below: the span ids of one or more tied traces."""

    name: str
    trajectory: dict[str, Any]
    trace_ids: tuple[str, ...] = ()
    kinship: dict[str, Any] = field(default_factory=dict)


def one_page_a_fold(
    spans: Sequence[Span],
    *,
    logs: Sequence[LogRecord] = (),
    incomplete: Sequence[str] = (),
    part: int = 1,
    whole: Collection[str] = (),
) -> list[Page]:
    """Fold tied traces into one page, named by the first of their ids; `boom` spans cannot be folded.

    A record counts as a span: its name stands among their ids.
    """
    if any(span.name == "boom" for span in spans):
        raise ZeroDivisionError
    if not any(item.name.startswith("agent") for item in (*spans, *logs)):
        return []
    name = min(item.trace_id or "session" for item in (*spans, *logs)) + (f".part{part}" if part > 1 else "")
    ours: dict[str, Any] = {"incomplete": list(incomplete)}
    if any(span.name == "agent paused" for span in spans) and not any("resumed" in span.name for span in spans):
        ours["state"] = "paused"
    trajectory = {
        "spans": sorted([*(span.span_id for span in spans), *(record.name for record in logs)]),
        "extra": {"atifold": ours},
    }
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
    """An assembler without a worker, its shelf and its clock; `turn` lets time pass and does what is due."""

    assembler: Assembler
    shelf: Shelf
    clock: Clock

    def turn(self, seconds: float) -> None:
        """Do the worker's work here, let time pass, and do it again."""
        self.assembler.turn()
        self.clock.now += seconds
        self.assembler.turn()

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


def bounds_of(remembered_ids: int = 50_000, **settings: Any) -> Bounds:
    """Return bounds that differ from the settings' defaults in these."""
    return Bounds.of(Settings(**settings))._replace(remembered_ids=remembered_ids)


class Desks:
    """Make desks whose owner turns the crank."""

    page, shelf, clock = Page, Shelf, Clock
    fold = staticmethod(one_page_a_fold)
    bounds = staticmethod(bounds_of)

    def __init__(self) -> None:
        """Start with none."""
        self.made: list[Assembler] = []

    def __call__(self, *, fold: Any = one_page_a_fold, by_conversation: bool = False, **bounds: Any) -> Desk:
        """Return a desk with these bounds."""
        shelf, clock = Shelf(), Clock()
        assembler = Assembler(
            fold, shelf, bounds_of(**bounds), by_conversation=by_conversation, clock=clock, worker=False
        )
        self.made.append(assembler)
        return Desk(assembler, shelf, clock)


@pytest.fixture(scope="session")
def parts() -> type[Desks]:
    """Return the parts of a desk: its fold, shelf, page, clock and bounds."""
    return Desks


@pytest.fixture
def desk_of() -> Iterator[Desks]:
    """Return a maker of desks; they are shut down afterwards."""
    desks = Desks()
    yield desks
    for assembler in desks.made:
        assembler.shutdown(1)


@pytest.fixture(scope="session")
def table_of() -> Callable[..., TraceTable]:
    """Return a maker of tables with these bounds."""

    def make(*, counts: Counts | None = None, by_conversation: bool = False, **bounds: Any) -> TraceTable:
        return TraceTable(bounds_of(**bounds), counts or Counts(), by_conversation=by_conversation)

    return make


@pytest.fixture(scope="session")
def lines_run() -> Callable[[Callable[[], None]], int]:
    """Return what counts the lines of Python that a call runs, a loop's each time: its cost without a clock."""

    def count(call: Callable[[], None]) -> int:
        lines = 0

        def trace(_frame: Any, event: str, _arg: Any) -> Any:
            nonlocal lines
            lines += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)
        return lines

    return count
