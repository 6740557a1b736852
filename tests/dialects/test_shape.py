"""What a call is from where it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from atifold import dialects
from atifold.calls import AgentCall
from atifold.spans import Span

MakeSpan = Callable[..., Span]


def asking(name: str, arguments: dict[str, Any] | None = None) -> str:
    """Return an output that asks for a tool."""
    part = {"type": "tool_call", "id": "c", "name": name, "arguments": arguments or {}}
    return json.dumps([{"role": "assistant", "parts": [part]}])


@pytest.mark.parametrize(
    ("name", "arguments", "handed"),
    [
        ("transfer_to_night_desk", {}, True),
        ("handoff_to_agent", {"agent_name": "Night Desk"}, True),
        ("transfer_to_day_desk", {}, False),
        ("look_up_night_desk", {}, False),
    ],
)
def test_control_passes_to_the_sibling_that_was_asked_for(
    span: MakeSpan, name: str, arguments: dict[str, Any], *, handed: bool
) -> None:
    """By the name of the tool or by its arguments, in the last answer of the agent before."""
    root = span({"gen_ai.operation.name": "invoke_workflow"})
    day = span({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "day"}, root, end_ns=9000)
    model = span({"gen_ai.operation.name": "chat", "gen_ai.output.messages": asking(name, arguments)}, day)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Night-Desk"}
    night = span(agent, root, start_ns=9000, end_ns=9900)
    found = {call.key: call for call in dialects.read([night, model, day, root]).calls}
    call = found[night.key]
    assert isinstance(call, AgentCall)
    assert call.handoff is handed
    beside = span(agent, root, start_ns=8000, end_ns=9900)
    calls = {call.key: call for call in dialects.read([beside, model, day, root]).calls}
    other = calls[beside.key]
    assert isinstance(other, AgentCall)
    assert not other.handoff  # it began before the one that asked had ended
