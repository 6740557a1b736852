"""Group traces by conversation, for folds that join the traces of one session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from atifold.calls import Call, ModelCall, ToolCall, depths
from atifold.fold.carried import carried
from atifold.fold.messages import plain_id, requests_of
from atifold.fold.order import time_key
from atifold.fold.report import Heading

JOINED: Final = "a trace that names no conversation carries on another one, by its messages"
DOUBTFUL: Final = "several traces share a history and no conversation is named: which carries on which is not plain"


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each trace id, and a word on each trace whose group was concluded or is in doubt."""

    of: Mapping[str, str] = field(default_factory=dict[str, str])
    words: Mapping[str, tuple[Heading, str]] = field(default_factory=dict[str, tuple[Heading, str]])

    @property
    def join(self) -> bool:
        """Tell whether some traces are of one group."""
        return len(set(self.of.values())) < len(self.of)


def group_by_conversation(calls: Iterable[Call]) -> Groups:
    """Return the group of each trace id: its conversation's, that of the trace that it carries on, or itself.

    A trace's conversation is that of its outermost call that names one. One that names none carries on
    another where its messages say so and it is plain. A trace of nothing but tool calls goes to the
    group that asked for the first of its calls by id.
    """
    unique = {call.key: call for call in calls}
    nesting = depths(unique)
    by_trace: dict[str, list[Call]] = defaultdict(list)
    for call in sorted(unique.values(), key=lambda c: (nesting[c.key], time_key(c))):
        by_trace[call.key[0]].append(call)
    named = {trace: next((c.conversation for c in found if c.conversation), None) for trace, found in by_trace.items()}
    known = {trace: f"conversation {name}" if name else trace for trace, name in named.items()}
    told = carried(by_trace, known, [known[trace] for trace, name in named.items() if name])
    groups = {trace: told.group(name) for trace, name in known.items()}
    asked = _askers(by_trace, groups)
    for trace, found in by_trace.items():
        if named[trace] is None and all(isinstance(call, ToolCall) for call in found):
            ids = [plain_id(call.id) for call in found if isinstance(call, ToolCall) and call.id]
            groups[trace] = next((asked[i] for i in ids if i in asked), trace)
    words: dict[str, tuple[Heading, str]] = dict.fromkeys(told.joined, ("inferred", JOINED))
    return Groups(groups, {**words, **dict.fromkeys(told.doubtful, ("unsure", DOUBTFUL))})


def _askers(by_trace: Mapping[str, list[Call]], groups: Mapping[str, str]) -> dict[str, str]:
    """Return the group that asked for each tool call id; an id that two groups asked for is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for trace, calls in by_trace.items():
        for call in calls:
            if isinstance(call, ModelCall):
                for request in requests_of((*(call.output or ()), *(call.input or ())[-4:])):
                    if request.id:
                        found[plain_id(request.id)].add(groups[trace])
    return {call_id: next(iter(asking)) for call_id, asking in found.items() if len(asking) == 1}
