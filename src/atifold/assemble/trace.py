"""Hold what is known of one trace, and a piece of work taken out of the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from atifold.spans import LogRecord, Span

if TYPE_CHECKING:
    from atifold.fold import Document

# Reasons for which a document is incomplete, as they stand in `extra.atifold.incomplete`.
OPEN_SPANS: Final = "open_spans"  # spans that were started had not ended
TRACE_BOUND: Final = "trace_bound"  # the trace passed its bound of bytes; what follows is the next part
PROCESS_BOUND: Final = "process_bound"  # the process passed its bound of bytes
EARLIER_PART: Final = "earlier_part"  # spans before these stand in the part before


class Queue(Enum):
    """Where a trace waits; each queue is in order of its deadlines."""

    BARE = "bare"  # open, and nothing held of it: for its spans
    OPEN = "open"  # for more spans
    ROOTLESS = "rootless"  # for its root, with no span open
    DUE = "due"  # for late spans, then it is written
    STALE = "stale"  # open and written as it stands; for more spans, without a deadline
    WRITTEN = "written"  # to be let go; a late span reopens it
    PAUSED = "paused"  # for the leg that carries it on, without a deadline


SETTLED: Final = (Queue.WRITTEN, Queue.PAUSED)
"""Where traces wait of which all is written."""


@dataclass(eq=False, slots=True)
class Group:
    """Traces that are folded together: the bytes of their spans, and the part that these go into.

    `changed` says that some of the spans are in no document yet.
    """

    members: dict[str, Trace] = field(default_factory=dict)
    size: int = 0
    part: int = 1
    changed: bool = False

    def take_in(self, other: Group) -> None:
        """Take the members of another group over."""
        self.members.update(other.members)
        for member in other.members.values():
            member.group = self
        self.size += other.size
        self.part = max(self.part, other.part)
        self.changed = self.changed or other.changed


@dataclass(eq=False, slots=True)
class Trace:
    """One trace: the spans and log records held of it, which spans are open, and where it waits.

    A session's records without a trace are kept as a trace too, `sessional`, which no span belongs to.
    `whole` are the ids of held spans whose record is whole, `roots` those of started local roots.
    `kin` are those that may be of one history with it, found by its `facts`: what it gives, what it takes.
    `awaited` says that its document waits for a leg that resumes it, `lasting` that a conversation may go on.
    """

    id: str
    group: Group
    spans: dict[str, Span] = field(default_factory=dict)
    logs: list[LogRecord] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    rooted: bool = False
    announced: bool = False
    forgotten: bool = False
    changed: bool = False
    awaited: bool = False
    lasting: bool = False
    sessional: bool = False
    sessions: set[str] = field(default_factory=set)
    size: int = 0
    deadline: float = 0.0
    queue: Queue = Queue.BARE
    keys: list[str] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    facts: tuple[frozenset[int], frozenset[int]] | None = None
    kin: set[Trace] = field(default_factory=set)

    @property
    def finished(self) -> bool:
        """Return whether all started spans have ended, the local root among them.

        Where starts are told the root need not be seen: the sampler may have dropped a caller's.
        """
        return not self.open and (self.rooted or self.announced)

    def reasons(self) -> list[str]:
        """Return why a document of what is held now would be incomplete; that its root is missing the fold sees."""
        found = []
        if self.group.part > 1:
            found.append(EARLIER_PART)
        if self.open or self.forgotten:
            found.append(OPEN_SPANS)
        return found

    @property
    def holds(self) -> bool:
        """Return whether anything is held of it."""
        return bool(self.spans or self.logs)


class Carried(NamedTuple):
    """What a process hands on of one trace to the process that carries its work on.

    `part` is the one that the spans go into, `names` are those of the documents that they stand in.
    `awaited` is as of `Trace`; `written` says that the documents hold all of it.
    """

    trace_id: str
    part: int
    names: frozenset[str]
    awaited: bool
    written: bool
    spans: Sequence[Span]
    logs: Sequence[LogRecord]


class Beside(NamedTuple):
    """What is held of whole traces that others may refer to, or carry on.

    `ids` are theirs and those of the documents in which they stand.
    """

    traces: tuple[Trace, ...]
    ids: frozenset[str]
    spans: Sequence[Span]
    logs: Sequence[LogRecord]

    def has(self, document: Document) -> bool:
        """Tell whether a document is theirs."""
        return stands_for(document, self.ids)

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> Beside:
        """Return what is held of traces now."""
        return cls(
            tuple(traces),
            frozenset().union(*({trace.id} | trace.names for trace in traces)),
            [span for trace in traces for span in trace.spans.values()],
            [record for trace in traces for record in trace.logs],
        )


def stands_for(document: Document, ids: Collection[str]) -> bool:
    """Tell whether a document is of no other documents and traces than those of these ids."""
    return bool(ids) and (document.name in ids or all(trace_id in ids for trace_id in document.trace_ids))


@dataclass(frozen=True, slots=True)
class Job:
    """Spans and log records to fold now: of tied traces, with the reasons for which they are not all.

    What is `beside` is folded with them, in documents of its own, so that these can tell of each other.
    """

    traces: tuple[Trace, ...]
    spans: list[Span]
    logs: list[LogRecord]
    reasons: tuple[str, ...]
    part: int
    size: int
    names: frozenset[str]
    kept: bool
    beside: Beside

    @classmethod
    def of(cls, group: Group, reasons: Sequence[str] = (), *, kept: bool, beside: Sequence[Trace] = ()) -> Job:
        """Return the work on all that a group holds now; `kept` says that it goes on holding it."""
        members = tuple(group.members.values())
        found = dict.fromkeys([*reasons, *(reason for member in members for reason in member.reasons())])
        return cls(
            traces=members,
            spans=[span for member in members for span in member.spans.values()],
            logs=[record for member in members for record in member.logs],
            reasons=tuple(found),
            part=group.part,
            size=group.size,
            names=frozenset().union(*(member.names for member in members)),
            kept=kept,
            beside=Beside.of(beside),
        )

    @property
    def trace_id(self) -> str:
        """Return the first trace's id, for words."""
        return self.traces[0].id


def weight(held: Trace | Job) -> int:
    """Return how many spans are lost where this is; of what has none, how many log records."""
    return len(held.spans) or len(held.logs)


def join(one: Trace, other: Trace) -> None:
    """Have two traces, and all that each is tied to, folded together."""
    if one.group is not other.group:
        less, more = sorted((one.group, other.group), key=lambda group: len(group.members))
        more.take_in(less)
