"""Builders of calls, and the reference rules that every folded document must keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from atifold import atif
from atifold.calls import AgentCall, Call, Message, ModelCall, Reading, Text, ToolCall, ToolRequest, ToolResponse
from atifold.fold import Folded, fold

TRACE = "0af7651916cd43dd8448eb211c80319c"
BASE_NS = 1_780_000_000_000_000_000
MS = 1_000_000


class Trace:
    """Make the calls of traces; times are milliseconds after a fixed moment."""

    @staticmethod
    def user(text: str, **more: Any) -> Message:
        """Return a user's message."""
        return Message("user", (Text(text),), **more)

    @staticmethod
    def said(text: str = "", *requests: ToolRequest) -> Message:
        """Return a turn of the model: a text, calls, or both."""
        return Message("assistant", (*((Text(text),) if text else ()), *requests))

    @staticmethod
    def ask(call_id: str | None, tool: str, /, **arguments: Any) -> ToolRequest:
        """Return a request for a tool call."""
        return ToolRequest(call_id, tool, arguments)

    @staticmethod
    def gave(call_id: str | None, result: Any, **more: Any) -> Message:
        """Return a tool's message."""
        return Message("tool", (ToolResponse(call_id, result, **more),))

    def __init__(self) -> None:
        """Start without calls."""
        self.calls: list[Call] = []
        self._spans = 0

    def _common(self, kind: str, at: float, until: float | None, more: dict[str, Any]) -> dict[str, Any]:
        self._spans += 1
        parent = more.pop("parent", None)
        fields = {
            "key": (more.pop("trace", TRACE), more.pop("span", f"{self._spans:016x}")),
            "parent": parent.key if isinstance(parent, Call) else parent,
            "name": more.pop("span_name", kind),
            "start_ns": BASE_NS + int(at * MS),
            "end_ns": None if until is None else BASE_NS + int(until * MS),
            "dialect": "test",
        }
        return {**fields, **more}

    def agent(self, name: str | None, at: float, until: float | None, **more: Any) -> AgentCall:
        """Add an agent's call, or a workflow's."""
        call = AgentCall(**self._common(f"invoke_agent {name}", at, until, {"agent": name, **more}))
        self.calls.append(call)
        return call

    def model(self, at: float, until: float | None, sent: Any = None, got: Any = None, **more: Any) -> ModelCall:
        """Add a model call; `sent` and `got` are messages, None where content was not captured."""
        output = (got,) if isinstance(got, Message) else got
        fields = {"input": None if sent is None else tuple(sent), "output": output, **more}
        call = ModelCall(**self._common("chat m", at, until, fields))
        self.calls.append(call)
        return call

    def tool(self, name: str, at: float, until: float | None, **more: Any) -> ToolCall:
        """Add a tool's execution."""
        call = ToolCall(**self._common(f"execute_tool {name}", at, until, {"tool": name, **more}))
        self.calls.append(call)
        return call

    def fold(self, **options: Any) -> Folded:
        """Fold what was made, check every document, and return all."""
        linked = {c.key: (link.trace_id, link.span_id) for c in self.calls if c.parent is None for link in c.links}
        folded = fold(Reading(tuple(self.calls), linked=linked), **options)
        for document in folded.documents:
            assert_valid(document.trajectory)
        return folded

    @staticmethod
    def outline(document: dict[str, Any]) -> list[tuple[str, str]]:
        """Return (source, message) of each step."""
        return [(step["source"], step["message"]) for step in document["steps"]]

    @staticmethod
    def results(step: dict[str, Any]) -> dict[str, Any]:
        """Return the content of each result of a step, by its call's id."""
        found = step.get("observation", {}).get("results", ())
        return {result.get("source_call_id", ""): result.get("content") for result in found}

    def one(self, **options: Any) -> dict[str, Any]:
        """Fold what was made into exactly one document, and return its trajectory."""
        folded = self.fold(**options)
        assert len(folded.documents) == 1, [d.trajectory["agent"] for d in folded.documents]
        return folded.documents[0].trajectory


@pytest.fixture
def trace() -> Trace:
    """Return a maker of calls."""
    return Trace()


def assert_valid(document: dict[str, Any], *, ids: set[str] | None = None) -> None:
    """Assert the rules of the format that the schema cannot say, and those of the strict check."""
    if ids is None:
        assert [str(f) for f in atif.check(document) if f.severity == "error"] == []
    ids = set() if ids is None else ids
    assert document["steps"]
    assert document["trajectory_id"] not in ids
    ids.add(document["trajectory_id"])
    assert [step["step_id"] for step in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    assert document["final_metrics"]["total_steps"] == len(document["steps"])
    stamps = [datetime.fromisoformat(s["timestamp"].replace("Z", "+00:00")) for s in document["steps"]]
    assert stamps == sorted(stamps)
    for step in document["steps"]:
        _assert_step(step)
    embedded = {sub["trajectory_id"] for sub in document.get("subagent_trajectories", ())}
    assert embedded == set(references(document))
    for sub in document.get("subagent_trajectories", ()):
        assert_valid(sub, ids=ids)


def _assert_step(step: dict[str, Any]) -> None:
    calls = [call["tool_call_id"] for call in step.get("tool_calls", ())]
    assert len(calls) == len(set(calls))
    assert all(calls)
    results = step.get("observation", {}).get("results", [])
    sources = [r["source_call_id"] for r in results if "source_call_id" in r]
    assert sources == [call for call in calls if call in sources]
    assert all("content" in r or "subagent_trajectory_ref" in r for r in results)
    if step["source"] != "agent":
        assert not {"tool_calls", "metrics", "reasoning_content", "llm_call_count", "model_name"} & step.keys()
    if step.get("llm_call_count") == 0:
        assert not {"metrics", "reasoning_content"} & step.keys()
    assert None not in step.values()


def references(document: dict[str, Any]) -> Iterator[str]:
    """Yield the ids of the subagents that a document's steps refer to."""
    for step in document["steps"]:
        for result in step.get("observation", {}).get("results", ()):
            yield from (ref["trajectory_id"] for ref in result.get("subagent_trajectory_ref", ()))


@pytest.fixture
def loop(trace: Trace) -> Trace:
    """Return the calls of one agent that asks a tool once and answers."""
    agent = trace.agent("helper", 0, 100, agent_version="2")
    first = [trace.user("weather?")]
    asked = trace.said("Looking.", trace.ask("c1", "get_weather", city="Paris"))
    trace.model(1, 10, first, asked, parent=agent, model="m-1")
    trace.tool("get_weather", 11, 20, parent=agent, id="c1", arguments={"city": "Paris"}, result="18C")
    trace.model(21, 30, [*first, asked, trace.gave("c1", "18C")], trace.said("18C."), parent=agent, model="m-1")
    return trace
