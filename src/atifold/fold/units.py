"""Take a history apart into turns, and lay the turns of a request beside those that are known."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from atifold.calls import Message, ToolResponse
from atifold.fold.messages import (
    Mark,
    assistant_marks,
    response_marks,
    responses_of,
    user_marks,
    without_responses,
)

UnitKind = Literal["system", "user", "model", "results"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One turn of a history: a user's message, a run of the model's messages, a run of results."""

    kind: UnitKind
    messages: tuple[Message, ...] = ()
    responses: tuple[ToolResponse, ...] = ()

    @property
    def marks(self) -> set[Mark]:
        """Return the facts by which the unit is known again."""
        match self.kind:
            case "model":
                return assistant_marks(self.messages)
            case "results":
                return response_marks(self.responses)
            case _:
                return user_marks(self.messages[0])


def units_of(messages: Sequence[Message]) -> list[Unit]:
    """Return the turns of a history; a message that holds results and text is two turns."""
    units: list[Unit] = []
    for message in messages:
        responses = tuple(responses_of(message))
        if message.role == "assistant":
            extend(units, Unit("model", messages=(message,)))
        if responses:
            extend(units, Unit("results", responses=responses))
        rest = without_responses(message)
        if message.role not in ("assistant", "tool") and (rest or not responses):
            kind: UnitKind = "system" if message.role == "system" else "user"
            units.append(Unit(kind, messages=(Message(message.role, rest, message.name, message.origin),)))
    return units


def extend(units: list[Unit], unit: Unit) -> None:
    """Add a unit, as part of the last one where that is of the same kind."""
    if units and units[-1].kind == unit.kind:
        last = units.pop()
        unit = Unit(unit.kind, last.messages + unit.messages, last.responses + unit.responses)
    units.append(unit)


def is_shorter(units: Sequence[Unit], known: Sequence[Unit]) -> bool:
    """Tell whether a request holds fewer turns of the model than are known: it begins anew, or somewhere before."""
    return sum(unit.kind == "model" for unit in units) < sum(unit.kind == "model" for unit in known)


def leading_copies(units: Sequence[Unit]) -> int:
    """Return how many leading units end in a turn of the model or of its tools."""
    return max((at + 1 for at, unit in enumerate(units) if unit.kind in ("model", "results")), default=0)


def replayed(tail: Sequence[Unit], answer: Unit) -> int:
    """Return how many units of a tail are the last answer: up to its last telling, else the first turn."""
    if not tail or tail[0].kind != "model":
        return 0
    if not any(unit.kind == "model" for unit in tail[1:]):
        return 1
    marks = answer.marks
    if marks & tail[0].marks:
        return 1
    return max((at + 1 for at, unit in enumerate(tail) if unit.kind == "model" and marks & unit.marks), default=1)


def after_answer(known: Sequence[Unit]) -> int:
    """Return the place after the last turn of the model."""
    return next((at for at in range(len(known), 0, -1) if known[at - 1].kind == "model"), 0)


def aligned(units: Sequence[Unit], known: Sequence[Unit]) -> tuple[tuple[Unit, ...], list[Unit]]:
    """Return (the last answer as it was replayed, the units that are not known), in order.

    A unit is known when one of its marks stands at or after the place reached so far; a turn of the
    model or of its tools also when the known turn at that very place is of its kind: replays lose
    texts and change ids.
    """
    places: dict[tuple[UnitKind, Mark], list[int]] = defaultdict(list)
    for at, unit in enumerate(known):
        for mark in unit.marks:
            places[unit.kind, mark].append(at)
    at = 0
    news: list[Unit] = []
    replay: tuple[Unit, ...] = ()
    for unit in units:
        found = _next_place(places, unit, at)
        if found is None and at < len(known) and unit.kind in ("model", "results") and known[at].kind == unit.kind:
            found = at
        if found is None:
            news.append(unit)
        else:
            at = found + 1
        if unit.kind == "model":
            replay = () if found is None else (unit,)
    return (replay if at >= after_answer(known) else ()), news


def _next_place(places: dict[tuple[UnitKind, Mark], list[int]], unit: Unit, start: int) -> int | None:
    """Return the first place at or after `start` where one of a unit's marks stands."""
    found: int | None = None
    for mark in unit.marks:
        stands = places.get((unit.kind, mark), [])
        index = bisect_left(stands, start)
        if index < len(stands) and (found is None or stands[index] < found):
            found = stands[index]
    return found
