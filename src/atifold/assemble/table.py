"""Keep the spans and log records of unfinished and lately finished traces, in order of what is due next.

No lock, no thread, no clock of its own: the assembler calls it under its lock. A call costs the same
however many traces there are; one that takes a group's spans out, or lets a group go, costs as much
as the group has members.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from atifold.assemble.bounds import Bounds
from atifold.assemble.claims import Claims
from atifold.assemble.counts import Counts
from atifold.assemble.kin import Kin, kinship_in
from atifold.assemble.queues import Queues
from atifold.assemble.references import session
from atifold.assemble.remembered import Remembered
from atifold.assemble.sessions import Sessions
from atifold.assemble.sizes import TRACE, record_size, size_of
from atifold.assemble.trace import (
    PROCESS_BOUND,
    SETTLED,
    TRACE_BOUND,
    Carried,
    Group,
    Job,
    Queue,
    Trace,
    join,
    weight,
)
from atifold.assemble.tying import Tying
from atifold.spans import LogRecord, Span

if TYPE_CHECKING:
    from atifold.fold.kinship import Kinship

_NO_FACTS: Final[Mapping[str, Kinship]] = {}


class TraceTable:
    """Hold traces within bounds.

    `held` is the bytes of the spans and records in `traces` (by id), `waiting` those of `jobs`: urgent ones, that
    nobody has taken or done yet. `open_spans` were started and have not ended, `past` is what was let go.
    """

    def __init__(self, bounds: Bounds, counts: Counts, *, by_conversation: bool = False) -> None:
        """Take the bounds, where to count, and whether a conversation's traces are folded together."""
        self._bounds = bounds
        self._counts = counts
        self._by_conversation = by_conversation
        self._most = min(bounds.max_trace_bytes, bounds.trace_bytes)
        self.traces: dict[str, Trace] = {}
        self.queues = Queues()
        self.jobs: deque[Job] = deque()
        self.past = Remembered(bounds.remembered_ids)
        self.open_spans = 0
        self.held = 0
        self.waiting = 0
        self._tying = Tying(self.traces, self.past, by_conversation=by_conversation)
        self.kin = Kin()
        self._claims = Claims()

    # ---- what the program tells ------------------------------------------------------------------

    def opened(self, trace_id: str, span_id: str, now: float, *, root: bool) -> None:
        """Note a started span; `root` says that its parent is none or in another process."""
        if self.knows(trace_id, span_id):
            return
        trace = self.traces.get(trace_id) or self._new(trace_id, now)
        if span_id in trace.open:
            return
        trace.open.add(span_id)
        trace.announced = True
        if root:
            trace.roots.add(span_id)
        self.open_spans += 1
        if trace.queue not in (Queue.OPEN, Queue.BARE):
            self.queues.move(trace, Queue.OPEN if trace.holds else Queue.BARE, now + self._bounds.idle_s)
        if self.open_spans > self._bounds.max_open_spans:
            oldest = self.queues.first(Queue.STALE) or self.queues.first(Queue.OPEN, Queue.BARE)
            self._forget_open_spans(oldest or trace, now)

    def closed(self, span: Span, size: int, now: float, *, root: bool, whole: bool = False) -> None:
        """Keep a finished span once; a `whole` record takes the place of a held one that is not."""
        span_id = span.span_id
        if self.knows(span.trace_id, span_id) and not (whole and self._holds_bare(span.trace_id, span_id)):
            return
        trace = self.traces.get(span.trace_id) or self._new(span.trace_id, now)
        if whole:
            trace.whole.add(span_id)
        if span_id in trace.open:
            trace.open.discard(span_id)
            self.open_spans -= 1
        if root or span_id in trace.roots:
            trace.rooted = True
        self._keep(trace, span, size)
        self._wait_for_more(trace, now)
        self._mind_bounds(trace, now)

    def logged(self, record: LogRecord, now: float) -> None:
        """Keep a log record with the trace that it names, one without a trace with its session.

        Left out, and counted, are plain lines (records without a name), records without trace and session,
        and those of spans that were written and let go.
        """
        named = session(record)
        reason = self._no_place(record, named)
        if reason is not None:
            self._counts.add(reason)
            return
        trace_id = record.trace_id or Sessions.trace_id(named or "")
        trace = self.traces.get(trace_id) or self._new(trace_id, now)
        if record.trace_id is None:
            trace.sessional = trace.lasting = True
        self._add(trace, record_size(record))
        trace.logs.append(record)
        self._tying.tie_record(trace, named)
        self._wait_for_more(trace, now)
        self._mind_bounds(trace, now)

    def _no_place(self, record: LogRecord, named: str | None) -> str | None:
        if not record.tells:
            return "log_lines"
        if record.trace_id is None:
            return "records_without_trace" if named is None else None
        gone = record.span_id is not None and self.past.knows(record.trace_id, record.span_id)
        return "records_late" if gone else None

    def _wait_for_more(self, trace: Trace, now: float) -> None:
        if trace.finished:
            self.queues.move(trace, Queue.DUE, now + self._bounds.grace_s)
        else:
            self.queues.move(trace, Queue.OPEN if trace.open else Queue.ROOTLESS, now + self._bounds.idle_s)

    def knows(self, trace_id: str, span_id: str) -> bool:
        """Return whether the span's record is held, or was."""
        trace = self.traces.get(trace_id)
        return (trace is not None and span_id in trace.spans) or self.past.knows(trace_id, span_id)

    def _holds_bare(self, trace_id: str, span_id: str) -> bool:
        trace = self.traces.get(trace_id)
        return trace is not None and span_id in trace.spans and span_id not in trace.whole

    # ---- what the worker takes -------------------------------------------------------------------

    def next_job(self, now: float, *, flush: bool = False, everything: bool = False) -> Job | None:
        """Return the next spans to fold, None where nothing is due.

        `flush` does not wait for late spans, and takes traces without open spans; `everything` takes
        those with open spans too.
        """
        if self.jobs:
            return self.jobs.popleft()
        while (trace := self.queues.next_due(now, flush=flush, everything=everything)) is not None:
            if trace.group.changed:
                return self._take(trace.group, now)
            self._settle(trace, now)
        self._let_go_expired(now)
        return None

    def done(
        self,
        job: Job,
        now: float,
        names: set[str] | None,
        *,
        paused: bool,
        kinship: Mapping[str, Kinship] = _NO_FACTS,
    ) -> set[str]:
        """Hear that a job was folded to documents of these `names` (None: the fold failed), with these facts by trace.

        Returns the names that earlier folds of the same traces gave and this one did not: documents
        that became part of another one.
        """
        if not job.kept:
            self.waiting -= job.size
        if not job.kept or names is None:
            return set()
        for trace in job.traces:
            if self.traces.get(trace.id) is not trace or trace.group.part != job.part:
                continue  # it was let go, or a new part of it began, while this one was folded
            self._claims.put(trace, frozenset(names))
            if trace.sessional and not names:
                trace.lasting = False  # records that say nothing of an agent's work
            if trace.queue in SETTLED:
                trace.awaited = paused
                self._settle(trace, now)
            found = kinship_in(trace, job, kinship)
            if found:
                self._meet(trace, self.kin.note(trace, found), now)
        return {name for name in job.names - names if name not in self._claims}

    def done_beside(self, job: Job, names: set[str]) -> set[str]:
        """Hear which documents came of a job in all; return those that what was beside it had and has no more."""
        before = set[str]()
        for trace in job.beside.traces:
            if self.traces.get(trace.id) is trace:
                before |= trace.names
                self._claims.put(trace, trace.names & names)
        return {name for name in before - names if name not in self._claims}

    def deadline(self) -> float:
        """Return when something is next due, infinite where nothing is."""
        if self.jobs:
            return -math.inf
        first = self.queues.first(Queue.DUE, Queue.ROOTLESS, Queue.OPEN, Queue.WRITTEN)
        return math.inf if first is None else first.deadline

    def unwritten_spans(self) -> int:
        """Return how many spans, and records of traces without spans, are held that no fold has seen."""
        waiting = sum(weight(job) for job in self.jobs)
        return waiting + sum(weight(trace) for trace in self.traces.values() if trace.changed)

    # ---- from one process to the next ------------------------------------------------------------

    def carried(self, *, written: bool) -> Iterator[Carried]:
        """Yield all that is held; `written` says that what was folded of it has come to its sink."""
        for trace in self.traces.values():
            if trace.holds:
                held = tuple(trace.spans.values()), tuple(trace.logs)
                whole = written and not trace.changed
                yield Carried(trace.id, trace.group.part, trace.names, trace.awaited, whole, *held)

    def resume(self, one: Carried, now: float) -> None:
        """Hold what another process held of a trace; where all of it is written, more of it has to come first."""
        trace = self.traces.get(one.trace_id) or self._new(one.trace_id, now)
        trace.group.part = max(trace.group.part, one.part)
        trace.awaited = one.awaited
        for span in one.spans:
            self.closed(span, size_of(span), now, root=span.parent_id is None)
        for record in one.logs:
            self.logged(record, now)
        if self.traces.get(one.trace_id) is not trace:
            return  # past the bounds of this process, which are narrower
        self._claims.put(trace, one.names)
        if one.written:
            trace.changed = False
            trace.group.changed = any(member.changed for member in trace.group.members.values())
            self._settle(trace, now)

    # ---- keeping and tying -----------------------------------------------------------------------

    def _new(self, trace_id: str, now: float) -> Trace:
        trace = Trace(trace_id, Group())
        trace.group.members[trace_id] = trace
        last_part = self.past.take_up(trace_id)
        if last_part is not None:
            trace.group.part = last_part + 1
            self._counts.add("late_parts")
        self.traces[trace_id] = trace
        self.queues.enter(trace, now + self._bounds.idle_s)
        self._tying.welcome(trace)
        return trace

    def _keep(self, trace: Trace, span: Span, size: int) -> None:
        before = trace.spans.get(span.span_id)
        if before is not None:
            size -= size_of(before)
        self._add(trace, size)
        trace.spans[span.span_id] = span
        self._tying.tie_span(trace, span)

    def _add(self, trace: Trace, size: int) -> None:
        """Count what a trace is about to hold more."""
        if not trace.holds:
            size += TRACE
        trace.changed = trace.group.changed = True
        trace.size += size
        trace.group.size += size
        self.held += size

    def _meet(self, trace: Trace, kin: Sequence[Trace], now: float) -> None:
        """Have a trace folded once more, with kin not known before: into one document, or beside each other."""
        if self._by_conversation:
            kin = [other for other in kin if self._canjoin(trace, other)]
            for other in kin:
                join(trace, other)
                trace.lasting = other.lasting = True
        if kin:
            trace.group.changed = True
            if trace.queue in (*SETTLED, Queue.STALE):
                self.queues.move(trace, Queue.DUE, now)

    def _canjoin(self, trace: Trace, other: Trace) -> bool:
        one, two = trace.group, other.group
        return one is not two and one.part == two.part == 1 and one.size + two.size <= self._most

    # ---- queues ----------------------------------------------------------------------------------

    def _take(self, group: Group, now: float) -> Job:
        group.changed = False
        for member in group.members.values():
            member.changed = False
            self._settle(member, now)
        beside = () if self._by_conversation else self.kin.beside(group, self._most)
        return Job.of(group, kept=True, beside=beside)

    def _settle(self, trace: Trace, now: float) -> None:
        """Put a trace where it waits once all that is held of it is written."""
        if trace.open and not trace.holds:
            self.queues.move(trace, Queue.BARE, now + self._bounds.idle_s)
        elif trace.open:
            self.queues.move(trace, Queue.STALE, math.inf)
        elif trace.awaited or trace.lasting:
            self.queues.move(trace, Queue.PAUSED, math.inf)
        else:
            self.queues.move(trace, Queue.WRITTEN, now + self._bounds.retain_s)

    # ---- bounds ----------------------------------------------------------------------------------

    def _mind_bounds(self, trace: Trace, now: float) -> None:
        bounds = self._bounds
        if trace.group.size > self._most:
            self._counts.add("trace_bound", "trace %s passed %d bytes and is written in parts", trace.id, self._most)
            self._turn_page(trace.group, [TRACE_BOUND], now)
        while self.held > bounds.trace_bytes and (oldest := self.queues.oldest()) is not None:
            self._evict(oldest, now)
        while self.waiting > bounds.waiting_bytes and len(self.jobs) > 1:
            self._drop_job()

    def _evict(self, trace: Trace, now: float) -> None:
        """Let go of a trace, and have it written before where it is not."""
        if trace.queue in SETTLED:
            self._release(trace.group)
        elif all(member.queue is Queue.DUE or member.queue in SETTLED for member in trace.group.members.values()):
            self._counts.add("grace_cut_short")
            self._turn_page(trace.group, [], now)
        else:
            words = "more than %d bytes are held: trace %s is written incomplete"
            self._counts.add("process_bound", words, self._bounds.trace_bytes, trace.id)
            self._turn_page(trace.group, [PROCESS_BOUND], now)

    def _turn_page(self, group: Group, reasons: Sequence[str], now: float) -> None:
        """Have the group's spans written as they stand, incomplete for `reasons`; what comes later is the next part."""
        job = Job.of(group, reasons, kept=False)
        self.jobs.append(job)
        self.held -= job.size
        self.waiting += job.size
        group.part += 1
        group.size, group.changed = 0, False
        for member in job.traces:
            self.past.put(member.id, member.spans)
            member.spans, member.logs, member.whole, member.size, member.changed = {}, [], set(), 0, False
            self._claims.put(member)
        self._release(group)
        for member in group.members.values():
            self._settle(member, now)

    def _drop_job(self) -> None:
        """Lose what the worker could not keep up with, and say so."""
        job = self.jobs.popleft()
        self.waiting -= job.size
        words = "writing does not keep up: spans of trace %s are lost"
        self._counts.add("spans_lost", words, job.trace_id, n=weight(job))

    def _let_go_expired(self, now: float) -> None:
        while (front := self.queues.first(Queue.WRITTEN)) is not None and front.deadline <= now:
            self._release(front.group)

    def _release(self, group: Group) -> None:
        """Forget what is written of a group, except which spans it had."""
        gone = [member for member in group.members.values() if member.queue in SETTLED]
        for member in gone:
            self._forget(member)
        if any(member.holds for member in gone):
            # the next document of the others would take the place of one that holds more
            group.part += 1
            for member in group.members.values():
                self._claims.put(member)

    def _forget(self, trace: Trace) -> None:
        self.queues.leave(trace)
        del self.traces[trace.id]
        del trace.group.members[trace.id]
        trace.group.size -= trace.size
        self.held -= trace.size
        self.kin.forget(trace)
        last_part = trace.group.part if trace.holds else trace.group.part - 1
        self.past.let_go(trace.id, last_part, trace.spans)
        self._claims.put(trace)
        self._tying.forget(trace, last_part)

    def _forget_open_spans(self, trace: Trace, now: float) -> None:
        words = "more than %d spans are open: those of trace %s are not waited for"
        self._counts.add("open_spans_forgotten", words, self._bounds.max_open_spans, trace.id, n=len(trace.open))
        self.open_spans -= len(trace.open)
        trace.open.clear()
        trace.forgotten = True
        if trace.holds:
            self.queues.move(trace, Queue.DUE, now + self._bounds.grace_s)
        else:
            self._settle(trace, now)
