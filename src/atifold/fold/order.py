"""Put calls in order: by history first, then by time, and never by the order of the input.

Clocks lie (streams start late, all times may be equal), histories do not: a request that holds the
answer of another call came after it. Where no history speaks the order is start time floored to
the microsecond, the emitter's sequence number, nesting, span id.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from atifold.calls import Call, ModelCall
from atifold.fold.messages import Mark, assistant_marks, last_turn_marks
from atifold.times import microseconds

TimeKey = tuple[int, bool, int, int, str, str]
"""(start in µs, no sequence?, sequence, nesting, span id, trace id)."""

LOOK_BACK: Final = 64
"""How many messages of a request are searched for the answer that it continues."""


def time_key(call: Call, depth: int = 0) -> TimeKey:
    """Return where a call stands by its clock; ties are broken as the module says."""
    counted = call.sequence is not None
    return (microseconds(call.start_ns), not counted, call.sequence or 0, depth, call.key[1], call.key[0])


def history_length(call: ModelCall) -> int:
    """Return how many messages the model saw."""
    return call.input_base + len(call.input or ())


def last_answer(call: ModelCall) -> set[Mark]:
    """Return the marks of the model's last turn in a request's history; empty where there is none."""
    return last_turn_marks((call.input or ())[-LOOK_BACK:])


def by_history(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """Return model calls in order; `calls` must already be in order of time."""
    if _grows(calls):
        return list(calls)
    after = _followers(calls)
    if all(first < second for first, seconds in after.items() for second in seconds):
        return list(calls)
    waits = [0] * len(calls)
    for seconds in after.values():
        for second in seconds:
            waits[second] += 1
    ready = [index for index, count in enumerate(waits) if not count]
    heapq.heapify(ready)
    ordered: list[ModelCall] = []
    while ready:
        index = heapq.heappop(ready)
        ordered.append(calls[index])
        for second in after.get(index, ()):
            waits[second] -= 1
            if not waits[second]:
                heapq.heappush(ready, second)
    return ordered


def _grows(calls: Sequence[ModelCall]) -> bool:
    """Tell whether times and histories agree: each call later than the one before, and its history longer."""
    lengths = [history_length(call) for call in calls]
    pairs = zip(calls, calls[1:], lengths, lengths[1:])  # noqa: B905  the last call has no follower
    return all(one.start_ns < two.start_ns and short < long for one, two, short, long in pairs)


def _followers(calls: Sequence[ModelCall]) -> dict[int, list[int]]:
    """Return, by index, the calls that continue each call.

    A follower's history is longer than that of the call it follows: so there are no rings.
    """
    said: dict[Mark, list[tuple[int, int]]] = defaultdict(list)
    for index, call in enumerate(calls):
        for mark in assistant_marks(call.output or ()):
            said[mark].append((history_length(call), index))
    for places in said.values():
        places.sort()
    after: dict[int, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        asker = _said_before(said, last_answer(call), history_length(call))
        if asker is not None:
            after[asker].append(index)
    return after


def _said_before(said: Mapping[Mark, list[tuple[int, int]]], marks: set[Mark], length: int) -> int | None:
    """Return the call with the longest history, shorter than `length`, that said one of the marks."""
    found: tuple[int, int] | None = None
    for mark in marks:
        places = said.get(mark, [])
        at = bisect_left(places, (length, -1))
        if at and (found is None or places[at - 1] > found):
            found = places[at - 1]
    return None if found is None else found[1]
