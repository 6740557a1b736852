"""What an assembler holds, handed on to another one."""

from __future__ import annotations

from typing import Any

A, B = "a" * 32, "b" * 32


def _handed_on(desk: Any, desk_of: Any, **bounds: Any) -> Any:
    """Stop a desk; return another one that goes on with what it held, and has its shelf."""
    written = desk.assembler.flush(5, everything=True)
    held = desk.assembler.carried(written=written)
    desk.assembler.shutdown(5)
    after = desk_of(**bounds)
    after.shelf.pages.update(desk.shelf.pages)
    after.assembler.resume(held)
    return after


def test_what_is_written_is_not_written_again_until_more_comes(desk_of: Any) -> None:
    """Then with all spans, those that the first server had too."""
    desk = desk_of()
    desk.end(A, "2", "1")
    after = _handed_on(desk, desk_of)
    assert (desk.shelf.pages, desk.shelf.reasons) == ({A: ["2"]}, {A: []})
    after.turn(30)
    assert after.shelf.writes == []
    after.end(A, "1")
    after.turn(3)
    assert (after.shelf.pages, after.shelf.reasons) == ({A: ["1", "2"]}, {A: []})


def test_a_span_that_comes_again_changes_nothing(desk_of: Any) -> None:
    """The first server had it."""
    desk = desk_of()
    desk.end(A, "2", "1")
    desk.end(A, "1")
    after = _handed_on(desk, desk_of)
    after.end(A, "1")
    after.turn(3)
    assert after.shelf.writes == []
    assert after.shelf.pages == {A: ["1", "2"]}


def test_a_paused_leg_waits_for_the_one_that_resumes_it(desk_of: Any) -> None:
    """However long; then both are one document, and the first one's is taken back."""
    desk = desk_of()
    desk.end(B, "1", None, "agent paused")
    after = _handed_on(desk, desk_of, retain_s=5.0)
    after.turn(1000)
    after.end(A, "2", None, "agent resumed", **{"atifold.resumes.trace_id": B})
    after.turn(3)
    assert after.shelf.pages == {A: ["1", "2"]}


def test_what_could_not_be_written_is_written_by_the_next(desk_of: Any) -> None:
    """Without a further span."""
    desk = desk_of()
    desk.shelf.broken = True
    desk.end(A, "1")
    after = _handed_on(desk, desk_of)
    after.turn(3)
    assert after.shelf.pages == {A: ["1"]}


def test_parts_go_on_counting(desk_of: Any) -> None:
    """A trace whose first part was let go before."""
    desk = desk_of(max_trace_bytes=3_000)
    desk.end(A, "2", "1", text="x" * 4_000)
    desk.turn(0)
    desk.end(A, "3", "1")
    after = _handed_on(desk, desk_of)
    after.end(A, "1")
    after.turn(3)
    assert after.shelf.pages == {A: ["2"], f"{A}.part2": ["1", "3"]}


def test_it_is_let_go_after_its_time(desk_of: Any) -> None:
    """As if it had been written here."""
    desk = desk_of()
    desk.end(A, "1")
    after = _handed_on(desk, desk_of, retain_s=5.0)
    assert after.assembler.held.traces > 0
    after.turn(6)
    assert after.assembler.held.traces == 0
