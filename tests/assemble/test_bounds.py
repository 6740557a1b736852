"""What happens when more comes than may be held."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from atifold.assemble.sizes import size_of
from atifold.spans import Link, Span, SpanEvent

A, B, C = "a" * 32, "b" * 32, "c" * 32
KILOBYTE = "x" * 1000


def _fill(desk: Any, trace_id: str, first: int, count: int) -> None:
    for n in range(first, first + count):
        desk.end(trace_id, f"{n}", "root", "agent step", text=KILOBYTE)


def test_a_trace_beyond_its_bound_is_written_in_parts_and_nothing_is_lost(
    desk_of: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Each part says so, and every span is in one of them."""
    desk = desk_of(max_trace_bytes=20_000)
    desk.start(A, "root")
    with caplog.at_level(logging.WARNING, "atifold"):
        for batch in range(5):
            _fill(desk, A, batch * 10, 10)
            desk.turn(0)
        desk.end(A, "root")
        desk.turn(3)
    pages = desk.shelf.pages
    assert len(pages) > 2
    assert sorted(id_ for page in pages.values() for id_ in page) == sorted(["root", *map(str, range(50))])
    assert desk.shelf.reasons[A] == ["trace_bound", "open_spans"]
    assert "earlier_part" in desk.shelf.reasons[f"{A}.part2"]
    assert desk.assembler.counts["trace_bound"] == len(pages) - 1
    assert [record.getMessage().count(A) for record in caplog.records] == [1], "said once"


def test_the_oldest_written_trace_goes_first_when_the_process_is_full(desk_of: Any) -> None:
    """It is on disk already: nothing is incomplete."""
    desk = desk_of(max_bytes=60_000)
    for trace_id in (A, B):
        _fill(desk, trace_id, 0, 8)
        desk.end(trace_id, "root")
        desk.turn(3)
    _fill(desk, C, 0, 8)
    desk.end(C, "root")
    desk.turn(3)
    assert [len(page) for page in desk.shelf.pages.values()] == [9, 9, 9]
    for trace_id in (C, B, A):
        desk.end(trace_id, "late", "root", "agent late")
        desk.turn(61)
    sizes = {name: len(page) for name, page in desk.shelf.pages.items()}
    assert sizes == {A: 9, B: 10, C: 10, f"{A}.part2": 1}, "only the first had been let go"
    assert "process_bound" not in desk.assembler.counts


def test_the_oldest_open_trace_is_written_incomplete_when_the_process_is_full(desk_of: Any) -> None:
    """Written and said, not dropped; what comes of it later is its next part."""
    desk = desk_of(max_bytes=70_000)
    for trace_id in (A, B, C):
        desk.start(trace_id, "root")
        _fill(desk, trace_id, 0, 8)
        desk.turn(0)
    assert desk.shelf.reasons == {A: ["process_bound", "open_spans"]}
    for trace_id in (A, B, C):
        desk.end(trace_id, "root")
    desk.turn(3)
    assert {name: len(page) for name, page in desk.shelf.pages.items()} == {A: 8, f"{A}.part2": 1, B: 9, C: 9}
    assert desk.assembler.counts["process_bound"] == 1


def test_finished_traces_are_written_whole_and_at_once_when_the_process_is_full(desk_of: Any) -> None:
    """Their grace is cut short, before any open trace is touched; a late span is the next part."""
    desk = desk_of(max_bytes=70_000)
    desk.start(A, "root")
    _fill(desk, A, 0, 8)
    for trace_id in (B, C):
        desk.start(trace_id, "root")
        _fill(desk, trace_id, 0, 8)
        desk.end(trace_id, "root")
    desk.turn(0)
    assert desk.shelf.reasons == {B: []}
    assert len(desk.shelf.pages[B]) == 9
    desk.end(A, "root")
    desk.end(B, "late", "root", "agent late")
    desk.turn(61)
    assert {name: len(page) for name, page in desk.shelf.pages.items()} == {A: 9, B: 9, C: 9, f"{B}.part2": 1}
    assert "process_bound" not in desk.assembler.counts
    assert desk.assembler.counts["grace_cut_short"] == 1


def test_what_was_told_in_one_go_is_not_lost_while_the_sink_keeps_up(desk_of: Any) -> None:
    """Urgent work is done before more is put away, by the worker and by a flush."""
    for flushed in (False, True):
        desk = desk_of(max_bytes=80_000)
        names = [f"{n:032x}" for n in range(1, 26)]
        for name in names:
            desk.end(name, "root", text=KILOBYTE * 5)
        if flushed:
            assert desk.assembler.flush()
        else:
            desk.turn(3)
        assert desk.shelf.reasons == {name: [] for name in names}
        assert "spans_lost" not in desk.assembler.counts


def test_a_finished_trace_that_is_tied_to_an_open_one_is_written_incomplete(desk_of: Any) -> None:
    """What is folded together waits together; its page says why it is not whole."""
    desk = desk_of(max_bytes=70_000)
    _fill(desk, A, 0, 8)
    desk.end(A, "root")
    desk.start(B, "root")
    desk.end(B, "0", "root", "agent step", **{"atifold.resumes.trace_id": A}, text=KILOBYTE)
    _fill(desk, C, 0, 12)
    desk.turn(0)
    assert desk.shelf.reasons[A] == ["process_bound", "open_spans"]


def test_too_many_open_spans_are_not_waited_for(desk_of: Any) -> None:
    """Spans that a program never ends do not fill its memory."""
    desk = desk_of(max_open_spans=10)
    desk.end(A, "0", "1", "agent inner")
    for n in range(1, 11):
        desk.start(A, f"{n}", None)
    desk.turn(3)
    assert desk.shelf.pages == {}
    desk.start(B, "1")
    desk.turn(3)
    assert desk.shelf.reasons == {A: ["open_spans"]}
    assert desk.assembler.counts["open_spans_forgotten"] == 10


def test_sizes_grow_with_what_a_span_holds() -> None:
    """Texts anywhere in it count, within a tenth of their length."""
    bare = size_of(Span(A, "1", None, "n", 1, 2))
    for held in (
        Span(A, "1", None, "n", 1, 2, attributes={"k": "x" * 10_000}),
        Span(A, "1", None, "n", 1, 2, attributes={"k": [{"deep": ["x" * 10_000]}]}),
        Span(A, "1", None, "n", 1, 2, attributes={"k": b"x" * 10_000}),
        Span(A, "1", None, "n", 1, 2, events=(SpanEvent("e", 1, {"k": "x" * 10_000}),)),
        Span(A, "1", None, "n", 1, 2, links=(Link(B, "1", {"k": "x" * 10_000}),)),
        Span(A, "1", None, "n", 1, 2, status_message="x" * 10_000),
    ):
        assert 10_000 <= size_of(held) - bare <= 11_000


def test_what_nobody_puts_away_is_bounded_in_number_and_in_bytes(desk_of: Any) -> None:
    """Where the worker does not get to it, the program's own thread does its work."""
    desk = desk_of()
    most = 0
    for n in range(5000):
        desk.start(A, f"{n}")
        most = max(most, desk.assembler.waiting)
    assert most < 1100
    desk = desk_of(max_bytes=4_000_000)
    most = 0
    for n in range(500):
        desk.end(A, f"{n}", "root", text="x" * 20_000)
        most = max(most, desk.assembler.waiting)
    assert most < 100
