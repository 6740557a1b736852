"""Spans of a type with one input and one output are calls, under whatever names."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from atifold import dialects
from atifold.calls import AgentCall, ModelCall, Reasoning, Text, ToolCall, ToolRequest, Usage
from atifold.spans import Span, SpanEvent

MakeSpan = Callable[..., Span]
ASKED = json.dumps([{"role": "user", "content": "Hi"}])
SAID = json.dumps({"role": "assistant", "content": "Hello"})

MODELS: list[dict[str, Any]] = [
    {
        "type": "llm", "input": ASKED, "output": SAID, "model": "m",
        "usage": '{"promptTokens": 3, "completionTokens": 1}',
    },
    {
        "lmnr.span.type": "LLM", "lmnr.span.input": ASKED, "lmnr.span.output": SAID, "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 1,
    },
    {
        "lmnr.span.type": "CACHED", "lmnr.span.original_type": "LLM", "lmnr.span.input": ASKED,
        "lmnr.span.output": SAID, "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 1,
    },
    {
        "braintrust.span_attributes.type": "llm", "braintrust.input_json": ASKED, "braintrust.output_json": SAID,
        "braintrust.metadata.model": "m", "braintrust.metrics.prompt_tokens": 3,
        "braintrust.metrics.completion_tokens": 1,
    },
    {
        "gen_ai.span.kind": "LLM", "input.value": ASKED, "output.value": SAID, "model_name": "m",
        "usage.input_tokens": 3, "usage.output_tokens": 1,
    },
    {
        "node_type": "llm", "inputs": ASKED, "outputs": SAID, "metadata": '{"model": "m"}',
        "metrics": '{"prompt_tokens": "3", "completion_tokens": 1.0}',
    },
]  # fmt: skip


@pytest.mark.parametrize("attributes", MODELS, ids=lambda found: next(iter(found)))
def test_a_model_call_is_read(
    span: MakeSpan, read_one: Callable[[Span], ModelCall], attributes: dict[str, Any]
) -> None:
    """Its model, what went in and came out, and its figures."""
    call = read_one(span(attributes))
    assert isinstance(call, ModelCall)
    assert call.model == "m"
    assert [list(m.parts) for m in (*(call.input or ()), *(call.output or ()))] == [
        [Text("Hi")],
        [Text("Hello")],
    ]
    assert call.usage is not None
    assert (call.usage.prompt, call.usage.completion) == (3, 1)


TOOLS: list[dict[str, Any]] = [
    {"kind": "tool", "input": '{"args": {"a": 1}}', "output": '"ok"', "tool_name": "add", "tool_call_id": "t"},
    {
        "spring.ai.kind": "tool_call", "gen_ai.operation.name": "framework", "spring.ai.tool.definition.name": "add",
        "spring.ai.tool.call.id": "t", "spring.ai.tool.call.arguments": '{"a": 1}',
        "spring.ai.tool.call.result": '"ok"',
    },
    {
        "mastra.span.type": "mcp_tool_call", "gen_ai.tool.name": "add", "gen_ai.tool.call.id": "t",
        "mastra.mcp_tool_call.input": '{"a": 1}', "mastra.mcp_tool_call.output": '"ok"',
    },
]  # fmt: skip


@pytest.mark.parametrize("attributes", TOOLS, ids=lambda found: next(iter(found)))
def test_a_tool_call_is_read(span: MakeSpan, read_one: Callable[[Span], ToolCall], attributes: dict[str, Any]) -> None:
    """Its name and id, what it was given and gave."""
    call = read_one(span(attributes))
    assert isinstance(call, ToolCall)
    assert (call.tool, call.id, call.arguments, call.result) == ("add", "t", {"a": 1}, "ok")


def test_the_outermost_span_of_a_plain_type_is_the_run(span: MakeSpan) -> None:
    """One inside says nothing, and a type that nobody knows says nothing either."""
    root = span({"type": "task", "input": '"Go."', "output": '"Done."'}, name="desk")
    inner = span({"type": "function", "input": "{}", "output": "1"}, root)
    strange = span({"type": "invoice", "input": "{}", "output": "1"}, root)
    reading = dialects.read([root, inner, strange])
    (run,) = reading.calls
    assert isinstance(run, AgentCall)
    assert (run.workflow, run.agent) == (True, "desk")
    assert reading.ignored == {"function span": 1, "no call": 1}


def test_an_error_of_its_own_attribute_is_a_failure(span: MakeSpan, read_one: Callable[[Span], ToolCall]) -> None:
    """The status may say nothing."""
    call = read_one(span({"type": "tool", "input": "{}", "output": "", "error": '{"message": "no"}'}))
    assert call.failure is not None
    assert call.failure.message == "no"


def test_steps_of_a_generation_are_its_calls(span: MakeSpan) -> None:
    """One step is its generation; of several the generation is none, and its figures are the agent's."""

    def step(inside: Span, output: dict[str, Any]) -> Span:
        return span({"mastra.span.type": "model_step", "mastra.model_step.output": json.dumps(output)}, inside)

    agent = span({"mastra.span.type": "agent_run"}, name="agent run: 'desk'")
    about = {"mastra.span.type": "model_generation", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    one, several = (span({**about, "gen_ai.usage.input_tokens": 9}, agent) for _ in range(2))
    asks = {"text": "", "reasoning": "hm", "toolCalls": [{"payload": {"toolCallId": "t", "toolName": "f", "args": {}}}]}
    first, second = step(several, asks), step(several, {"text": "4"})
    reading = dialects.read([agent, one, step(one, {"text": "4"}), several, first, second])
    calls = {call.key: call for call in reading.calls}
    assert calls.keys() == {agent.key, one.key, first.key, second.key}
    asked = calls[first.key]
    assert isinstance(asked, ModelCall)
    assert asked.model == "m"
    assert [p for m in asked.output or () for p in m.parts] == [Reasoning("hm"), ToolRequest("t", "f", {})]
    run = calls[agent.key]
    assert isinstance(run, AgentCall)
    assert (run.agent, run.usage and run.usage.prompt) == ("desk", 9)


# ---- what some write beside the conventions ----------------------------------------------------------


def test_openlit_tells_calls_thoughts_and_reprs_in_its_own_way(span: MakeSpan) -> None:
    """Names and ids joined by commas, a thought apart, values that Python wrote."""
    chat = span(
        {
            "gen_ai.operation.name": "chat", "gen_ai.sdk.version": "1", "gen_ai.tool.name": "get,get",
            "gen_ai.tool.call.id": "a,b", "gen_ai.tool.args": '{"c": 1}, {"c": 2}', "gen_ai.content.reasoning": "hm",
        }
    )  # fmt: skip
    tool = span(
        {
            "gen_ai.operation.name": "execute_tool", "gen_ai.sdk.version": "1", "gen_ai.tool.name": "get",
            "gen_ai.tool.call.arguments": "{'c': 1}",
            "gen_ai.tool.call.result": "content='it\\'s gone' name='get' tool_call_id='a' status='error'",
        }
    )  # fmt: skip
    calls = {call.key: call for call in dialects.read([chat, tool]).calls}
    asked, ran = calls[chat.key], calls[tool.key]
    assert isinstance(asked, ModelCall)
    assert isinstance(ran, ToolCall)
    requests = [ToolRequest("a", "get", {"c": 1}), ToolRequest("b", "get", {"c": 2})]
    assert [p for m in asked.output or () for p in m.parts] == [Reasoning("hm"), *requests]
    assert (ran.id, ran.arguments, ran.result) == ("a", {"c": 1}, "it's gone")
    assert ran.failure is not None


def test_koogs_tools_have_plain_values(span: MakeSpan, read_one: Callable[[Span], ToolCall]) -> None:
    """Beside the conventions' name and id."""
    about = {"gen_ai.tool.name": "greet", "gen_ai.tool.call.id": "t", "input.value": '{"a": 1}', "output.value": "Hi"}
    call = read_one(span(about))
    assert (call.arguments, call.result) == ({"a": 1}, "Hi")


def test_semantic_kernels_log_tells_what_was_cached(chat: MakeSpan, read_one: Callable[[Span], ModelCall]) -> None:
    """In a line that Python wrote; the span's own figures stay."""
    line = (
        "OpenAI usage: CompletionUsage(completion_tokens=20, prompt_tokens=100, completion_tokens_details="
        "CompletionTokensDetails(reasoning_tokens=8), prompt_tokens_details=PromptTokensDetails(cached_tokens=64))"
    )
    figures = {"gen_ai.usage.input_tokens": 101, "gen_ai.usage.output_tokens": 20}
    call = read_one(chat(figures, events=(SpanEvent("", 1, {"body": line}),)))
    assert call.usage == Usage(101, 20, 64, None, 8, raw=figures)


def test_calls_of_a_subagent_that_hang_above_it_are_placed(span: MakeSpan, said: Callable[[str, str], str]) -> None:
    """By the ids of its tools, and by its prompt; the caller's own calls stay."""
    root = span({"gen_ai.operation.name": "invoke_agent"}, end_ns=99_000)
    task = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "task"}, root)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": said("user", "Look.")}
    inner = span(agent, task, end_ns=90_000)
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls", "gen_ai.tool.call.id": "x"}
    span_of_tool = span(tool, inner)
    ask = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "id": "x", "name": "ls"}]}])
    told = json.dumps([{"role": "tool", "parts": [{"type": "tool_call_response", "id": "x", "response": "a"}]}])
    chat = {"gen_ai.operation.name": "chat"}
    asked = span({**chat, "gen_ai.output.messages": ask}, root)
    answered = span({**chat, "gen_ai.input.messages": told}, root)
    prompted = span({**chat, "gen_ai.input.messages": said("user", "Look.")}, root)
    own = span({**chat, "gen_ai.input.messages": said("user", "Go.")}, root)
    reading = dialects.read([root, task, inner, span_of_tool, asked, answered, prompted, own])
    parents = {call.key: call.parent for call in reading.calls}
    assert [parents[each.key] for each in (asked, answered, prompted, own)] == [*[inner.key] * 3, root.key]
