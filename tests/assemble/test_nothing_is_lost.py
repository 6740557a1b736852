"""Whatever comes, in whatever order and whatever size: each span is in a document, or counted as lost."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from atifold.assemble import Assembler
from atifold.assemble.table import TraceTable
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


def _check(table: TraceTable) -> None:
    traces = table._traces
    assert table.held == sum(trace.size for trace in traces.values())
    assert table.waiting == sum(job.size for job in table._jobs)
    assert table._open_spans == sum(len(trace.open) for trace in traces.values())
    queued = {trace_id: queue for queue, waiting in table._queues.items() for trace_id in waiting}
    assert queued == {trace.id: trace.queue for trace in traces.values()}
    for trace in traces.values():
        assert sum(member is trace for member in trace.group) == 1
        assert all(member.group is trace.group for member in trace.group)
        assert all(traces[member.id] is member for member in trace.group)


@settings(max_examples=300, deadline=None)
@given(
    steps=st.lists(_STEPS, max_size=60),
    max_bytes=st.sampled_from([20_000, 64_000_000]),
    by_conversation=st.booleans(),
)
def test_each_span_is_in_a_document_or_counted_as_lost(
    parts: Any, steps: list[Any], max_bytes: int, *, by_conversation: bool
) -> None:
    """A document is never replaced by one that holds less, but for what another one took over."""
    shelf, clock = parts.shelf(), parts.clock()
    assembler = Assembler(
        parts.fold,
        shelf,
        clock=clock,
        max_bytes=max_bytes,
        max_trace_bytes=max_bytes // 4,
        max_open_spans=5,
        by_conversation=by_conversation,
    )
    assembler._wake = lambda: None  # type: ignore[method-assign]
    told: set[str] = set()
    for step in steps:
        match step:
            case ("open", (trace, n)):
                assembler.opened(trace, f"{trace}{n}", None if n == 0 else f"{trace}0")
            case ("close", (trace, n), size, tie):
                name = "gen_ai.conversation.id" if tie in ("s", "t") else "atifold.resumes.trace_id"
                attributes = {"text": "x" * size} | ({name: tie} if tie else {})
                span_id, parent = f"{trace}{n}", None if n == 0 else f"{trace}0"
                assembler.closed(Span(trace, span_id, parent, "agent", 1, 2, attributes=attributes))
                told.add(span_id)
            case ("wait", seconds):
                assembler._put_away()
                clock.now += seconds
                assembler._work_off()
            case ("flush", everything):
                assert assembler.flush(5, everything=everything)
        assembler._put_away()
        _check(assembler._table)
    assembler.shutdown(5)
    written = {span_id for page in shelf.pages.values() for span_id in page}
    counts = assembler.counts
    assert "internal_errors" not in counts
    assert len(told - written) <= counts.get("spans_lost", 0)
    assert written <= told
