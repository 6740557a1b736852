"""Where damage took what told two calls apart, they stay apart and the report is unsure."""

from __future__ import annotations

from typing import Any

import pytest


def unsure(trace: Any) -> list[str]:
    """Return what the documents' reports are unsure of."""
    return [word for document in trace.fold().report["documents"] for word in document.get("unsure", ())]


@pytest.mark.parametrize("later", [0, 1])
def test_calls_of_two_trees_with_the_same_times_may_be_one(trace: Any, later: float) -> None:
    """An agent was exported twice, and one copy has lost its answer; with another time they are two."""
    for text, after in (("hi", 0), (None, later)):
        agent = trace.agent("a", 0 + after, 99 + after)
        answer = None if text is None else trace.said(text)
        trace.model(1 + after, 9 + after, [trace.user("go")], answer, parent=agent)
    assert any("told twice" in word for word in unsure(trace)) is (later == 0)


@pytest.mark.parametrize("tools", [("x", "x"), ("x", None)])
def test_answers_that_each_ask_for_a_tool_may_be_alternatives(trace: Any, tools: tuple[str, str | None]) -> None:
    """A text beside one that asks is one answer in two messages."""
    asked = [[] if name is None else [trace.ask(f"c{at}", name)] for at, name in enumerate(tools)]
    got = tuple(trace.said("t", *parts) for parts in asked)
    trace.model(0, 9, [trace.user("go")], got, parent=trace.agent("a", 0, 99))
    assert any("alternatives" in word for word in unsure(trace)) is (None not in tools)


def test_a_tool_told_by_an_agent_s_history_may_be_that_of_a_span(trace: Any) -> None:
    """The request that asked for it is lost; the agent's own span still tells of the call."""
    said = trace.said("", trace.ask("c1", "x", n=1))
    trace.agent("a", 0, 99, output=(said,))
    trace.tool("x", 10, 20, id="c1", arguments={"n": 1}, result="r")
    assert any("asked for elsewhere" in word for word in unsure(trace))
