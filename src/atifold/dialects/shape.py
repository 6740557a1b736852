"""Recognise what a call is from where it stands, which its own span does not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from atifold.calls import AgentCall, Call, ModelCall
from atifold.spans import SpanKey


def settle(calls: Iterable[Call]) -> list[Call]:
    """Return the calls with what only their neighbours tell."""
    return _workflows(_conversations(calls))


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
