"""Searches for documents and memories stand on the call that they came before, whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atifold import dialects
from atifold.calls import AgentCall, ModelCall, ToolCall
from atifold.spans import Span

MakeSpan = Callable[..., Span]
OPERATION = "gen_ai.operation.name"


def test_a_retrieval_stands_on_the_next_model_call_beside_it(span: MakeSpan) -> None:
    """By time alone where nobody counted; documents that are no JSON stay a text."""
    found = {OPERATION: "retrieval", "gen_ai.data_source.id": "kb", "gen_ai.retrieval.documents": "[broken"}
    agent = span({OPERATION: "invoke_agent", "gen_ai.agent.name": "a"}, span_id="a" * 16)
    inside: dict[str, Any] = {"parent_id": agent.span_id}
    chats = [
        span({OPERATION: "chat", "gen_ai.request.model": "m"}, span_id=f"{n:016x}", start_ns=n * 1000, **inside)
        for n in (1, 3, 5)
    ]
    lookup = span(found, span_id="b" * 16, start_ns=2000, **inside)
    reading = dialects.read([*chats, lookup, agent])
    told = {call.start_ns: call.lookups for call in reading.calls if isinstance(call, ModelCall)}
    assert [len(told[n * 1000]) for n in (1, 3, 5)] == [0, 1, 0]
    (one,) = told[3000]
    assert one.kind == "retrieval"
    assert (one.facts["source"], one.facts["documents"]) == ("kb", "[broken")
    assert reading.ignored == {"retrieval": 1}


def test_a_search_inside_a_tool_is_the_tools(span: MakeSpan) -> None:
    """And one after the last model call is the agent's; one that nothing encloses is nobody's."""
    agent = span({OPERATION: "invoke_agent", "gen_ai.agent.name": "a"}, span_id="a" * 16)
    tool = span(
        {OPERATION: "execute_tool", "gen_ai.tool.name": "t"}, span_id="b" * 16, parent_id=agent.span_id, start_ns=10
    )

    def search(number: int, parent: Span | None) -> Span:
        where = {} if parent is None else {"parent_id": parent.span_id}
        return span({OPERATION: "search_memory"}, span_id=f"{number:016x}", start_ns=number, **where)

    calls = dialects.read([agent, tool, search(20, tool), search(30, agent), search(40, None)]).calls
    told = {type(call): len(call.lookups) for call in calls}
    assert told == {AgentCall: 1, ToolCall: 1}
