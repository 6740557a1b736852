"""Tell by messages alone which trace carries on which, for traces that name no conversation.

A trace carries on an earlier one when its first request begins with all that the earlier one's last
request held (instructions and user texts; what stands between them frameworks shorten) and with the
answer to it. That counts only where it is plain: one history that ends so, one trace that goes on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from atifold.calls import Call, Message, ModelCall, ToolCall
from atifold.fold.messages import Mark, assistant_marks, body_of, system_texts, user_marks, without_responses
from atifold.fold.order import LOOK_BACK, last_answer, time_key
from atifold.nesting import around
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
class Succession:
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


def succession(by_trace: Mapping[str, Sequence[Call]], groups: Mapping[str, str], named: Iterable[str]) -> Succession:
    """Return which traces carry on which; `groups` says of each what is known without it, `named` those of an id."""
    lines, fixed, found = _lines(by_trace), frozenset(named), Succession()
    index = _Index(lines, groups, fixed)
    for trace in sorted(lines, key=lambda trace: time_key(lines[trace].first)):
        own, forked = found.group(groups[trace]), index.is_forked(trace)
        homes = _first_different(map(found.group, index.before(trace)), 1 if forked else 2)
        if not homes or own in homes or (own in fixed and homes <= fixed):
            continue
        if forked or len(homes) > 1:
            found.doubtful.add(trace)
            continue
        (home,) = homes
        smaller, larger = (home, own) if own in fixed else (own, home)
        found.into[smaller] = larger
        found.joined.add(trace)
    return found


def openings_and_ends(by_trace: Mapping[str, Sequence[Call]]) -> dict[str, tuple[frozenset[_Told], frozenset[_Told]]]:
    """Return what the history of each trace is known by, as it begins and as it ends; a trace carries on its equal."""
    return {trace: (line.opening, line.end) for trace, line in _lines(by_trace).items()}


class _Index:
    """Find the traces that end as another one begins."""

    def __init__(self, lines: Mapping[str, _Line], groups: Mapping[str, str], fixed: AbstractSet[str]) -> None:
        """Take the lines; `fixed` groups have an id, and are not joined with each other."""
        self._lines, self._groups, self._fixed = lines, groups, fixed
        self._ends: dict[_Told, list[str]] = defaultdict(list)
        self._free_ends: dict[_Told, list[str]] = defaultdict(list)
        self._claims: dict[_Told, set[str]] = defaultdict(set)
        for trace in sorted(lines, key=lambda trace: time_key(lines[trace].last)):
            for told in lines[trace].end:
                self._ends[told].append(trace)
                if groups[trace] not in fixed:
                    self._free_ends[told].append(trace)
            for told in lines[trace].opening:
                self._claims[told].add(groups[trace])

    def is_forked(self, trace: str) -> bool:
        """Tell whether others begin as a trace does."""
        return any(len(self._claims[told]) > 1 for told in self._lines[trace].opening)

    def before(self, trace: str) -> Iterator[str]:
        """Yield the groups of traces that ended as this one begins, before it began; for a fixed one free ones only."""
        line = self._lines[trace]
        ends = self._free_ends if self._groups[trace] in self._fixed else self._ends
        for told in line.opening:
            for one in ends.get(told, ()):
                if not _is_before(self._lines[one], line):
                    break
                yield self._groups[one]


def _first_different(groups: Iterable[str], most: int) -> set[str]:
    """Return the first `most` different groups: more tell nothing more, and there may be very many."""
    found: set[str] = set()
    for group in groups:
        found.add(group)
        if len(found) >= most:
            break
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
    return any(isinstance(outer, ToolCall) for outer in around(call, calls))


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
