"""Traces of strangers: what a reading holds agrees with what the program is known to have done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atifold import dialects, otlp
from atifold.calls import AgentCall, ModelCall, Reading, Reasoning, Text, ToolCall, ToolRequest

GENAI = "genai-semconv/genai-1.3b0-span_only-"
CASES = [
    GENAI + "openai-chat",
    GENAI + "anthropic-stream",
    GENAI + "langgraph-delegate",
    GENAI + "openai-agents-chat",
    GENAI + "openai-agents-delegate",
    "openinference/openai-chat",
    "openinference/openai-stream",
    "openinference/openai-agents-delegate",
    "openinference/anthropic",
    "openinference/smolagents",
]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, shared: Path) -> tuple[Reading, dict[str, Any]]:
    """Return the reading of one recorded trace, and what is known of the program."""
    path = shared / "corpus" / (request.param + ".json")
    batch = otlp.read([path])
    assert batch.complaints == []
    return dialects.read(batch.spans), json.loads(path.with_suffix(".expect.json").read_text(encoding="utf-8"))


def models(reading: Reading) -> list[ModelCall]:
    """Return the model calls in the order of their starts."""
    found = [call for call in reading.calls if isinstance(call, ModelCall)]
    return sorted(found, key=lambda call: (call.start_ns, call.key))


def outputs(reading: Reading, kind: type) -> list[Any]:
    """Return the parts of one kind of all outputs, in their order."""
    messages = [message for call in models(reading) for message in call.output or ()]
    return [part for message in messages for part in message.parts if isinstance(part, kind)]


def test_each_model_call_is_there_once(case: tuple[Reading, dict[str, Any]]) -> None:
    """As many calls as the program made, also where two instrumentations traced each."""
    reading, known = case
    assert len(models(reading)) == known.get("model_calls", 0)


def test_the_tokens_are_those_that_were_counted(case: tuple[Reading, dict[str, Any]]) -> None:
    """Sums over the model calls; absent figures are absent."""
    reading, known = case
    for name, field in (("prompt_tokens", "prompt"), ("completion_tokens", "completion"), ("cached_tokens", "cached")):
        if name in known:
            figures = [getattr(call.usage, field) for call in models(reading) if call.usage is not None]
            given = [figure for figure in figures if figure is not None]
            assert (sum(given) if given else None) == known[name]


def test_each_tool_call_is_asked_for_or_executed(case: tuple[Reading, dict[str, Any]]) -> None:
    """Names and arguments of the calls stand in requests, in executions, or in both; so do ids."""
    reading, known = case
    asked = [(part.name, part.arguments, part.id) for part in outputs(reading, ToolRequest)]
    executed = [call for call in reading.calls if isinstance(call, ToolCall)]
    wanted = [(call["name"], call["arguments"]) for call in known["tool_calls"]]
    for found in ([each[:2] for each in asked], [(call.tool, call.arguments) for call in executed]):
        if found:
            assert sorted(map(str, found)) == sorted(map(str, wanted))
    assert asked or executed
    if asked:
        ids = {call["id"] for call in known["tool_calls"] if "id" in call}
        assert ids <= {call_id for _, _, call_id in asked}


def test_failed_tools_are_marked(case: tuple[Reading, dict[str, Any]]) -> None:
    """Where tools have spans and the program is known to have failed, the failure is on the right call."""
    reading, known = case
    failed = {call["name"] for call in known["tool_calls"] if call.get("error")}
    assert {call.tool for call in reading.calls if isinstance(call, ToolCall) and call.failure is not None} == failed


def test_thoughts_and_answers_are_told_apart(case: tuple[Reading, dict[str, Any]]) -> None:
    """What was thought is no answer, also where it stands only in the raw response or as a second text."""
    reading, known = case
    thoughts = " ".join(part.text for part in outputs(reading, Reasoning))
    said = [part.text for part in outputs(reading, Text)]
    for text in known.get("reasoning_contains", ()):
        assert text in thoughts
    assert set(known.get("agent_messages", ())) <= set(said)
    assert not any("The user wants two cities" in text for text in said)


def test_subagents_stand_below_the_tool_that_called_them(case: tuple[Reading, dict[str, Any]]) -> None:
    """A delegation is an agent inside a tool call inside another agent; wrappers are workflows, not agents."""
    reading, known = case
    calls = {call.key: call for call in reading.calls}
    below = {
        call.agent
        for call in reading.calls
        if isinstance(call, AgentCall) and call.parent is not None and isinstance(calls[call.parent], ToolCall)
    }
    assert below == {each["name"] for each in known.get("subagents", ())}
    for call in reading.calls:
        if isinstance(call, AgentCall) and "orkflow" in call.name:
            assert call.workflow


FAULTS = ["01-two-instrumentations-nested", "04-same-span-twice-other-id", "16-tokens-as-strings", "34-lone-surrogate"]


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_the_wild_are_read(shared: Path, name: str) -> None:
    """Doubled calls, counts as texts and broken characters give the calls and tokens that were meant."""
    path = shared / "faults" / f"{name}.json"
    known = json.loads(path.with_suffix(".expect.json").read_text(encoding="utf-8"))
    found = models(dialects.read(otlp.read([path]).spans))
    assert len(found) == known["model_calls"]
    if known.get("prompt_tokens") is not None:
        assert sum(call.usage.prompt or 0 for call in found if call.usage) == known["prompt_tokens"]
