"""Recognise what a call is from where it stands, which its own span does not say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from atifold.calls import AgentCall, Call, ModelCall, ToolRequest
from atifold.jsontext import to_json_text
from atifold.spans import SpanKey

_TRANSFER: Final = re.compile(r"transfer|hand.?off|hand.?over", re.IGNORECASE)
"""What a tool is called that passes control on."""


def settle(calls: Iterable[Call]) -> list[Call]:
    """Return the calls with what only their neighbours tell."""
    return _handoffs(_workflows(_conversations(calls)))


def _conversations(calls: Iterable[Call]) -> list[Call]:
    """Drop ids of conversations that are a response's id: such an id changes with every call."""
    found = list(calls)
    responses = {call.response_id for call in found if isinstance(call, ModelCall)} - {None}
    return [replace(call, conversation=None) if call.conversation in responses else call for call in found]


def _workflows(calls: Iterable[Call]) -> list[Call]:
    """Return the calls, a nameless agent directly around nothing but agents turned into a workflow."""
    found = list(calls)
    inside: dict[SpanKey, bool] = {}
    for call in found:
        if call.parent is not None:
            inside[call.parent] = inside.get(call.parent, True) and isinstance(call, AgentCall)
    return [
        replace(call, workflow=True)
        if isinstance(call, AgentCall) and call.agent is None and inside.get(call.key, False)
        else call
        for call in found
    ]


# ---- control that passes to a sibling --------------------------------------------------------------


def _handoffs(calls: Sequence[Call]) -> list[Call]:
    """Return the calls, an agent marked to which the one before it, its sibling, handed control over.

    The last model call of the one before asked for a transfer to it, by name.
    """
    asked = _last_requests(calls)
    marked: set[SpanKey] = set()
    last: dict[tuple[str, SpanKey | None], AgentCall] = {}
    for call in sorted(_agents(calls), key=lambda agent: (agent.start_ns, agent.key)):
        place = (call.key[0], call.parent)
        before = last.get(place)
        if before is not None and _ended(before, call) and _named_in(call, asked.get(before.key, ())):
            marked.add(call.key)
        last[place] = call
    if not marked:
        return list(calls)
    return [replace(c, handoff=True) if isinstance(c, AgentCall) and c.key in marked else c for c in calls]


def _agents(calls: Iterable[Call]) -> list[AgentCall]:
    return [call for call in calls if isinstance(call, AgentCall) and not call.workflow and not call.delegated]


def _ended(before: AgentCall, call: AgentCall) -> bool:
    return before.end_ns is not None and before.end_ns <= call.start_ns


def _last_requests(calls: Sequence[Call]) -> Mapping[SpanKey, Sequence[ToolRequest]]:
    """Return by agent the transfers that its last model call asked for."""
    last: dict[SpanKey, ModelCall] = {}
    for call in calls:
        if isinstance(call, ModelCall) and call.parent is not None and call.output:
            other = last.get(call.parent)
            if other is None or (other.start_ns, other.key) < (call.start_ns, call.key):
                last[call.parent] = call
    return {agent: found for agent, call in last.items() if (found := _transfers(call))}


def _transfers(call: ModelCall) -> list[ToolRequest]:
    parts = (part for message in call.output or () for part in message.parts)
    return [part for part in parts if isinstance(part, ToolRequest) and _TRANSFER.search(part.name)]


def _named_in(agent: AgentCall, requests: Iterable[ToolRequest]) -> bool:
    """Tell whether some request names an agent, in its name or in its arguments."""
    name = _plain(agent.agent or "")
    return bool(name) and any(
        name in _plain(request.name) or name in _plain(to_json_text(request.arguments or {})) for request in requests
    )


def _plain(name: str) -> str:
    """Return a name as different frameworks would write it alike."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
