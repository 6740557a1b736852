"""Whatever comes, in whatever order and whatever size: each span is in a document, or counted as lost."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from atifold.assemble import Assembler
from atifold.assemble.sizes import size_of
from atifold.assemble.table import TraceTable
from atifold.assemble.trace import Job, Queue, Trace
from atifold.spans import Span

_TRACES = "abcd"
_SPANS = st.tuples(st.sampled_from(_TRACES), st.integers(0, 9))
_STEPS = st.one_of(
    st.tuples(st.just("open"), _SPANS),
    st.tuples(
        st.just("close"), _SPANS, st.sampled_from([0, 0, 0, 500, 3000]), st.sampled_from(["", *_TRACES, "s", "t"])
    ),
    st.tuples(st.just("wait"), st.sampled_from([0.5, 3.0, 70.0, 400.0])),
    st.tuples(st.just("flush"), st.booleans()),
)


_STEP_LISTS = st.lists(_STEPS, max_size=60)
_MAX_BYTES = st.sampled_from([20_000, 64_000_000])

_MOST_OF_A_PAGE = 60
"""What one page of all traces can bring to remember: 40 spans, and an entry or two of each trace and key."""


def _span(trace: str, n: int, size: int, tie: str) -> Span:
    """Return a span of text that may name the trace that its own one resumes, or a conversation."""
    attributes = {"text": "x" * size}
    if tie in ("s", "t"):
        attributes |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": tie}
    elif tie:
        attributes |= {"atifold.resumes.trace_id": tie}
    return Span(trace, f"{trace}{n}", None if n == 0 else f"{trace}0", "agent", 1, 2, attributes=attributes)


@settings(max_examples=300, deadline=None)
@given(steps=_STEP_LISTS, max_bytes=_MAX_BYTES, by_conversation=st.booleans())
def test_each_span_is_in_a_document_or_counted_as_lost(
    parts: Any, steps: list[Any], max_bytes: int, *, by_conversation: bool
) -> None:
    """A document is never replaced by one that holds less, but for what another one took over."""
    shelf, clock = parts.shelf(), parts.clock()
    bounds = parts.bounds(max_bytes=max_bytes, max_trace_bytes=max_bytes // 4, max_open_spans=5)
    assembler = Assembler(parts.fold, shelf, bounds, by_conversation=by_conversation, clock=clock, worker=False)
    told: set[str] = set()
    for step in steps:
        match step:
            case ("open", (trace, n)):
                assembler.opened(trace, f"{trace}{n}", None if n == 0 else f"{trace}0")
            case ("close", (trace, n), size, tie):
                assembler.closed(_span(trace, n, size, tie))
                told.add(f"{trace}{n}")
            case ("wait", seconds):
                clock.now += seconds
                assembler.turn()
            case ("flush", everything):
                assert assembler.flush(5, everything=everything)
    assembler.shutdown(5)
    written = {span_id for page in shelf.pages.values() for span_id in page}
    counts = assembler.counts
    assert "internal_errors" not in counts
    assert len(told - written) <= counts.get("spans_lost", 0)
    assert written <= told


def _check(table: TraceTable, taken: int = 0) -> None:
    """Check that what the table says of its traces, twice or in sums, agrees; `taken` bytes are being folded."""
    traces = table.traces
    assert table.held == sum(trace.size for trace in traces.values())
    assert table.waiting == taken + sum(job.size for job in table.jobs)
    assert table.open_spans == sum(len(trace.open) for trace in traces.values())
    queued = {trace_id: queue for queue, waiting in table.queues.items() for trace_id in waiting}
    assert queued == {trace.id: trace.queue for trace in traces.values()}
    for queue, waiting in table.queues.items():
        deadlines = [trace.deadline for trace in waiting.values()]
        assert deadlines == sorted(deadlines)
        for trace in waiting.values():
            _check_waiting(trace, queue)
    for trace in traces.values():
        group = trace.group
        assert group.members[trace.id] is trace
        assert all(traces[member.id] is member and member.group is group for member in group.members.values())
        assert group.size == sum(member.size for member in group.members.values())
        assert group.changed == any(member.changed for member in group.members.values())


def _check_waiting(trace: Trace, queue: Queue) -> None:
    """Check that a trace waits where traces of its kind do."""
    assert bool(trace.open) == (queue in (Queue.BARE, Queue.OPEN, Queue.STALE))
    assert not (queue is Queue.BARE and trace.spans)
    assert trace.spans or queue in (Queue.BARE, Queue.WRITTEN, Queue.PAUSED)
    assert not (trace.changed and queue in (Queue.STALE, Queue.WRITTEN, Queue.PAUSED))


@settings(max_examples=300, deadline=None)
@given(
    steps=_STEP_LISTS,
    max_bytes=_MAX_BYTES,
    by_conversation=st.booleans(),
    ids=st.sampled_from([10, _MOST_OF_A_PAGE, 50_000]),
)
def test_the_table_s_sums_and_queues_agree_with_its_traces(
    parts: Any, table_of: Any, steps: list[Any], max_bytes: int, *, by_conversation: bool, ids: int
) -> None:
    """After each call, whatever came before."""
    now, names = 1000.0, itertools.count()
    table = table_of(
        max_bytes=max_bytes,
        max_trace_bytes=max_bytes // 4,
        max_open_spans=5,
        remembered_ids=ids,
        by_conversation=by_conversation,
    )
    for step in steps:
        how: dict[str, bool] | None = {}
        match step:
            case ("open", (trace, n)):
                table.opened(trace, f"{trace}{n}", now, root=n == 0)
                how = None
            case ("close", (trace, n), size, tie):
                span = _span(trace, n, size, tie)
                newest = table.jobs[-1] if table.jobs else None
                table.closed(span, size_of(span), now, root=n == 0)
                page_turned = bool(table.jobs) and table.jobs[-1] is not newest
                assert table.knows(trace, f"{trace}{n}") or (page_turned and ids < _MOST_OF_A_PAGE)
                how = None
            case ("wait", seconds):
                now += seconds
            case ("flush", everything):
                how = {"flush": True, "everything": everything}
        _check(table)
        while how is not None and (job := table.next_job(now, **how)) is not None:
            _check_done(table, job, now, next(names))
        assert table.past.size <= ids + 11
    while (job := table.next_job(now, flush=True, everything=True)) is not None:
        _check_done(table, job, now, 0)
    assert table.unwritten_spans() == 0


def _check_done(table: TraceTable, job: Job, now: float, number: int) -> None:
    """Have a job done, with another name now and then."""
    _check(table, 0 if job.kept else job.size)
    table.done(job, now, {f"{job.trace_id}{number % 3}"}, paused=number % 4 == 0)
    _check(table)
