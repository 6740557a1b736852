"""Group traces by conversation, for folds that join the traces of one session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from atifold.calls import Call, ModelCall, ToolCall, depths
from atifold.fold.messages import plain_id, requests_of
from atifold.fold.order import time_key


def group_by_conversation(calls: Iterable[Call]) -> dict[str, str]:
    """Return the group of each trace id: its conversation's, that of the calls that it ran, or itself.

    A trace's conversation is that of its outermost call that names one. A trace of nothing but tool
    calls without one goes to the group that asked for the first of its calls by id.
    """
    unique = {call.key: call for call in calls}
    nesting = depths(unique)
    by_trace: dict[str, list[Call]] = defaultdict(list)
    for call in sorted(unique.values(), key=lambda c: (nesting[c.key], time_key(c))):
        by_trace[call.key[0]].append(call)
    named = {trace: next((c.conversation for c in found if c.conversation), None) for trace, found in by_trace.items()}
    groups = {trace: f"conversation {name}" if name else trace for trace, name in named.items()}
    asked = _askers(by_trace, groups)
    for trace, found in by_trace.items():
        if named[trace] is None and all(isinstance(call, ToolCall) for call in found):
            ids = [plain_id(call.id) for call in found if isinstance(call, ToolCall) and call.id]
            groups[trace] = next((asked[i] for i in ids if i in asked), trace)
    return groups


def _askers(by_trace: dict[str, list[Call]], groups: dict[str, str]) -> dict[str, str]:
    """Return the group that asked for each tool call id; an id that two groups asked for is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for trace, calls in by_trace.items():
        for call in calls:
            if isinstance(call, ModelCall):
                for request in requests_of((*(call.output or ()), *(call.input or ())[-4:])):
                    if request.id:
                        found[plain_id(request.id)].add(groups[trace])
    return {call_id: next(iter(asking)) for call_id, asking in found.items() if len(asking) == 1}
