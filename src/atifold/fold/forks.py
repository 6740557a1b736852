"""Tell histories apart that begin with the same message and take turns: by the last answer that a request shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Generic, TypeVar

from atifold.calls import Message
from atifold.fold.messages import Mark, last_turn_marks

LaneT = TypeVar("LaneT")
_MOST: Final = 8
"""How many histories with one answer are looked at, the latest."""


class Forks(Generic[LaneT]):
    """An index of the histories that begin with one message, by what the model said in them."""

    def __init__(self) -> None:
        """Start with none."""
        self._by_answer: dict[Mark, list[LaneT]] = {}

    def note(self, lane: LaneT, marks: Iterable[Mark]) -> None:
        """Note that a history holds an answer."""
        for mark in marks:
            lanes = self._by_answer.setdefault(mark, [])
            if lane in lanes:
                lanes.remove(lane)
            lanes.append(lane)
            del lanes[:-_MOST]

    def candidates(self, body: Sequence[Message]) -> list[LaneT]:
        """Return the histories that hold the last answer which a request shows, the latest first."""
        found = [lane for mark in last_turn_marks(body) for lane in reversed(self._by_answer.get(mark, []))]
        return [lane for at, lane in enumerate(found) if lane not in found[:at]]
