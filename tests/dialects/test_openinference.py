"""OpenInference: flat indexed keys, raw requests and responses, another tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from atifold import dialects
from atifold.calls import (
    MISSING,
    AgentCall,
    Failure,
    Media,
    Message,
    ModelCall,
    Reasoning,
    Text,
    ToolCall,
    ToolRequest,
    ToolResponse,
)
from atifold.spans import Span, SpanEvent, Status

MakeSpan = Callable[..., Span]
ReadOne = Callable[[Span], Any]
OUT = "llm.output_messages.0.message."
IN = "llm.input_messages."


def llm(**more: Any) -> dict[str, Any]:
    """Return attributes of a model span that was answered."""
    return {"openinference.span.kind": "LLM", OUT + "role": "assistant", OUT + "content": "ho", **more}


def flat(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return attributes under a prefix."""
    return {prefix + name: value for name, value in values.items()}


def test_a_model_call_has_what_its_span_says(span: MakeSpan, read_one: ReadOne) -> None:
    """Model, provider, counts, cost, settings and session land in their fields."""
    call = read_one(
        span(
            llm(
                **{
                    "llm.model_name": "m",
                    "llm.provider": "openai",
                    "llm.finish_reason": "stop",
                    "llm.token_count.prompt": 10,
                    "llm.token_count.completion": 5,
                    "llm.token_count.total": 15,
                    "llm.token_count.prompt_details.cache_read": 4,
                    "llm.token_count.completion_details.reasoning": 2,
                    "llm.cost.total": 0.25,
                    "llm.invocation_parameters": '{"temperature": 0.2, "tools": ["long"], "model": "m"}',
                    "llm.tools.0.tool.json_schema": '{"name": "f"}',
                    "session.id": "s",
                }
            )
        )
    )
    assert isinstance(call, ModelCall)
    assert (call.model, call.provider, call.finish_reasons, call.dialect) == ("m", "openai", ("stop",), "openinference")
    assert call.usage is not None
    assert (call.usage.prompt, call.usage.completion, call.usage.cached, call.usage.reasoning) == (10, 5, 4, 2)
    assert call.usage.raw["llm.token_count.total"] == 15
    assert (call.cost_usd, call.conversation, call.tools) == (0.25, "s", ({"name": "f"},))
    assert call.extra == {"llm.invocation_parameters": {"temperature": 0.2}}
    assert call.output == (Message("assistant", (Text("ho"),)),)


def test_messages_stand_in_the_order_of_their_indices(span: MakeSpan, read_one: ReadOne) -> None:
    """The tenth message comes after the second, wherever their attributes stand."""
    names = [flat(f"{IN}{index}.message.", {"role": "user", "content": str(index)}) for index in (10, 2, 0)]
    call = read_one(span(llm(**{name: value for entry in names for name, value in entry.items()})))
    assert [message.parts[0].text for message in call.input] == ["0", "2", "10"]


MESSAGES = [
    ({"role": "system", "content": "s"}, Message("system", (Text("s"),))),
    ({"role": "tool", "content": "42", "tool_call_id": "1"}, Message("tool", (ToolResponse("1", "42"),))),
    ({"role": "user", "content": "42", "tool_call_id": "1"}, Message("tool", (ToolResponse("1", "42"),))),
    ({"role": "tool-response", "content": "o"}, Message("tool", (Text("o"),))),
    (
        {
            "role": "assistant",
            "tool_calls.2.tool_call.id": "",
            "tool_calls.2.tool_call.function.name": "f",
            "tool_calls.2.tool_call.function.arguments": '{"a": 1}',
        },
        Message("assistant", (ToolRequest(None, "f", {"a": 1}),)),
    ),
    (
        {"role": "assistant", "tool_calls.0.tool_call.id": "1", "tool_calls.0.tool_call.function.name": "f"},
        Message("assistant", (ToolRequest("1", "f", {}),)),
    ),
    (
        {
            "role": "assistant",
            "content": "t",
            "contents.0.message_content.type": "reasoning",
            "contents.0.message_content.text": "r",
            "contents.0.message_content.signature": "s",
            "contents.1.message_content.type": "text",
            "contents.1.message_content.text": "t",
        },
        Message("assistant", (Reasoning("r", {"signature": "s"}), Text("t"))),
    ),
    (
        {
            "role": "user",
            "contents.0.message_content.type": "image",
            "contents.0.message_content.image.image.url": "data:image/png;base64,AA",
        },
        Message("user", (Media("image", "image/png", None, "AA"),)),
    ),
    (
        {
            "role": "assistant",
            "contents.0.message_content.type": "tool_use",
            "contents.0.tool_call.id": "1",
            "contents.0.tool_call.function.name": "f",
            "tool_calls.0.tool_call.id": "1",
            "tool_calls.0.tool_call.function.name": "f",
        },
        Message("assistant", (ToolRequest("1", "f", {}),)),
    ),
]


@pytest.mark.parametrize(("attributes", "wanted"), MESSAGES)
def test_each_shape_of_a_message_is_read(
    span: MakeSpan, read_one: ReadOne, attributes: dict[str, Any], wanted: Message
) -> None:
    """Contents, calls, results and images come out of flat keys, each once."""
    assert read_one(span(llm(**flat(IN + "0.message.", attributes)))).input == (wanted,)


RESPONSES = [
    {"id": "r1", "choices": [{"message": {"role": "assistant", "content": "ho", "reasoning_content": "thought"}}]},
    {
        "id": "r1",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "thought"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ho"}]},
        ],
    },
    {
        "id": "r1",
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "thought"}, {"type": "text", "text": "ho"}],
    },
]


@pytest.mark.parametrize("response", RESPONSES, ids=["chat", "responses", "anthropic"])
def test_reasoning_that_stands_only_in_the_raw_response_is_read(
    span: MakeSpan, read_one: ReadOne, response: dict[str, Any]
) -> None:
    """The thoughts go before the answer, and the response's id is the call's."""
    call = read_one(span(llm(**{"output.value": json.dumps(response)})))
    assert call.output == (Message("assistant", (Reasoning("thought"), Text("ho"))),)
    assert call.response_id == "r1"


@pytest.mark.parametrize("response", RESPONSES, ids=["chat", "responses", "anthropic"])
def test_without_output_messages_the_raw_response_is_the_output(
    span: MakeSpan, read_one: ReadOne, response: dict[str, Any]
) -> None:
    """What the instrumentation did not take out is taken from the response whole."""
    call = read_one(span({"openinference.span.kind": "LLM", "output.value": json.dumps(response)}))
    assert [part for message in call.output for part in message.parts] == [Reasoning("thought"), Text("ho")]


def test_reasoning_is_not_taken_twice(span: MakeSpan, read_one: ReadOne) -> None:
    """Where the output messages have thoughts already, the raw response adds none."""
    more = flat(OUT, {"contents.0.message_content.type": "reasoning", "contents.0.message_content.text": "mine"})
    call = read_one(span(llm(**more, **{"output.value": json.dumps(RESPONSES[0])})))
    assert call.output == (Message("assistant", (Reasoning("mine"), Text("ho"))),)


def test_a_text_that_the_response_does_not_say_is_reasoning(span: MakeSpan, read_one: ReadOne) -> None:
    """Of two texts, the one that is no content of the raw message was thought, not said."""
    texts = {
        "contents.0.message_content.type": "text",
        "contents.0.message_content.text": "ho",
        "contents.1.message_content.type": "text",
        "contents.1.message_content.text": "thought",
    }
    raw = {"output.value": '{"role": "assistant", "content": "ho"}'}
    span_of = {"openinference.span.kind": "LLM", OUT + "role": "assistant", **flat(OUT, texts)}
    assert read_one(span({**span_of, **raw})).output == (Message("assistant", (Text("ho"), Reasoning("thought"))),)
    assert read_one(span(span_of)).output == (Message("assistant", (Text("ho"), Text("thought"))),)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ('{"city": "Paris"}', {"city": "Paris"}),
        ('{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Paris"}}', {"city": "Paris"}),
        ('{"args": ["Paris"], "kwargs": {}}', {"args": ["Paris"], "kwargs": {}}),
        ("{'city': 'Paris'}", {"city": "Paris"}),
        (None, MISSING),
    ],
)
def test_a_tools_input_is_its_arguments(span: MakeSpan, read_one: ReadOne, value: Any, wanted: Any) -> None:
    """JSON is parsed, a wrapper around keyword arguments opened, a Python repr read."""
    call = read_one(span({"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": value}))
    assert isinstance(call, ToolCall)
    assert (call.tool, call.arguments) == ("f", wanted)


OUTPUTS = [
    ("18C sunny", "18C sunny", None, None),
    ('{"content": "no", "tool_call_id": "1", "status": "error"}', "no", "1", Failure(None, "no")),
    ('{"type": "tool", "data": {"content": "ok", "tool_call_id": "1", "status": "success"}}', "ok", "1", None),
    ('{"id": "1", "name": "f", "response": {"result": "ok"}}', {"result": "ok"}, "1", None),
    ('{"id": "1", "name": "f", "response": {"error": "no"}}', {"error": "no"}, "1", Failure(None, None)),
    ('{"response": 1}', '{"response": 1}', None, None),
]


@pytest.mark.parametrize(("value", "result", "call_id", "failure"), OUTPUTS)
def test_a_wrapped_result_is_opened(
    span: MakeSpan, read_one: ReadOne, value: str, result: Any, call_id: str | None, failure: Failure | None
) -> None:
    """Messages of LangChain and responses of ADK give result, id and failure; other values stay as they are."""
    call = read_one(span({"openinference.span.kind": "TOOL", "tool.name": "f", "output.value": value}))
    assert (call.result, call.id, call.failure) == (result, call_id, failure)


def test_a_nameless_tool_is_named_after_its_span(span: MakeSpan, read_one: ReadOne) -> None:
    """Without `tool.name` the span's name is all there is."""
    assert read_one(span({"openinference.span.kind": "TOOL"}, name="find")).tool == "find"


def test_an_agent_that_bears_a_tools_name_is_the_tool(span: MakeSpan, read_one: ReadOne) -> None:
    """A tool whose name made an instrumentation take it for an agent; an agent that has a name is one."""
    both = {"openinference.span.kind": "AGENT", "tool.name": "ask_agent"}
    assert isinstance(read_one(span(both)), ToolCall)
    assert isinstance(read_one(span({**both, "agent.name": "a"})), AgentCall)


@pytest.mark.parametrize("kind", ["CHAIN", "RETRIEVER", "EMBEDDING", "GUARDRAIL", "UNKNOWN"])
def test_other_kinds_are_no_calls(span: MakeSpan, kind: str) -> None:
    """They are counted by kind."""
    assert dialects.read([span({"openinference.span.kind": kind})]).ignored == {f"{kind} span": 1}


def test_a_model_span_without_a_response_is_no_call_unless_it_failed(span: MakeSpan) -> None:
    """The preparation of a call is stepped over; one that failed, or never ended, is a call."""
    bare = {"openinference.span.kind": "LLM", IN + "0.message.role": "user"}
    assert dialects.read([span(bare)]).ignored == {"LLM span without a response": 1}
    assert len(dialects.read([span(bare, status=Status.ERROR)]).calls) == 1
    assert len(dialects.read([span(bare, end_ns=None)]).calls) == 1


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("hi", (Message("user", (Text("hi"),)),)),
        ('{"task": "hi", "stream": false}', (Message("user", (Text("hi"),)),)),
        ('{"messages": [{"role": "user", "content": "hi"}]}', (Message("user", (Text("hi"),)),)),
        ('{"messages": [{"type": "human", "data": {"content": "hi"}}]}', (Message("user", (Text("hi"),)),)),
        ('{"a": 1}', (Message("user", (Text('{"a": 1}'),)),)),
        (None, None),
    ],
)
def test_an_agents_input_is_what_it_was_told(span: MakeSpan, read_one: ReadOne, value: Any, wanted: Any) -> None:
    """Messages, the one text of an object, or the value as it is."""
    call = read_one(span({"openinference.span.kind": "AGENT", "input.value": value}))
    assert isinstance(call, AgentCall)
    assert call.input == wanted


def test_the_thread_of_langchains_metadata_is_the_conversation(span: MakeSpan, read_one: ReadOne) -> None:
    """`session.id` goes first; broken metadata is none."""
    assert read_one(span(llm(metadata='{"thread_id": "t"}'))).conversation == "t"
    assert read_one(span(llm(**{"session.id": "s"}, metadata='{"thread_id": "t"}'))).conversation == "s"
    assert read_one(span(llm(metadata="{"))).conversation is None


def test_a_span_of_two_dialects_is_read_once(span: MakeSpan, said: Callable[[str, str], str]) -> None:
    """What the conventions say goes first, what only OpenInference says is filled in, outright kinds before guesses."""
    both = llm(
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.output.messages": said("assistant", "theirs"),
            "gen_ai.request.model": "m",
            "llm.model_name": "n",
            "llm.token_count.prompt": 5,
        }
    )
    reading = dialects.read([span(both)])
    (call,) = reading.calls
    assert isinstance(call, ModelCall)
    assert (call.dialect, call.model, call.output) == ("genai", "m", (Message("assistant", (Text("theirs"),)),))
    assert call.usage is not None
    assert call.usage.prompt == 5
    agent = {"openinference.span.kind": "AGENT", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1}
    assert isinstance(dialects.read([span(agent)]).calls[0], AgentCall)
    assert reading.dialects == {"genai": 1}


def test_attributes_are_not_changed_by_reading(span: MakeSpan) -> None:
    """A structured value on the way of a flat key stays as it was."""
    value: dict[str, Any] = {"role": "user"}
    one = span(llm(**{IN + "0.message": value, IN + "0.message.content": "hi"}))
    assert dialects.read([one]) == dialects.read([one])
    assert value == {"role": "user"}


# ---- what OpenInference takes for something else ---------------------------------------------------


def test_a_hand_off_without_a_tool_s_name_is_no_tool(span: MakeSpan) -> None:
    """The call before asked for the transfer by its own name; a tool that is named is one."""
    plain = {"openinference.span.kind": "TOOL", "input.value": "a", "output.value": "b"}
    assert dialects.read([span(plain, name="handoff to b")]).ignored == {"handoff": 1}
    assert len(dialects.read([span({**plain, "tool.name": "x"}, name="handoff to b")]).calls) == 1


def test_a_graph_s_node_that_is_called_agent_is_none(span: MakeSpan) -> None:
    """Unless something runs in it, or it has an agent's name."""
    node = {"openinference.span.kind": "AGENT", "metadata": '{"langgraph_step": 2}', "output.value": "done"}
    reading = dialects.read([span(node)])
    assert (reading.calls, reading.ignored, reading.dialects) == ((), {"graph node": 1}, {})
    assert len(dialects.read([span({**node, "agent.name": "x"})]).calls) == 1
    outer = span(node)
    model = span({"openinference.span.kind": "LLM", "output.value": "x"}, outer)
    assert len(dialects.read([outer, model]).calls) == 2
    assert len(dialects.read([span({**node, "metadata": "{}"})]).calls) == 1


def test_a_gemini_request_is_read_as_it_was_sent(span: MakeSpan, only: Callable[..., Any]) -> None:
    """The flat attributes lose results and mix answers; the instructions stand only in them."""
    contents = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "user", "parts": [{"function_response": {"name": n, "response": {"x": n}}} for n in ("a", "b")]},
    ]
    attributes = {
        "openinference.span.kind": "LLM",
        "input.value": json.dumps({"contents": contents}),
        "output.value": json.dumps(
            {"content": {"role": "model", "parts": [{"text": "t", "thought": True}, {"text": "Yo"}]}}
        ),
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Be kind.",
        "llm.output_messages.0.message.content": "left over",
    }
    call = only(ModelCall, dialects.read([span(attributes)]))
    assert [message.role for message in call.input] == ["system", "user", "tool"]
    assert [part.name for part in call.input[2].parts] == ["a", "b"]
    assert call.output == (Message("assistant", (Reasoning("t"), Text("Yo"))),)


def _refused(span: MakeSpan, kind: str, *, again: bool = True) -> list[Span]:
    """Return a run in which an answer was refused with an exception of a kind, and asked for `again`."""
    chain, model = {"openinference.span.kind": "CHAIN"}, {"openinference.span.kind": "LLM", "output.value": "x"}
    run = span(chain)
    exception = SpanEvent("exception", 1, {"exception.type": kind})
    first = span(chain, run, status=Status.ERROR, events=(exception,))
    second = span(chain, run)
    return [run, first, span(model, first), *([second, span(model, second)] if again else [])]


@pytest.mark.parametrize(
    ("kind", "again", "agents"),
    [
        ("a.AdapterParseError", True, 1),
        ("OutputParserException", True, 1),
        ("ValueError", True, 0),
        ("a.AdapterParseError", False, 0),
    ],
)
def test_the_span_around_a_refused_answer_is_the_run(span: MakeSpan, kind: str, *, again: bool, agents: int) -> None:
    """Where a later step asked anew; any other failure says nothing of the kind."""
    reading = dialects.read(_refused(span, kind, again=again))
    assert sum(isinstance(call, AgentCall) for call in reading.calls) == agents
    assert reading.ignored["CHAIN span"] == (3 if again else 2) - agents


def test_inside_an_agent_a_refused_answer_makes_no_agent(span: MakeSpan) -> None:
    """The agent is the run."""
    agent = span({"openinference.span.kind": "AGENT", "agent.name": "x"})
    run, *rest = _refused(span, "ParseError")
    reading = dialects.read([agent, replace(run, parent_id=agent.span_id), *rest])
    assert [call.key for call in reading.calls if isinstance(call, AgentCall)] == [agent.key]


def test_a_call_that_stands_twice_is_one_whatever_one_telling_has_lost(span: MakeSpan, read_one: Any) -> None:
    """In the contents and among the tool calls: by id, by place, by name and arguments."""
    head = "llm.output_messages.0.message."
    first, second = head + "contents.0.tool_call.", head + "contents.1.tool_call."
    attributes = {
        "openinference.span.kind": "LLM",
        head + "role": "assistant",
        first + "id": "c1",
        first + "function.name": "find",
        second + "function.name": "find",
        second + "function.arguments": '{"q": "b"}',
        head + "tool_calls.0.tool_call.function.name": "find",
        head + "tool_calls.0.tool_call.function.arguments": '{"q": "a"}',
        head + "tool_calls.1.tool_call.id": "c2",
        head + "tool_calls.1.tool_call.function.name": "find",
    }
    (message,) = read_one(span(attributes)).output
    assert [(part.id, part.name, part.arguments) for part in message.parts] == [
        ("c1", "find", {"q": "a"}),
        ("c2", "find", {"q": "b"}),
    ]
