"""Keep the spans of unfinished and lately finished traces, in order of what is due next.

No lock, no thread, no clock of its own: the assembler calls it under its lock. Each call costs the
same however many traces there are.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from itertools import chain
from typing import Final, NamedTuple

from atifold.assemble.counts import Counts
from atifold.assemble.sizes import TRACE
from atifold.assemble.ties import conversation, resumed_trace
from atifold.assemble.trace import PROCESS_BOUND, TRACE_BOUND, Job, Queue, Trace
from atifold.spans import Span

_REMEMBERED_IDS: Final = 50_000  # span ids of traces that were let go: about 5 MB
_UNWRITTEN: Final = (Queue.STALE, Queue.OPEN, Queue.DUE)


class Bounds(NamedTuple):
    """How much is held, and for how long (seconds).

    Of `max_bytes` one half is for traces, a quarter for spans that wait to be folded because a bound
    was passed, an eighth for what the program told and nobody has put away yet, and an eighth for
    documents that could not be written yet.
    """

    grace_s: float = 2.0
    idle_s: float = 60.0
    retain_s: float = 300.0
    max_bytes: int = 64_000_000
    max_trace_bytes: int = 16_000_000
    max_open_spans: int = 10_000

    @property
    def trace_bytes(self) -> int:
        """Return the bytes that all traces may hold together."""
        return self.max_bytes // 2

    @property
    def waiting_bytes(self) -> int:
        """Return the bytes that may wait to be folded; one trace may always."""
        return self.max_bytes // 4

    @property
    def unsaved_bytes(self) -> int:
        """Return the bytes that documents without a place may hold."""
        return self.max_bytes // 8

    @property
    def inbox_bytes(self) -> int:
        """Return the bytes that may wait to be put away, about."""
        return self.max_bytes // 8


class TraceTable:
    """Hold traces within bounds; `held` is the bytes of their spans, `waiting` those of urgent jobs."""

    def __init__(self, bounds: Bounds, counts: Counts, *, by_conversation: bool = False) -> None:
        """Take the bounds, where to count, and whether a conversation's traces are folded together."""
        self._bounds = bounds
        self._counts = counts
        self._by_conversation = by_conversation
        self._traces: dict[str, Trace] = {}
        self._queues: dict[Queue, OrderedDict[str, Trace]] = {queue: OrderedDict() for queue in Queue}
        self._keys: dict[str, Trace] = {}
        self._gone: OrderedDict[str, tuple[int, frozenset[str]]] = OrderedDict()
        self._gone_ids = 0
        self._jobs: deque[Job] = deque()
        self._open_spans = 0
        self.held = 0
        self.waiting = 0

    # ---- what the program tells ------------------------------------------------------------------

    def opened(self, trace_id: str, span_id: str, now: float, *, root: bool) -> None:
        """Note a started span; `root` says that its parent is none or in another process."""
        trace = self._traces.get(trace_id) or self._new(trace_id, now)
        if span_id in trace.open or span_id in trace.spans or span_id in trace.told:
            return
        trace.open.add(span_id)
        trace.announced = True
        if root:
            trace.roots.add(span_id)
        self._open_spans += 1
        if trace.queue is not Queue.OPEN:
            self._wait(trace, Queue.OPEN, now + self._bounds.idle_s)
        if self._open_spans > self._bounds.max_open_spans:
            self._forget_open_spans(now)

    def closed(self, span: Span, size: int, now: float, *, root: bool) -> None:
        """Keep a finished span once."""
        trace = self._traces.get(span.trace_id) or self._new(span.trace_id, now)
        span_id = span.span_id
        if span_id in trace.spans or span_id in trace.told:
            return
        if span_id in trace.open:
            trace.open.discard(span_id)
            self._open_spans -= 1
        if root or span_id in trace.roots:
            trace.rooted = True
        self._keep(trace, span, size)
        if trace.finished:
            self._wait(trace, Queue.DUE, now + self._bounds.grace_s)
        else:
            self._wait(trace, Queue.OPEN, now + self._bounds.idle_s)
        self._mind_bounds(trace)

    def knows(self, trace_id: str, span_id: str) -> bool:
        """Return whether the span's record is held, or was."""
        trace = self._traces.get(trace_id)
        if trace is not None:
            return span_id in trace.spans or span_id in trace.told
        gone = self._gone.get(trace_id)
        return gone is not None and span_id in gone[1]

    # ---- what the worker takes -------------------------------------------------------------------

    def next_job(self, now: float, *, flush: bool = False, everything: bool = False) -> Job | None:
        """Return the next spans to fold, None where nothing is due.

        `flush` does not wait for late spans, and takes traces without open spans; `everything` takes
        those with open spans too.
        """
        if self._jobs:
            return self._jobs.popleft()
        while (trace := self._next_due(now, flush=flush, everything=everything)) is not None:
            if any(member.changed for member in trace.group):
                return self._take(trace, now)
            self._settle(trace, now)
        self._let_go_expired(now)
        return None

    def done(self, job: Job, now: float, names: set[str] | None, *, paused: bool) -> set[str]:
        """Hear that a job was folded to documents of these `names` (None: the fold failed).

        Returns the names that earlier folds of the same traces gave and this one did not: documents
        that became part of another one.
        """
        if not job.kept:
            self.waiting -= job.size
        if not job.kept or names is None:
            return set()
        for trace in job.traces:
            if self._traces.get(trace.id) is not trace or trace.part != job.part:
                continue  # it was let go, or a new part of it began, while this one was folded
            trace.names = set(names)
            if trace.queue in (Queue.WRITTEN, Queue.PAUSED):
                trace.awaited = paused
                self._settle(trace, now)
        return {name for name in job.names - names if not self._claimed(name)}

    def deadline(self) -> float:
        """Return when something is next due, infinite where nothing is."""
        if self._jobs:
            return -math.inf
        fronts = (self._front(queue) for queue in (Queue.DUE, Queue.OPEN, Queue.WRITTEN))
        return min((trace.deadline for trace in fronts if trace is not None), default=math.inf)

    def unwritten_spans(self) -> int:
        """Return how many spans are held that no fold has seen."""
        waiting = sum(len(job.spans) for job in self._jobs)
        return waiting + sum(len(trace.spans) for trace in self._traces.values() if trace.changed)

    # ---- keeping and tying -----------------------------------------------------------------------

    def _new(self, trace_id: str, now: float) -> Trace:
        trace = Trace(trace_id)
        trace.group = [trace]
        gone = self._gone.pop(trace_id, None)
        if gone is not None:
            part, trace.told = gone
            trace.part = part + 1
            self._gone_ids -= len(trace.told) + 1
            self._counts.add("late_parts")
        self._traces[trace_id] = trace
        self._queues[Queue.OPEN][trace_id] = trace
        trace.deadline = now + self._bounds.idle_s
        waiting = self._keys.get(trace_id)
        if waiting is not None:
            self._join(waiting, trace)
        return trace

    def _keep(self, trace: Trace, span: Span, size: int) -> None:
        if not trace.spans:
            size += TRACE
        trace.spans[span.span_id] = span
        trace.size += size
        trace.changed = True
        self.held += size
        resumed = resumed_trace(span)
        if resumed is not None and resumed != trace.id:
            self._tie(trace, resumed)
        if self._by_conversation:
            session = conversation(span)
            if session is not None:
                trace.lasting = True
                self._tie(trace, f"conversation {session}")

    def _tie(self, trace: Trace, key: str) -> None:
        other = self._traces.get(key) or self._keys.get(key)
        if other is None:
            self._keys[key] = trace
            trace.keys.append(key)
            if trace.lasting and key in self._gone:
                part, ids = self._gone.pop(key)
                self._gone_ids -= len(ids) + 1
                trace.part = max(trace.part, part + 1)
        elif other.group is not trace.group:
            self._join(trace, other)

    @staticmethod
    def _join(one: Trace, other: Trace) -> None:
        group, added = one.group, other.group
        group.extend(added)
        part = max(member.part for member in group)
        for member in added:
            member.group = group
        for member in group:
            member.part = part

    # ---- queues ----------------------------------------------------------------------------------

    def _wait(self, trace: Trace, queue: Queue, deadline: float) -> None:
        if trace.queue is queue:
            self._queues[queue].move_to_end(trace.id)
        else:
            del self._queues[trace.queue][trace.id]
            self._queues[queue][trace.id] = trace
            trace.queue = queue
        trace.deadline = deadline

    def _front(self, queue: Queue) -> Trace | None:
        return next(iter(self._queues[queue].values()), None)

    def _next_due(self, now: float, *, flush: bool, everything: bool) -> Trace | None:
        for queue in (Queue.DUE, Queue.OPEN):
            front = self._front(queue)
            if front is not None and (front.deadline <= now or everything or (flush and queue is Queue.DUE)):
                return front
        if flush:
            waiting = self._queues[Queue.OPEN].values()
            return next((trace for trace in waiting if trace.changed and not trace.open), None)
        return None

    def _take(self, trace: Trace, now: float) -> Job:
        members = tuple(trace.group)
        for member in members:
            member.changed = False
            self._settle(member, now)
        return _job(members, [], kept=True)

    def _settle(self, trace: Trace, now: float) -> None:
        """Put a trace where it waits once it is written."""
        if trace.open:
            self._wait(trace, Queue.STALE, math.inf)
        elif trace.awaited or trace.lasting:
            self._wait(trace, Queue.PAUSED, math.inf)
        else:
            self._wait(trace, Queue.WRITTEN, now + self._bounds.retain_s)

    def _claimed(self, name: str) -> bool:
        return any(name in trace.names for trace in self._traces.values())

    # ---- bounds ----------------------------------------------------------------------------------

    def _mind_bounds(self, trace: Trace) -> None:
        bounds = self._bounds
        most = min(bounds.max_trace_bytes, bounds.trace_bytes)
        size = trace.size if len(trace.group) == 1 else sum(member.size for member in trace.group)
        if size > most:
            self._counts.add("trace_bound", "trace %s passed %d bytes and is written in parts", trace.id, most)
            self._turn_page(trace, TRACE_BOUND)
        while self.held > bounds.trace_bytes:
            self._evict()
        while self.waiting > bounds.waiting_bytes and len(self._jobs) > 1:
            self._drop_job()

    def _evict(self) -> None:
        """Let go of the oldest trace, the written ones first."""
        for queue in (Queue.WRITTEN, Queue.PAUSED):
            front = self._front(queue)
            if front is not None:
                self._release(front)
                return
        trace = next(waiting for queue in _UNWRITTEN for waiting in self._queues[queue].values() if waiting.spans)
        words = "more than %d bytes are held: trace %s is written incomplete"
        self._counts.add("process_bound", words, self._bounds.trace_bytes, trace.id)
        self._turn_page(trace, PROCESS_BOUND)

    def _turn_page(self, trace: Trace, reason: str) -> None:
        """Have the group's spans written as they stand; what comes later is the next part."""
        members = tuple(trace.group)
        job = _job(members, [reason], kept=False)
        self._jobs.append(job)
        self.held -= job.size
        self.waiting += job.size
        for member in members:
            member.turn_page()
        for member in members:
            if member.queue in (Queue.WRITTEN, Queue.PAUSED):
                self._release(member)

    def _drop_job(self) -> None:
        """Lose what the worker could not keep up with, and say so."""
        job = self._jobs.popleft()
        self.waiting -= job.size
        words = "writing does not keep up: spans of trace %s are lost"
        self._counts.add("spans_lost", words, job.trace_id, n=len(job.spans))

    def _let_go_expired(self, now: float) -> None:
        while (front := self._front(Queue.WRITTEN)) is not None and front.deadline <= now:
            self._release(front)

    def _release(self, trace: Trace) -> None:
        """Forget a trace and what is written of its group, except which spans they had."""
        gone = [member for member in trace.group if member.queue in (Queue.WRITTEN, Queue.PAUSED)]
        for member in gone:
            trace.group.remove(member)
            self._forget(member)
        for member in trace.group:
            # its next document would take the place of one that holds more
            member.part = max(member.part, trace.part + 1)
            member.names = set()

    def _forget(self, trace: Trace) -> None:
        del self._queues[trace.queue][trace.id]
        del self._traces[trace.id]
        self.held -= trace.size
        last_part = trace.part if trace.spans else trace.part - 1
        self._remember(trace.id, last_part, trace.told.union(trace.spans))
        for key in trace.keys:
            del self._keys[key]
            if trace.lasting:
                self._remember(key, last_part, frozenset())

    def _remember(self, key: str, part: int, ids: frozenset[str]) -> None:
        self._gone[key] = (part, ids)
        self._gone_ids += len(ids) + 1
        while self._gone_ids > _REMEMBERED_IDS and len(self._gone) > 1:
            _, (_, oldest) = self._gone.popitem(last=False)
            self._gone_ids -= len(oldest) + 1

    def _forget_open_spans(self, now: float) -> None:
        waiting = chain(self._queues[Queue.STALE].values(), self._queues[Queue.OPEN].values())
        trace = next(candidate for candidate in waiting if candidate.open)
        words = "more than %d spans are open: those of trace %s are not waited for"
        self._counts.add("open_spans_forgotten", words, self._bounds.max_open_spans, trace.id, n=len(trace.open))
        self._open_spans -= len(trace.open)
        trace.open.clear()
        trace.forgotten = True
        self._wait(trace, Queue.DUE, now + self._bounds.grace_s)


def _job(members: tuple[Trace, ...], reasons: list[str], *, kept: bool) -> Job:
    for member in members:
        reasons.extend(member.reasons())
    return Job(
        traces=members,
        spans=[span for member in members for span in member.spans.values()],
        reasons=tuple(dict.fromkeys(reasons)),
        part=members[0].part,
        size=sum(member.size for member in members),
        names=frozenset(name for member in members for name in member.names),
        kept=kept,
    )
