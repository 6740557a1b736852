"""Which traces at hand may be of one history, by the facts of their folds."""

from __future__ import annotations

from atifold.assemble.kin import MOST, Kin
from atifold.assemble.trace import Group, Queue, Trace
from atifold.fold.kinship import Kinship


def _trace(name: str) -> Trace:
    trace = Trace(name, Group(), queue=Queue.WRITTEN)
    trace.group.members[name] = trace
    return trace


def _kinship(gives: set[int], takes: set[int]) -> list[Kinship]:
    return [Kinship(frozenset(gives), frozenset(takes))]


def test_one_that_gives_what_another_takes_is_its_kin_and_two_givers_are_not() -> None:
    """Whichever comes first; and each pair is told once."""
    kin, one, two, other = Kin(), _trace("1"), _trace("2"), _trace("3")
    assert list(kin.note(one, _kinship({1}, set()))) == []
    assert list(kin.note(other, _kinship({1}, set()))) == []
    assert set(kin.note(two, _kinship({2}, {1}))) == {one, other}
    assert list(kin.note(one, _kinship({1}, {2}))) == []
    assert [trace.id for trace in kin.beside(one.group, 100)] == ["2", "3"]


def test_what_is_not_written_yet_or_too_large_is_not_folded_beside() -> None:
    """It comes when it is written; what does not fit is left out."""
    kin, one, two = Kin(), _trace("1"), _trace("2")
    kin.note(one, _kinship({1}, set()))
    kin.note(two, _kinship(set(), {1}))
    two.group.size = 50
    assert kin.beside(one.group, 40) == []
    two.group.changed = True
    assert kin.beside(one.group, 100) == []
    two.group.changed = False
    assert kin.beside(one.group, 100) == [two]


def test_of_very_many_with_one_fact_the_latest_count() -> None:
    """And what was let go is nobody's kin any more."""
    kin, traces = Kin(), [_trace(f"{number:02}") for number in range(3 * MOST)]
    for trace in traces:
        kin.note(trace, _kinship({1}, {1}))
    assert set(kin.note(_trace("x"), _kinship(set(), {1}))) == set(traces[-MOST:])
    for trace in traces:
        kin.forget(trace)
    assert list(kin.note(_trace("y"), _kinship(set(), {1}))) == []
