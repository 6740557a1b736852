"""Hold what is known of one trace, and a piece of work taken out of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from atifold.spans import Span

# Reasons for which a document is incomplete, as they stand in `extra.atifold.incomplete`.
OPEN_SPANS: Final = "open_spans"  # spans that were started had not ended
NO_ROOT: Final = "no_root"  # the span that the trace hangs from never came
TRACE_BOUND: Final = "trace_bound"  # the trace passed its bound of bytes; what follows is the next part
PROCESS_BOUND: Final = "process_bound"  # the process passed its bound of bytes
EARLIER_PART: Final = "earlier_part"  # spans before these stand in the part before


class Queue(Enum):
    """Where a trace waits; each queue is in order of its deadlines."""

    OPEN = "open"  # for more spans
    DUE = "due"  # for late spans, then it is written
    STALE = "stale"  # open and written as it stands; for more spans, without a deadline
    WRITTEN = "written"  # to be let go; a late span reopens it
    PAUSED = "paused"  # for the leg that carries it on, without a deadline


@dataclass(eq=False, slots=True)
class Trace:
    """One trace: the spans held of it, which are open, and where it waits.

    `told` are the ids of spans that went into earlier parts, `roots` those of started local roots,
    `group` is the list of the traces that are folded together, shared by its members. `awaited`
    says that its document waits for a leg that resumes it, `lasting` that a conversation may go on.
    """

    id: str
    part: int = 1
    spans: dict[str, Span] = field(default_factory=dict)
    told: frozenset[str] = frozenset()
    open: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    rooted: bool = False
    announced: bool = False
    forgotten: bool = False
    changed: bool = False
    awaited: bool = False
    lasting: bool = False
    size: int = 0
    deadline: float = 0.0
    queue: Queue = Queue.OPEN
    group: list[Trace] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    @property
    def finished(self) -> bool:
        """Return whether all started spans have ended, the local root among them.

        Where starts are told the root need not be seen: the sampler may have dropped a caller's.
        """
        return not self.open and (self.rooted or self.announced)

    def reasons(self) -> list[str]:
        """Return why a document of what is held now would be incomplete."""
        found = []
        if self.part > 1:
            found.append(EARLIER_PART)
        if self.open or self.forgotten:
            found.append(OPEN_SPANS)
        if not self.rooted and not self.announced:
            found.append(NO_ROOT)
        return found

    def turn_page(self) -> None:
        """Let go of the spans held; what comes from now on is the next part."""
        self.told = self.told.union(self.spans)
        self.part += 1
        self.spans, self.size, self.changed, self.names = {}, 0, False, set()


@dataclass(frozen=True, slots=True)
class Job:
    """Spans to fold now: of tied traces, with the reasons for which they are not all."""

    traces: tuple[Trace, ...]
    spans: list[Span]
    reasons: tuple[str, ...]
    part: int
    size: int
    names: frozenset[str]
    kept: bool

    @property
    def trace_id(self) -> str:
        """Return the first trace's id, for words."""
        return self.traces[0].id
