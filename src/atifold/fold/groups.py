"""Group traces by conversation, for folds that join the traces of one session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from atifold.calls import AgentCall, Call, ModelCall, ToolCall
from atifold.fold.linked import LINKED, Linked
from atifold.fold.messages import plain_id, requests_of
from atifold.fold.order import time_key
from atifold.fold.report import Heading
from atifold.fold.succession import succession
from atifold.nesting import depths
from atifold.spans import SpanKey

JOINED: Final = "a trace that names no conversation carries on another one, by its messages"
DOUBTFUL: Final = "several traces share a history and no conversation is named: which carries on which is not plain"


_RECENT: Final = 4
"""How many messages of a request are searched for calls that an answer which is not here asked for."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each trace id, and a word on each trace whose group was concluded or is in doubt.

    `apart` gives the group of outermost agents of other conversations than their trace's.
    """

    of: Mapping[str, str] = field(default_factory=dict[str, str])
    apart: Mapping[SpanKey, str] = field(default_factory=dict[SpanKey, str])
    words: Mapping[str, tuple[Heading, str]] = field(default_factory=dict[str, tuple[Heading, str]])

    def group_of(self, root: SpanKey) -> str:
        """Return the group of what an outermost call encloses; by itself a trace is its own."""
        return self.apart.get(root) or self.of.get(root[0], root[0])

    @property
    def join(self) -> bool:
        """Tell whether some traces are of one group."""
        groups = [*self.of.values(), *self.apart.values()]
        return len(set(groups)) < len(groups)


def group_by_conversation(calls: Iterable[Call], links: Linked | None = None) -> Groups:
    """Return the group of each trace id: its conversation's, that of the trace that it carries on, or itself.

    A trace's conversation is that of its outermost call that names one. One that names none carries on
    another where it is linked to it, or where its messages say so and it is plain. A trace of nothing but
    tool calls goes to the group that asked for the first of its calls by id.
    """
    unique = {call.key: call for call in calls}
    nesting = depths(unique)
    by_trace: dict[str, list[Call]] = defaultdict(list)
    for call in sorted(unique.values(), key=lambda c: (nesting[c.key], time_key(c))):
        by_trace[call.key[0]].append(call)
    named = {trace: next((c.conversation for c in found if c.conversation), None) for trace, found in by_trace.items()}
    known = {trace: f"conversation {name}" if name else trace for trace, name in named.items()}
    _put_linked(links.after if links else {}, named, known)
    told = succession(by_trace, known, [known[trace] for trace, name in named.items() if name])
    groups = {trace: told.group(name) for trace, name in known.items()}
    askers = _Askers(by_trace, groups)
    for trace, found in by_trace.items():
        if named[trace] is None and all(isinstance(call, ToolCall) for call in found):
            asked = (askers.of(call) for call in found if isinstance(call, ToolCall))
            groups[trace] = next((group for group in asked if group is not None), trace)
    words: dict[str, tuple[Heading, str]] = dict.fromkeys(told.joined, ("inferred", JOINED))
    words |= dict.fromkeys((*links.traces, *links.after) if links else (), ("inferred", LINKED))
    return Groups(groups, _apart(by_trace, groups), {**words, **dict.fromkeys(told.doubtful, ("unsure", DOUBTFUL))})


def _put_linked(after: Mapping[str, str], named: Mapping[str, str | None], known: dict[str, str]) -> None:
    """Give traces that name no conversation the group of the earlier trace that they are linked to."""
    for trace in after:
        at, seen = trace, {trace}
        while named.get(at) is None and after.get(at) is not None and after[at] not in seen:
            at = after[at]
            seen.add(at)
        known[trace] = known.get(at, at)


def group_by_trace(calls: Iterable[Call]) -> Groups:
    """Return the groups of a fold in which each trace, and in it each conversation, stands for itself."""
    by_trace: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_trace[call.key[0]].append(call)
    apart: dict[SpanKey, str] = {}
    for trace, found in by_trace.items():
        roots = _roots(found)
        first = min(roots, key=time_key).conversation if roots else None
        apart.update({r.key: f"{trace} {r.conversation}" for r in roots if r.conversation != first})
    return Groups(apart=apart)


def _apart(by_trace: Mapping[str, Sequence[Call]], groups: Mapping[str, str]) -> dict[SpanKey, str]:
    """Return the group of outermost agents of another conversation than their trace's, as a batch runs them."""
    found = ((trace, root) for trace, calls in by_trace.items() for root in _roots(calls))
    names = ((trace, root.key, f"conversation {root.conversation}") for trace, root in found)
    return {key: name for trace, key, name in names if name != groups[trace]}


def _roots(calls: Sequence[Call]) -> list[AgentCall]:
    """Return the outermost agents of a trace that name a conversation, where these are several."""
    named = [call for call in calls if call.conversation]
    if all(call.conversation == named[0].conversation for call in named):
        return []
    keys = {call.key for call in calls}
    return [c for c in named if isinstance(c, AgentCall) and (c.parent is None or c.parent not in keys)]


class _Askers:
    """Find the group that asked for a tool call by its id; of several the only one that ran at the call's time."""

    def __init__(self, by_trace: Mapping[str, list[Call]], groups: Mapping[str, str]) -> None:
        self._asked: dict[str, set[str]] = defaultdict(set)
        self._times: dict[str, tuple[int, int]] = {}
        for trace, calls in by_trace.items():
            for call in calls:
                if isinstance(call, ModelCall):
                    self._take(call, groups[trace])

    def of(self, tool: ToolCall) -> str | None:
        """Return the group, None where none asked or it is not plain which one did."""
        asking = self._asked.get(plain_id(tool.id), set()) if tool.id else set[str]()
        if len(asking) > 1:
            asking = {group for group in asking if self._times[group][0] <= tool.start_ns <= self._times[group][1]}
        return next(iter(asking)) if len(asking) == 1 else None

    def _take(self, call: ModelCall, group: str) -> None:
        first, last = self._times.get(group, (call.start_ns, call.start_ns))
        self._times[group] = min(first, call.start_ns), max(last, call.end_ns or call.start_ns)
        for request in requests_of((*(call.output or ()), *(call.input or ())[-_RECENT:])):
            if request.id:
                self._asked[plain_id(request.id)].add(group)
