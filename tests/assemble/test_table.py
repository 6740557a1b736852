"""The table of traces alone: what it holds, what it remembers, and that its cost does not grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atifold.assemble.counts import Counts
from atifold.assemble.remembered import Remembered
from atifold.assemble.table import TraceTable
from atifold.assemble.trace import Queue
from atifold.spans import Span

A, B = "a" * 32, "b" * 32


def _close(table: TraceTable, trace_id: str, span_id: str, now: float = 0.0, *, root: bool = False, **of: Any) -> None:
    table.closed(Span(trace_id, span_id, None, "agent", 1, 2, attributes=of), 1000, now, root=root)


def _work_off(table: TraceTable, now: float = 0.0, **how: bool) -> list[str]:
    """Do all jobs, each to a document of its first trace's name, and return these."""
    done = []
    while (job := table.next_job(now, **how)) is not None:
        table.done(job, now, {job.trace_id}, paused=False)
        done.append(job.trace_id)
    return done


def test_a_worker_that_does_not_keep_up_loses_the_oldest_and_counts_it(table_of: Any) -> None:
    """Memory stays bounded whatever happens."""
    counts = Counts()
    table = table_of(counts=counts, max_bytes=40_000)
    for n in range(20):
        trace_id = f"{n:032x}"
        table.opened(trace_id, "root", 0.0, root=True)
        for span in range(8):
            _close(table, trace_id, f"{span}")
            assert table.held + table.waiting <= 40_000
    lost = counts.as_dict()["spans_lost"]
    spans = 0
    while (job := table.next_job(0.0, flush=True, everything=True)) is not None:
        table.done(job, 0.0, set(), paused=False)
        spans += len(job.spans)
    assert lost > 0
    assert spans + lost == 160


def test_what_is_let_go_leaves_nothing_but_what_is_remembered(table_of: Any) -> None:
    """A process that lives for years does not remember every trace."""
    table = table_of(remembered_ids=20)
    for n in range(50):
        _close(table, f"{n:032x}", "1", root=True)
    assert len(_work_off(table, 3.0)) == 50
    assert _work_off(table, 304.0) == []
    assert (table.traces, table.held) == ({}, 0)
    assert not any(table.queues.values())
    assert 0 < table.past.size <= 20
    assert table.knows(f"{49:032x}", "1")
    assert not table.knows(f"{0:032x}", "1")


def test_a_trace_in_many_parts_is_remembered_within_the_bound_too(table_of: Any) -> None:
    """Its lately written spans are known, its first ones are not any more."""
    table = table_of(max_trace_bytes=10_000, remembered_ids=100)
    table.opened(A, "root", 0.0, root=True)
    for n in range(500):
        _close(table, A, f"{n}")
        _work_off(table)
        assert table.past.size <= 111
    assert table.knows(A, "490")
    assert not table.knows(A, "0")


def test_a_span_that_was_written_brings_no_trace_back(table_of: Any) -> None:
    """Neither its start nor its end."""
    table = table_of()
    _close(table, A, "1", root=True)
    assert _work_off(table, 3.0) == [A]
    _work_off(table, 304.0)
    _close(table, A, "1", 305.0, root=True)
    table.opened(A, "1", 305.0, root=True)
    assert table.traces == {}
    assert table.open_spans == 0


def test_a_flush_takes_what_waits_for_its_root_past_what_is_open(table_of: Any) -> None:
    """Where a trace waits is where a flush looks for it."""
    table = table_of()
    table.opened(A, "1", 0.0, root=True)
    assert list(table.queues[Queue.BARE]) == [A]
    _close(table, A, "2")
    _close(table, B, "2")
    assert (list(table.queues[Queue.OPEN]), list(table.queues[Queue.ROOTLESS])) == ([A], [B])
    assert _work_off(table, flush=True) == [B]
    assert _work_off(table, flush=True, everything=True) == [A]
    assert (list(table.queues[Queue.STALE]), list(table.queues[Queue.WRITTEN])) == ([A], [B])


def test_a_document_is_stale_only_when_no_trace_stands_in_it(table_of: Any) -> None:
    """Two traces may claim one name; the last that gives it up makes it stale."""
    table = table_of()
    for trace_id in (A, B):
        _close(table, trace_id, "1", root=True)
        job = table.next_job(0.0, flush=True)
        assert table.done(job, 0.0, {"shared"}, paused=False) == set()
    for trace_id, stale in ((A, set()), (B, {"shared"})):
        _close(table, trace_id, "2", root=True)
        job = table.next_job(0.0, flush=True)
        assert table.done(job, 0.0, {trace_id}, paused=False) == stale


def test_remembered_spans_are_forgotten_oldest_first() -> None:
    """Of one trace as of many; a trace that was let go is known by its part as long as by its spans."""
    past = Remembered(6)
    past.put(A, ["1", "2"])
    past.put(A, ["3"])
    assert past.take_up(A) is None, "it was not let go"
    past.let_go(B, 4, ["1"])
    assert [past.knows(A, "1"), past.knows(A, "3"), past.knows(B, "1"), past.size] == [False, True, True, 4]
    assert past.take_up(B) == 4
    assert past.take_up(B) is None, "it goes on already"
    past.let_go(B, 5, ["2", "3", "4"])
    assert [past.knows(A, "3"), past.knows(B, "1"), past.knows(B, "2"), past.take_up(B)] == [False, True, True, 5]
    past.let_go(A, 1, map(str, range(10)))
    assert [past.size, past.knows(A, "0"), past.take_up(B)] == [11, True, None], "what came last is kept whole"


def _evicted(table: TraceTable, count: int) -> None:
    for n in range(count):
        _close(table, f"{n}", "2")
        _work_off(table)
    assert table.held <= 10_000


def _flushed(table: TraceTable, count: int) -> None:
    for n in range(count):
        table.opened(f"open{n}", "1", 0.0, root=True)
        _close(table, f"open{n}", "2")
        _close(table, f"{n}", "2")
    assert len(_work_off(table, flush=True)) == count


def _one_group(table: TraceTable, count: int) -> None:
    for n in range(count):
        _close(table, f"{n}", "1", **{"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "s"})
    assert len(_work_off(table, flush=True)) == 1


@pytest.mark.parametrize(("work", "max_bytes"), [(_evicted, 20_000), (_flushed, 64_000_000), (_one_group, 64_000_000)])
def test_the_cost_grows_with_the_spans_alone(
    table_of: Any,
    work: Callable[[TraceTable, int], None],
    max_bytes: int,
    lines_run: Callable[[Callable[[], None]], int],
) -> None:
    """Four times as many traces without room, open traces or members: four times the lines of Python that run."""

    def cost(count: int) -> int:
        table = table_of(max_bytes=max_bytes, by_conversation=True)
        return lines_run(lambda: work(table, count))

    cost(1)  # what is imported on first use
    assert cost(400) < 5 * cost(100)
