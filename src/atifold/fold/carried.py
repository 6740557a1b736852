"""Tell by messages alone which trace carries on which, for traces that name no conversation.

A trace carries on an earlier one when its first request begins with all that the earlier one's last
request held (instructions and user texts; what stands between them frameworks shorten) and with the
answer to it. That counts only where it is plain: one history that ends so, one trace that goes on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from atifold.calls import Call, Message, ModelCall, ToolCall
from atifold.fold.messages import Mark, assistant_marks, body_of, system_texts, user_marks, without_responses
from atifold.fold.order import LOOK_BACK, last_answer, time_key
from atifold.spans import SpanKey

_Told = tuple[tuple[str, ...], tuple[Mark, ...], Mark]
"""A history by its instructions, its user texts, and one mark of the answer to them."""


class _Line(NamedTuple):
    """The first and the last model call of a trace that no tool ran, and what their histories are known by."""

    first: ModelCall
    last: ModelCall
    opening: frozenset[_Told]
    end: frozenset[_Told]


@dataclass(slots=True)
class Carried:
    """What messages tell of traces.

    `into` gives the group that another one is part of; `joined` are the traces that were joined so, `doubtful`
    those that share a history with others, without it being plain which carries on which.
    """

    into: dict[str, str] = field(default_factory=dict[str, str])
    joined: set[str] = field(default_factory=set[str])
    doubtful: set[str] = field(default_factory=set[str])

    def group(self, name: str) -> str:
        """Return the group that a group is part of in the end."""
        while name in self.into:
            name = self.into[name]
        return name


def carried(by_trace: Mapping[str, Sequence[Call]], groups: Mapping[str, str], named: Iterable[str]) -> Carried:
    """Return which traces carry on which; `groups` says of each what is known without it, `named` those of an id."""
    lines = _lines(by_trace)
    ends: dict[_Told, list[str]] = defaultdict(list)
    claims: dict[_Told, set[str]] = defaultdict(set)
    for trace, line in lines.items():
        for told in line.end:
            ends[told].append(trace)
        for told in line.opening:
            claims[told].add(groups[trace])
    found, fixed = Carried(), set(named)
    for trace, line in sorted(lines.items(), key=lambda item: time_key(item[1].first)):
        before = {one for told in line.opening for one in ends.get(told, ()) if _is_before(lines[one], line)}
        own, homes = found.group(groups[trace]), {found.group(groups[one]) for one in before}
        if not homes or own in homes or (own in fixed and homes <= fixed):
            continue
        if len(homes) > 1 or any(len(claims[told]) > 1 for told in line.opening):
            found.doubtful.add(trace)
            continue
        (home,) = homes
        smaller, larger = (home, own) if own in fixed else (own, home)
        found.into[smaller] = larger
        found.joined.add(trace)
    return found


def _is_before(one: _Line, other: _Line) -> bool:
    return one.last is not other.last and time_key(one.last) < time_key(other.first)


def _lines(by_trace: Mapping[str, Sequence[Call]]) -> dict[str, _Line]:
    """Return the line of each trace whose messages are known, and whole."""
    calls = {call.key: call for found in by_trace.values() for call in found}
    lines: dict[str, _Line] = {}
    for trace, found in by_trace.items():
        models = [call for call in found if isinstance(call, ModelCall) and not _is_in_a_tool(call, calls)]
        models.sort(key=time_key)
        known = [call for call in models if call.input is not None]
        if known and known[0] is models[0]:
            lines[trace] = _Line(known[0], models[-1], _opening(known[0]), _end(models[-1]))
    return lines


def _is_in_a_tool(call: Call, calls: Mapping[SpanKey, Call]) -> bool:
    seen: set[SpanKey] = set()
    at = call.parent
    while at is not None and at in calls and at not in seen:
        if isinstance(calls[at], ToolCall):
            return True
        seen.add(at)
        at = calls[at].parent
    return False


def _opening(call: ModelCall) -> frozenset[_Told]:
    """Return what a request's history up to its last answer is known by; nothing where it is not whole."""
    body = body_of(call)
    after = next((at for at in range(len(body), 0, -1) if body[at - 1].role == "assistant"), 0)
    if call.input_base or not after or len(body) - after > LOOK_BACK:
        return frozenset()
    return _known(call, body[:after], last_answer(call))


def _end(call: ModelCall) -> frozenset[_Told]:
    """Return what a request with its answer is known by; nothing where either is not told."""
    if call.input_base or not call.input or not call.output:
        return frozenset()
    return _known(call, body_of(call), assistant_marks(call.output))


def _known(call: ModelCall, history: Sequence[Message], answer: Iterable[Mark]) -> frozenset[_Told]:
    """Return one fact for each mark of the answer; nothing where no user text stands before it."""
    users = [m for m in history if m.role == "user" and without_responses(m)]
    asked = tuple(mark for message in users for mark in user_marks(message))
    return frozenset((system_texts(call), asked, mark) for mark in answer) if asked else frozenset()
