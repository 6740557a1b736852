"""When a trace is whole, what reopens it, and which traces are one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atifold.assemble import Assembler
from atifold.assemble.sizes import TRACE, size_of
from atifold.spans import Span

A, B, C = "a" * 32, "b" * 32, "c" * 32


def test_a_trace_is_written_after_its_grace_and_not_before(desk_of: Any) -> None:
    """The root ended, and two seconds are for late spans."""
    desk = desk_of(grace_s=2.0)
    desk.start(A, "1")
    desk.start(A, "2", "1")
    desk.end(A, "2", "1", "tool")
    desk.end(A, "1")
    desk.turn(1.9)
    assert desk.shelf.pages == {}
    desk.turn(0.2)
    assert desk.shelf.pages == {A: ["1", "2"]}
    assert desk.shelf.reasons[A] == []


def test_a_trace_with_an_open_span_is_not_whole(desk_of: Any) -> None:
    """A child that outlives the root is waited for."""
    desk = desk_of(grace_s=2.0)
    desk.start(A, "1")
    desk.start(A, "2", "1")
    desk.end(A, "1")
    desk.turn(10)
    assert desk.shelf.pages == {}
    desk.end(A, "2", "1", "tool")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "2"]}


def test_a_late_span_reopens_its_trace(desk_of: Any) -> None:
    """The document is written again under its name."""
    desk = desk_of(grace_s=2.0)
    desk.end(A, "1")
    desk.turn(3)
    desk.end(A, "2", "1", "tool")
    desk.turn(3)
    assert desk.shelf.writes == [A, A]
    assert desk.shelf.pages == {A: ["1", "2"]}


def test_the_first_record_of_a_span_counts(desk_of: Any) -> None:
    """The side door's whole record comes first, the processor's poorer one changes nothing."""
    desk = desk_of(grace_s=2.0)
    desk.start(A, "1")
    desk.end(A, "1", name="agent")
    desk.end(A, "1", name="cut")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1"]}
    desk.end(A, "1", name="cut")
    desk.turn(3)
    assert desk.shelf.writes == [A], "a duplicate reopens nothing"


def test_an_exporter_hears_of_no_starts_and_the_root_says_when_a_trace_is_whole(desk_of: Any) -> None:
    """Children alone wait for their root, whatever the grace."""
    desk = desk_of(grace_s=2.0, idle_s=60.0)
    desk.end(A, "2", "1", "agent")
    desk.turn(10)
    assert desk.shelf.pages == {}
    desk.end(A, "1", None, "http")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "2"]}


def test_a_root_whose_parent_is_remote_is_a_root(desk_of: Any) -> None:
    """The caller's span is in another process and never comes."""
    desk = desk_of(grace_s=2.0)
    desk.assembler.closed(desk.span(A, "1", "f"), remote_parent=True)
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1"]}
    assert desk.shelf.reasons[A] == []


def test_a_trace_without_a_root_is_written_when_nothing_comes_any_more(desk_of: Any) -> None:
    """That the root is missing the fold itself sees; the root makes it whole afterwards."""
    desk = desk_of(grace_s=2.0, idle_s=60.0)
    desk.end(A, "2", "1", "agent")
    desk.turn(59)
    assert desk.shelf.pages == {}
    desk.turn(2)
    assert desk.shelf.pages == {A: ["2"]}
    desk.end(A, "1", None, "http")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "2"]}


def test_an_agent_that_waits_long_is_written_as_it_stands_and_goes_on(desk_of: Any) -> None:
    """A tool that takes an hour leaves one document in the end, never two parts."""
    desk = desk_of(grace_s=2.0, idle_s=60.0, retain_s=300.0)
    desk.start(A, "1")
    desk.end(A, "2", "1", "tool")
    desk.end(A, "4", "1", "agent inner")
    desk.turn(61)
    assert desk.shelf.reasons == {A: ["open_spans"]}
    desk.turn(3600)
    desk.end(A, "1")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "2", "4"]}
    assert desk.shelf.reasons == {A: []}


def test_a_caller_that_the_sampler_dropped_is_not_waited_for(desk_of: Any) -> None:
    """Where starts are told, a trace is whole when all that started has ended."""
    desk = desk_of(grace_s=2.0)
    desk.start(A, "2", "1")
    desk.end(A, "2", "1", "agent")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["2"]}
    assert desk.shelf.reasons[A] == []


def test_a_resumed_leg_rewrites_the_paused_document(desk_of: Any) -> None:
    """However long the pause was, as long as the bytes are there."""
    desk = desk_of(grace_s=2.0, retain_s=300.0)
    desk.end(A, "1", None, "agent paused")
    desk.turn(3)
    desk.turn(7200)
    desk.end(B, "2", None, "agent resumed", **{"atifold.resumes.trace_id": A})
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "2"]}
    desk.turn(301)
    desk.end(A, "3", "1", "agent late")
    desk.end(B, "4", "2", "agent late")
    desk.turn(61)
    parts = {f"{A}.part2": ["3"], f"{B}.part2": ["4"]}
    assert desk.shelf.pages == {A: ["1", "2"], **parts}, "a finished pair is let go like any other trace"


def test_a_resumed_leg_that_comes_before_the_paused_one_is_tied_too(desk_of: Any) -> None:
    """The document that it had alone is taken back."""
    desk = desk_of(grace_s=2.0)
    desk.end(B, "2", None, "agent resumed", **{"atifold.resumes.trace_id": A})
    desk.turn(3)
    assert set(desk.shelf.pages) == {B}
    desk.end(A, "1", None, "agent paused")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "2"]}
    assert desk.assembler.counts["documents_replaced"] == 1


@pytest.mark.parametrize(
    "turn",
    [
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "s"},
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.session.id": "s"},
        {"openinference.span.kind": "AGENT", "session.id": "s"},
        {"openinference.span.kind": "AGENT", "metadata": '{"thread_id": "s"}'},
    ],
)
def test_turns_of_a_conversation_are_one_fold_only_when_asked(desk_of: Any, turn: dict[str, str]) -> None:
    """Groups are traces unless said otherwise."""
    for by_conversation, pages in ((False, {A: ["1"], B: ["2"]}), (True, {A: ["1", "2"]})):
        desk = desk_of(grace_s=2.0, by_conversation=by_conversation)
        desk.end(A, "1", **turn)
        desk.turn(3)
        desk.turn(7200)
        desk.end(B, "2", **turn)
        desk.end(C, "3", name="http")
        desk.turn(3)
        assert desk.shelf.pages == pages


def test_a_written_trace_is_let_go_and_a_span_after_that_is_a_part_of_its_own(desk_of: Any) -> None:
    """The whole document is never replaced by the rest alone."""
    desk = desk_of(grace_s=2.0, retain_s=300.0)
    desk.end(A, "1")
    desk.turn(3)
    desk.turn(301)
    desk.end(A, "1")
    desk.end(A, "2", "1", "agent late")
    desk.turn(61)
    assert desk.shelf.pages == {A: ["1"], f"{A}.part2": ["2"]}
    assert "earlier_part" in desk.shelf.reasons[f"{A}.part2"]


def test_flush_waits_for_no_grace_and_leaves_open_traces_open(desk_of: Any) -> None:
    """What has an open span is written by a flush of everything only."""
    desk = desk_of(grace_s=2.0)
    desk.end(A, "1")
    desk.start(B, "2")
    desk.end(B, "3", "2", "agent inner")
    assert desk.assembler.flush(5)
    assert set(desk.shelf.pages) == {A}
    assert desk.assembler.flush(5, everything=True)
    assert desk.shelf.reasons == {A: [], B: ["open_spans"]}
    desk.end(B, "2")
    assert desk.assembler.flush(5)
    assert desk.shelf.pages[B] == ["2", "3"]
    assert desk.shelf.reasons[B] == []


@given(st.permutations(list(range(8))), st.lists(st.integers(0, 8), max_size=4))
def test_order_pauses_and_doubles_change_nothing(parts: Any, order: list[int], pauses: list[int]) -> None:
    """Any order of two tied traces, with time passing anywhere, ends in the same page."""
    spans = [Span(A, str(n), None if n == 0 else "0", "agent paused", 1, 2) for n in range(4)]
    tie = {"atifold.resumes.trace_id": A}
    spans += [Span(B, str(n), None if n == 4 else "4", "agent resumed", 1, 2, attributes=tie) for n in range(4, 8)]
    shelf, clock = parts.shelf(), parts.clock()
    assembler = Assembler(parts.fold, shelf, parts.bounds(), clock=clock, worker=False)
    for position, n in enumerate(order):
        assembler.closed(spans[n])
        assembler.closed(spans[n])
        if position in pauses:
            clock.now += 3
            assembler.turn()
    assert assembler.shutdown(5)
    assert shelf.pages == {A: [str(n) for n in range(8)]}


@pytest.mark.parametrize("spans", [0, 1, 5])
def test_traces_without_an_agent_leave_nothing_behind(desk_of: Any, spans: int) -> None:
    """A web server's own traces are folded to nothing, and let go."""
    desk = desk_of(grace_s=2.0, retain_s=300.0)
    for n in range(spans):
        desk.end(A, str(n), None, "http")
    desk.turn(3)
    desk.turn(301)
    assert desk.shelf.writes == []
    desk.end(A, "late", None)
    desk.turn(3)
    assert set(desk.shelf.pages) == {f"{A}.part2" if spans else A}


@pytest.mark.parametrize("written_between", [False, True])
def test_a_whole_record_takes_the_place_of_a_bare_one(desk_of: Any, *, written_between: bool) -> None:
    """Whichever came first, also where the bare one is in a document already; of two whole ones the first counts."""
    desk = desk_of()
    bare, whole = desk.span(A, "1"), desk.span(A, "1", name="agent whole", text="x" * 5000)
    desk.assembler.closed(bare)
    if written_between:
        desk.turn(61)
        assert desk.shelf.pages == {A: ["1"]}
    desk.assembler.closed(whole, whole=True)
    desk.assembler.closed(bare)
    desk.assembler.closed(desk.span(A, "1", name="boom"), whole=True)
    assert desk.assembler.flush()
    assert desk.shelf.writes == [A] * (1 + written_between)
    (held,) = desk.assembler._table.traces[A].spans.values()
    assert held is whole
    assert desk.assembler._table.held == size_of(whole) + TRACE
    assert desk.assembler._table.traces[A].size == desk.assembler._table.held


def test_a_whole_record_of_a_span_that_is_let_go_changes_nothing(desk_of: Any) -> None:
    """Its document is written and its part is over."""
    desk = desk_of(retain_s=1)
    desk.end(A, "1")
    desk.turn(61)
    desk.turn(61)
    desk.assembler.closed(desk.span(A, "1", name="agent whole"), whole=True)
    desk.turn(61)
    assert desk.shelf.writes == [A]
