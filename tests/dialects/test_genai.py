"""The GenAI conventions, from the newest names back to the first ones."""

from __future__ import annotations

import json
from collections.abc import Callable
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
    OtherPart,
    Reasoning,
    Text,
    ToolCall,
    ToolRequest,
    ToolResponse,
    Usage,
)
from atifold.spans import Span, SpanEvent, Status

MakeSpan = Callable[..., Span]
ReadOne = Callable[[Span], Any]
HELLO = Message("user", (Text("hi"),))


def messages_of(read_one: ReadOne, span: Span) -> tuple[Message, ...]:
    """Return the input of the one model call."""
    call = read_one(span)
    assert isinstance(call, ModelCall)
    assert call.input is not None
    return call.input


def test_a_model_call_has_what_its_span_says(
    chat: MakeSpan, read_one: ReadOne, said: Callable[[str, str], str]
) -> None:
    """Every attribute of the conventions lands in its field, and request settings in `extra`."""
    call = read_one(
        chat(
            {
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "m",
                "gen_ai.response.model": "m-1",
                "gen_ai.response.id": "r1",
                "gen_ai.response.finish_reasons": ("stop",),
                "gen_ai.request.temperature": 0.5,
                "gen_ai.request.stop_sequences": ("a", "b"),
                "gen_ai.request.reasoning.level": "high",
                "gen_ai.usage.input_tokens": 10,
                "gen_ai.usage.output_tokens": 5,
                "gen_ai.usage.cache_read.input_tokens": 4,
                "gen_ai.usage.cache_write.input_tokens": 1,
                "gen_ai.usage.reasoning.output_tokens": 2,
                "gen_ai.usage.text.input_tokens": 10,
                "gen_ai.input.messages": said("user", "hi"),
                "gen_ai.output.messages": said("assistant", "ho"),
                "gen_ai.system_instructions": '[{"type":"text","content":"be kind"}]',
                "gen_ai.tool.definitions": '[{"type":"function","name":"t"}]',
                "gen_ai.agent.name": "a",
                "gen_ai.conversation.id": "c",
            },
            resource={"service.name": "app", "service.version": "2"},
        )
    )
    assert isinstance(call, ModelCall)
    assert (call.provider, call.model, call.response_id, call.finish_reasons) == ("openai", "m-1", "r1", ("stop",))
    assert (call.input, call.output) == ((HELLO,), (Message("assistant", (Text("ho"),)),))
    assert (call.system, call.tools) == ("be kind", ({"type": "function", "name": "t"},))
    assert (call.agent_name, call.conversation, call.reasoning_effort) == ("a", "c", "high")
    assert (call.service, call.service_version, call.dialect) == ("app", "2", "genai")
    assert call.usage is not None
    assert call.usage.raw["gen_ai.usage.text.input_tokens"] == 10
    figures = call.usage.prompt, call.usage.completion, call.usage.cached, call.usage.cache_write, call.usage.reasoning
    assert figures == (10, 5, 4, 1, 2)
    assert call.extra == {"gen_ai.request.temperature": 0.5, "gen_ai.request.stop_sequences": ["a", "b"]}


def test_the_first_names_are_read_too(chat: MakeSpan, read_one: ReadOne) -> None:
    """What 1.26 called its attributes feeds the same fields."""
    old = {"gen_ai.system": "openai", "gen_ai.usage.prompt_tokens": 7, "gen_ai.usage.completion_tokens": 3}
    call = read_one(chat({**old, "gen_ai.usage.cache_creation.input_tokens": 1, "gen_ai.request.model": "m"}))
    assert (call.provider, call.model) == ("openai", "m")
    assert (call.usage.prompt, call.usage.completion, call.usage.cache_write) == (7, 3, 1)


def test_the_newest_name_wins(chat: MakeSpan, read_one: ReadOne) -> None:
    """A span that carries an old and a new name is read by the new one, unless that one says nothing."""
    both = {"gen_ai.usage.prompt_tokens": 7, "gen_ai.usage.input_tokens": 8}
    assert read_one(chat(both)).usage.prompt == 8
    assert read_one(chat({**both, "gen_ai.usage.input_tokens": "n/a"})).usage.prompt == 7


PARTS = [
    ({"type": "text", "content": "t"}, Text("t")),
    ({"type": "reasoning", "content": "r", "signature": "s"}, Reasoning("r", {"signature": "s"})),
    ({"type": "thinking", "thinking": "r"}, Reasoning("r")),
    ({"type": "tool_call", "id": "1", "name": "f", "arguments": {"a": 1}}, ToolRequest("1", "f", {"a": 1})),
    ({"type": "tool_call", "id": "", "name": "f", "arguments": '{"a": 1}'}, ToolRequest(None, "f", {"a": 1})),
    ({"type": "tool_call", "name": "f"}, ToolRequest(None, "f", MISSING)),
    (
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AA"},
        Media("image", "image/png", None, "AA"),
    ),
    ({"type": "uri", "modality": "image", "uri": "http://x"}, Media("image", None, "http://x")),
    ({"type": "uri", "modality": "image", "uri": "data:image/gif;base64,AA"}, Media("image", "image/gif", None, "AA")),
    ({"type": "file", "modality": "document", "file_id": "f1"}, Media("document", None, "f1")),
    ({"type": "image_url", "image_url": {"url": "http://x"}}, Media("image", None, "http://x")),
    ({"type": "compaction", "id": "c"}, OtherPart({"type": "compaction", "id": "c"})),
]


@pytest.mark.parametrize(("part", "wanted"), PARTS, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("as_text", [True, False], ids=["text", "structured"])
def test_each_kind_of_part_is_read(
    chat: MakeSpan, read_one: ReadOne, part: dict[str, Any], wanted: Any, *, as_text: bool
) -> None:
    """A part comes out the same from JSON text and from a structured value."""
    value = [{"role": "assistant", "parts": [part]}]
    span = chat({"gen_ai.input.messages": json.dumps(value) if as_text else value})
    assert messages_of(read_one, span) == (Message("assistant", (wanted,)),)


@pytest.mark.parametrize("key", ["response", "result"])
def test_a_tool_result_is_a_tool_message_whoever_speaks(chat: MakeSpan, read_one: ReadOne, key: str) -> None:
    """Results inside a user message stand apart, before what the user says."""
    parts = [{"type": "tool_call_response", "id": "1", key: {"x": 1}}, {"type": "text", "content": "hi"}]
    span = chat({"gen_ai.input.messages": [{"role": "user", "parts": parts}]})
    assert messages_of(read_one, span) == (Message("tool", (ToolResponse("1", {"x": 1}),)), HELLO)


def test_openai_messages_are_read_in_place_of_parts(chat: MakeSpan, read_one: ReadOne) -> None:
    """`content`, `tool_calls` and `tool_call_id` beside a role mean the same as parts."""
    call = {"id": "1", "function": {"name": "f", "arguments": "{}"}}
    value = [
        {"role": "developer", "content": "s"},
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "r"},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
        '{"role": "user", "content": [{"type": "text", "text": "hi"}]}',
    ]
    assert messages_of(read_one, chat({"gen_ai.input.messages": value})) == (
        Message("system", (Text("s"),)),
        Message("assistant", (Reasoning("r"), ToolRequest("1", "f", {}))),
        Message("tool", (ToolResponse("1", "42"),)),
        HELLO,
    )


@pytest.mark.parametrize("marker", [{"is_error": True}, {"status": "error"}])
def test_a_result_says_that_it_failed(chat: MakeSpan, read_one: ReadOne, marker: dict[str, Any]) -> None:
    """A part's own error marker marks the response."""
    part = {"type": "tool_call_response", "id": "1", "response": "no", **marker}
    (message,) = messages_of(read_one, chat({"gen_ai.input.messages": [{"role": "tool", "parts": [part]}]}))
    assert message.parts == (ToolResponse("1", "no", None, failed=True),)


def test_messages_that_a_limit_has_cut_keep_those_before(chat: MakeSpan, said: Callable[[str, str], str]) -> None:
    """Whole messages before the cut and the usage are kept; the call is incomplete and a note says truncated."""
    cut = said("user", "hi")[:-1] + ", " + said("assistant", "never whole")[1:-9]
    reading = dialects.read([chat({"gen_ai.input.messages": cut, "gen_ai.usage.input_tokens": 5})])
    (call,) = reading.calls
    assert isinstance(call, ModelCall)
    assert call.input == (HELLO,)
    assert call.usage is not None
    assert call.usage.prompt == 5
    assert call.incomplete == ("content truncated",)
    assert reading.notes == ("x: content truncated: 1 whole entries kept",)


def test_messages_of_which_none_is_whole_are_not_known(chat: MakeSpan, read_one: ReadOne) -> None:
    """Content of which nothing is left is not an empty history; an empty list is."""
    assert read_one(chat({"gen_ai.input.messages": '[{"role": "us'})).input is None
    assert read_one(chat({"gen_ai.input.messages": "[]"})).input == ()


@pytest.mark.parametrize(("value", "wanted"), [("50", 50), (6.0, 6), ("6.0", 6), ('"7"', 7), (0, 0)])
def test_token_counts_are_numbers_however_written(chat: MakeSpan, read_one: ReadOne, value: Any, wanted: int) -> None:
    """Texts, doubles and quoted texts of whole numbers count."""
    span = chat({"gen_ai.usage.output_tokens": value, "gen_ai.usage.input_tokens": 1})
    assert read_one(span).usage.completion == wanted


@pytest.mark.parametrize("value", ["NaN", float("nan"), "many", -1, 1.5, True, [1], None])
def test_what_is_no_number_is_unknown(chat: MakeSpan, read_one: ReadOne, value: Any) -> None:
    """Anything else is dropped, never 0."""
    span = chat({"gen_ai.usage.output_tokens": value, "gen_ai.usage.input_tokens": 1})
    assert read_one(span).usage == Usage(prompt=1, raw=read_one(span).usage.raw)


def test_more_cached_than_prompt_tokens_prove_an_exclusive_count(chat: MakeSpan, read_one: ReadOne) -> None:
    """The cache is added to the prompt only when it cannot be inside, and the raw figures stay."""
    figures = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.cache_read.input_tokens": 90}
    usage = read_one(chat({**figures, "gen_ai.usage.cache_write.input_tokens": 5})).usage
    assert (usage.prompt, usage.cached, usage.raw["gen_ai.usage.input_tokens"]) == (105, 90, 10)
    assert read_one(chat({**figures, "gen_ai.usage.input_tokens": 95})).usage.prompt == 95


def test_zeros_beside_content_are_unknown(chat: MakeSpan, read_one: ReadOne, said: Callable[[str, str], str]) -> None:
    """All counts 0 on a call that said something tell that nobody counted; without content they stand."""
    zeros = {"gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0}
    assert read_one(chat({**zeros, "gen_ai.output.messages": said("assistant", "x")})).usage is None
    assert read_one(chat(zeros)).usage.prompt == 0


def test_no_usage_is_none(chat: MakeSpan, read_one: ReadOne) -> None:
    """A span without figures has no usage."""
    assert read_one(chat()).usage is None


def test_a_tool_call_has_what_its_span_says(span: MakeSpan, read_one: ReadOne) -> None:
    """Name, id, arguments, result and description of an execution."""
    call = read_one(
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "f",
                "gen_ai.tool.call.id": "1",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.description": "d",
                "gen_ai.tool.call.arguments": '{"n": 123456789012345678901234567890}',
                "gen_ai.tool.call.result": '{"x": 1}',
            }
        )
    )
    assert isinstance(call, ToolCall)
    assert (call.tool, call.id, call.description) == ("f", "1", "d")
    assert call.arguments == {"n": 123456789012345678901234567890}
    assert call.result == '{"x": 1}'
    assert call.extra == {"gen_ai.tool.type": "function"}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("{'a': None}", {"a": None}),
        ("{a}", "{a}"),
        ("Berlin", "Berlin"),
        ("", MISSING),
        ("<not serializable>", MISSING),
    ],
)
def test_arguments_survive_as_they_are(span: MakeSpan, read_one: ReadOne, value: Any, wanted: Any) -> None:
    """Objects, JSON, also JSON in JSON, and Python reprs are parsed; other text is kept, placeholders are nothing."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": value}
    assert read_one(span(attributes)).arguments == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("", ""),
        (None, None),
        ("null", "null"),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ("<not specified>", MISSING),
        ([1], [1]),
    ],
)
def test_results_survive_as_they_are(span: MakeSpan, read_one: ReadOne, value: Any, wanted: Any) -> None:
    """A text stays a text; only JSON text inside JSON text loses a coat, and placeholders are nothing."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": value}
    assert read_one(span(attributes)).result == wanted


def test_agents_and_workflows_are_told_apart(span: MakeSpan, read_one: ReadOne) -> None:
    """An agent takes the agent's name, a workflow the workflow's."""
    names = {"gen_ai.agent.name": "a", "gen_ai.workflow.name": "w", "gen_ai.agent.version": "3"}
    agent = read_one(span({"gen_ai.operation.name": "invoke_agent", **names}))
    workflow = read_one(span({"gen_ai.operation.name": "invoke_workflow", **names}))
    assert isinstance(agent, AgentCall)
    assert (agent.agent, agent.workflow, agent.agent_version) == ("a", False, "3")
    assert (workflow.agent, workflow.workflow) == ("w", True)


@pytest.mark.parametrize("operation", ["create_agent", "plan", "retrieval", "embeddings", "search_memory"])
def test_operations_that_are_no_calls_are_counted_by_name(span: MakeSpan, operation: str) -> None:
    """They make no call, and the report says how many there were."""
    reading = dialects.read([span({"gen_ai.operation.name": operation})])
    assert reading.calls == ()
    assert reading.ignored == {operation: 1}


def test_the_merged_tool_span_is_no_call(span: MakeSpan) -> None:
    """The extra span after parallel tool calls repeats them; a tool of another name is one."""
    merged = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"}
    reading = dialects.read([span(merged), span({**merged, "gen_ai.tool.name": "merge"})])
    assert [call.tool for call in reading.calls if isinstance(call, ToolCall)] == ["merge"]
    assert reading.ignored == {"execute_tool (merged)": 1}


def test_a_span_without_an_operation_is_known_by_its_attributes(span: MakeSpan) -> None:
    """Model, tool and agent are guessed from what only they have; anything else is no call."""
    model = span({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1})
    tool = span({"gen_ai.tool.name": "f", "gen_ai.tool.call.id": "1"})
    agent = span({"gen_ai.agent.name": "a", "gen_ai.output.messages": "[]"})
    nothing = span({"gen_ai.agent.name": "a"})
    reading = dialects.read([model, tool, agent, nothing])
    kinds = {call.key: type(call) for call in reading.calls}
    assert kinds == {model.key: ModelCall, tool.key: ToolCall, agent.key: AgentCall}
    assert reading.ignored == {"no call": 1}


def test_content_in_the_span_event_of_the_conventions_is_read(
    chat: MakeSpan, read_one: ReadOne, said: Callable[[str, str], str]
) -> None:
    """Where the span lacks content, its own details event has it; where it has some, the span counts."""
    event = SpanEvent(
        "gen_ai.client.inference.operation.details", 1, {"gen_ai.input.messages": json.loads(said("user", "hi"))}
    )
    assert messages_of(read_one, chat(events=(event,))) == (HELLO,)
    span = chat({"gen_ai.input.messages": said("user", "span")}, events=(event,))
    assert messages_of(read_one, span) == (Message("user", (Text("span"),)),)


RAISED = SpanEvent("exception", 1, {"exception.type": "ValueError", "exception.message": "no"})


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"status": Status.ERROR, "status_message": "bad"}, Failure(None, "bad")),
        ({"status": Status.ERROR, "events": (RAISED,)}, Failure("ValueError", "no")),
        ({"events": (RAISED,)}, Failure("ValueError", "no")),
        ({"status": Status.OK, "events": (RAISED,)}, None),
        ({}, None),
    ],
)
def test_a_failure_is_status_or_exception(chat: MakeSpan, read_one: ReadOne, more: dict[str, Any], wanted: Any) -> None:
    """An error status, or an exception that nobody marked as handled, is a failure."""
    assert read_one(chat(**more)).failure == wanted


def test_an_error_type_is_a_failure(chat: MakeSpan, read_one: ReadOne) -> None:
    """`error.type` alone says that the call failed, and goes before the exception's class."""
    assert read_one(chat({"error.type": "429"}, events=(RAISED,))).failure == Failure("429", "no")


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"operation.cost": 0.5}, 0.5),
        ({"gen_ai.usage.cost": "0.5"}, 0.5),
        ({"gen_ai.usage.cost.amount": 0.5, "gen_ai.usage.cost.currency": "USD"}, 0.5),
        ({"gen_ai.usage.cost.amount": 0.5, "gen_ai.usage.cost.currency": "EUR"}, None),
        ({"operation.cost": 0.0}, None),
    ],
)
def test_cost_is_in_dollars_and_zero_is_unknown(
    chat: MakeSpan, read_one: ReadOne, attributes: dict[str, Any], wanted: float | None
) -> None:
    """A price of 0 is what is written without prices; another currency is no amount of dollars."""
    assert read_one(chat(attributes)).cost_usd == wanted


def test_a_made_up_service_name_is_none(chat: MakeSpan, read_one: ReadOne) -> None:
    """What an SDK puts there when nobody gave a name is nobody's name."""
    assert read_one(chat(resource={"service.name": "unknown_service:python"})).service is None


def test_a_conversation_that_is_a_response_is_none(chat: MakeSpan) -> None:
    """An id that changes with each call, the previous response's, ties nothing together."""
    first = chat({"gen_ai.response.id": "r1"})
    second = chat({"gen_ai.response.id": "r2", "gen_ai.conversation.id": "r1"})
    third = chat({"gen_ai.response.id": "r3", "gen_ai.conversation.id": "c"})
    found = {call.key: call.conversation for call in dialects.read([first, second, third]).calls}
    assert found == {first.key: None, second.key: None, third.key: "c"}


@pytest.mark.parametrize(("value", "wanted"), [("xai", "x_ai"), ("Google", "gcp.gemini"), ("mine+retry", "mine+retry")])
def test_a_renamed_provider_has_its_name_of_today(chat: MakeSpan, read_one: ReadOne, value: str, wanted: str) -> None:
    """Older spellings are mapped, other names stay as they are."""
    assert read_one(chat({"gen_ai.system": value})).provider == wanted
