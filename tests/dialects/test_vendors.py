"""What single frameworks and vendors write, and what of it is no call."""

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
    ModelCall,
    Reasoning,
    Text,
    ToolCall,
    ToolRequest,
    ToolResponse,
)
from atifold.dialects.cut_json import mended
from atifold.dialects.entity import opened, restored
from atifold.dialects.messages import read_parts
from atifold.dialects.values import Note
from atifold.spans import Span

MakeSpan = Callable[..., Span]
ReadOne = Callable[[Span], Any]
GEMINI = "gcp.vertex.agent."
SDK = "ai.operationId"


# ---- what a span is ------------------------------------------------------------------------------

KINDS = [
    ({"traceloop.span.kind": "agent"}, AgentCall),
    ({"traceloop.span.kind": "workflow"}, AgentCall),
    ({"traceloop.span.kind": "tool"}, ToolCall),
    ({"llm.request.type": "chat"}, ModelCall),
    ({"gen_ai.prompt.0.content": "hi"}, ModelCall),
    ({GEMINI + "llm_request": "{}"}, ModelCall),
    ({"agent_name": "a", "model_name": "m"}, AgentCall),
    ({"gen_ai.tool.name": "t", "tool_arguments": "{}", "logfire.msg": "running tool: t"}, ToolCall),
    ({SDK: "ai.generateObject"}, AgentCall),
    ({SDK: "ai.streamObject.doStream"}, ModelCall),
    ({SDK: "ai.toolCall"}, ToolCall),
    ({"langsmith.span.kind": "llm"}, ModelCall),
    ({"langsmith.span.kind": "chain", "langsmith.metadata.lc_agent_name": "x"}, AgentCall),
    ({"langsmith.span.kind": "chain"}, AgentCall),
    ({"langfuse.observation.type": "span"}, AgentCall),
    ({"mlflow.spanType": '"LLM"'}, ModelCall),
    ({"mlflow.spanType": '"TOOL"'}, ToolCall),
    ({"langfuse.observation.type": "generation"}, ModelCall),
    ({"langfuse.observation.type": "chain", "langfuse.observation.metadata.lc_agent_name": '"x"'}, AgentCall),
    ({"llm.anthropic.messages": "[]"}, ModelCall),
    ({"request_data": '{"messages": []}'}, ModelCall),
]


@pytest.mark.parametrize(("attributes", "kind"), KINDS)
def test_a_kind_of_span_is_a_kind_of_call(
    span: MakeSpan, read_one: ReadOne, attributes: dict[str, Any], kind: type
) -> None:
    """By its own attributes, whatever the span's name and scope."""
    assert type(read_one(span(attributes))) is kind


NO_CALLS = [
    ({"traceloop.span.kind": "task"}, "task span"),
    ({"traceloop.span.kind": "handoff"}, "handoff span"),
    ({"llm.request.type": "embedding"}, "embedding request"),
    ({GEMINI + "data": "[]"}, "data sent"),
    ({"tools": ["t"], "logfire.msg": "running 1 tool"}, "running tools"),
    ({SDK: "ai.embed"}, "ai.embed"),
    ({"langsmith.span.kind": "chain"}, "chain span"),
    ({"mlflow.spanType": '"RETRIEVER"'}, "RETRIEVER span"),
    ({"langfuse.observation.type": "embedding"}, "embedding observation"),
    ({"langfuse.observation.type": "span"}, "no call"),
    ({"event_loop.cycle_id": "1", "gen_ai.operation.name": "execute_event_loop_cycle"}, "event loop cycle"),
    ({"request_data": '{"url": "/"}'}, "no call"),
]


@pytest.mark.parametrize(("attributes", "reason"), NO_CALLS)
def test_nodes_wrappers_and_embeddings_are_no_calls(span: MakeSpan, attributes: dict[str, Any], reason: str) -> None:
    """They are counted by what they are; a chain or span around others may be a run."""
    reading = dialects.read([span(attributes, parent_id="ffffffffffffffff")])
    assert (reading.calls, reading.ignored) == ((), {reason: 1})


# ---- parts of messages ---------------------------------------------------------------------------

PARTS = [
    ({"text": "hi"}, Text("hi")),
    ({"text": "hm", "thought": True}, Reasoning("hm")),
    ({"function_call": {"name": "f", "args": {"a": 1}}}, ToolRequest(None, "f", {"a": 1})),
    ({"functionCall": {"id": "1", "name": "f"}}, ToolRequest("1", "f", {})),
    (
        {"function_response": {"id": "1", "name": "f", "response": {"error": "no"}}},
        ToolResponse("1", {"error": "no"}, "f", failed=True),
    ),
    ({"inline_data": {"mime_type": "image/png", "data": "aWk="}}, Media("image", "image/png", None, "aWk=")),
    ({"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}}, ToolRequest("1", "f", {"a": 1})),
    (
        {"toolResult": {"toolUseId": "1", "status": "error", "content": [{"text": "a"}, {"text": "b"}]}},
        ToolResponse("1", "a\nb", None, failed=True),
    ),
    ({"toolResult": {"toolUseId": "1", "content": [{"json": {"a": 1}}]}}, ToolResponse("1", {"a": 1})),
    ({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}, Reasoning("hm", {"signature": "s"})),
    ({"type": "reasoningContent", "content": {"reasoningText": {"text": "hm"}}}, Reasoning("hm")),
    ({"image": {"format": "png", "source": {"bytes": "<replaced>"}}}, Media("image", "image/png")),
    ({"type": "tool-call", "toolCallId": "1", "toolName": "f", "args": '{"a": 1}'}, ToolRequest("1", "f", {"a": 1})),
    ({"type": "tool-result", "toolCallId": "1", "toolName": "f", "result": "r"}, ToolResponse("1", "r", "f")),
    (
        {"type": "tool-result", "toolCallId": "1", "toolName": "f", "output": {"type": "error-text", "value": "r"}},
        ToolResponse("1", "r", "f", failed=True),
    ),
    ({"type": "image", "image": "aWk=", "mimeType": "image/png"}, Media("image", "image/png", None, "aWk=")),
    ({"type": "file", "mediaType": "image/png", "data": "aWk="}, Media("image", "image/png", None, "aWk=")),
    ({"type": "image", "image": "https://x.test/i.png"}, Media("image", None, "https://x.test/i.png")),
    ({"type": "binary", "media_type": "audio/wav", "content": "aWk="}, Media("audio", "audio/wav", None, "aWk=")),
    ({"kind": "image-url", "url": "https://x.test/i.png"}, Media("image", None, "https://x.test/i.png")),
    ({"kind": "thinking", "text": "hm"}, Reasoning("hm")),
]


@pytest.mark.parametrize(("block", "part"), PARTS)
def test_a_block_of_a_vendor_is_a_part(block: dict[str, Any], part: Any) -> None:
    """With a type of its own, or known by its telling key."""
    assert read_parts([block], Note()) == [part]


# ---- tools ---------------------------------------------------------------------------------------

LANGCHAIN = {"content": "no", "tool_call_id": "7", "status": "error", "type": "tool"}
WRAPPED = [
    {"output": {"lc": 1, "type": "constructor", "kwargs": LANGCHAIN}, "kwargs": {}},
    {"output": LANGCHAIN},
    LANGCHAIN,
    {"output": {"graph": None, "update": {"messages": [LANGCHAIN]}}},
]


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_the_wrapper_of_a_result_tells_id_and_failure(
    span: MakeSpan, read_one: ReadOne, wrapped: dict[str, Any]
) -> None:
    """A serialised tool message, a plain one, or the command of a graph that holds it."""
    attributes = {"traceloop.span.kind": "tool", "traceloop.entity.output": json.dumps(wrapped)}
    call = read_one(span(attributes))
    assert (call.result, call.id, call.failure) == ("no", "7", Failure(None, "no"))


@pytest.mark.parametrize(
    ("told", "result"), [('"a b"', "a b"), ("[INFO] a", "[INFO] a"), ('{"a": 1}', '{"a": 1}'), ("null", "null")]
)
def test_a_result_without_a_wrapper_stays_as_it_is(span: MakeSpan, read_one: ReadOne, told: str, result: str) -> None:
    """Quoted text loses its quotes; a text that only begins like JSON is a text."""
    assert read_one(span({"traceloop.span.kind": "tool", "traceloop.entity.output": told})).result == result


@pytest.mark.parametrize("told", ["N/A", "{}", "<not serializable>", '{"result": "<not specified>"}'])
def test_what_adk_writes_in_place_of_a_result_is_none(chat: MakeSpan, read_one: ReadOne, told: str) -> None:
    """Nor are such arguments."""
    names = ("tool_call_args", "tool_response")
    call = read_one(chat({"gen_ai.operation.name": "execute_tool", **{GEMINI + name: told for name in names}}))
    assert (call.arguments, call.result) == (MISSING, MISSING)


def test_a_tools_name_in_place_of_a_role_is_a_result(span: MakeSpan, read_one: ReadOne) -> None:
    """The JS callback of Langfuse writes it; a role that no call was asked of stays."""
    call = {"id": "1", "function": {"name": "look", "arguments": "{}"}}
    history = [
        {"role": "look", "content": "a"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "look", "content": "b"},
    ]
    attributes = {"langfuse.observation.type": "generation", "langfuse.observation.input": json.dumps(history)}
    messages = read_one(span(attributes)).input
    assert [message.role for message in messages] == ["look", "assistant", "tool"]
    assert messages[2].parts == (ToolResponse(None, "b", "look"),)


def test_calls_among_langchains_additional_fields_are_calls(chat: MakeSpan, read_one: ReadOne) -> None:
    """Where the message has no calls of its own; thoughts stand there too."""
    more = {"tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}], "reasoning_content": "hm"}
    said = [{"role": "assistant", "content": "", "additional_kwargs": more}]
    (message,) = read_one(chat({"gen_ai.output.messages": said})).output
    assert message.parts == (Reasoning("hm"), ToolRequest("1", "look", {}))


# ---- counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cached", "total", "wanted"), [(64, 184, 164), (64, 120, 100), (164, 120, 264)], ids=["apart", "inside", "proved"]
)
def test_a_total_tells_whether_the_cache_is_in_the_prompt(
    span: MakeSpan, read_one: ReadOne, cached: int, total: int, wanted: int
) -> None:
    """Counted apart it is added; more cached than prompt tokens prove the same without a total."""
    figures = {"prompt_tokens": 100, "completion_tokens": 20, "cache_read_input_tokens": cached}
    attributes = {f"gen_ai.usage.{name}": count for name, count in figures.items()}
    call = read_one(span({"llm.request.type": "chat", "llm.usage.total_tokens": total, **attributes}))
    assert call.usage.prompt == wanted


@pytest.mark.parametrize(
    ("provider", "more", "wanted"),
    [
        ("anthropic.messages", {}, 110),
        ("openai.chat", {}, 100),
        ("anthropic.messages", {"ai.usage.inputTokenDetails.noCacheTokens": 90}, 100),
    ],
)
def test_the_sdk_passes_on_anthropics_own_count_before_version_6(
    span: MakeSpan, read_one: ReadOne, provider: str, more: dict[str, int], wanted: int
) -> None:
    """From version 6 on the details say that the count is a sum."""
    counts = {"ai.usage.inputTokens": 100, "ai.usage.cachedInputTokens": 10, **more}
    call = read_one(span({SDK: "ai.generateText.doGenerate", "ai.model.provider": provider, **counts}))
    assert call.usage.prompt == wanted


# ---- JSON, and what is left of it ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{'a': None}", {"a": None}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"hi"', "hi"),
        ("[1] a", "[1] a"),
        ("hi", "hi"),
    ],
)
def test_a_value_is_opened_whatever_it_is_wrapped_in(told: str, value: Any) -> None:
    """JSON, JSON inside JSON, a Python repr; any other text is a text."""
    assert opened(told) == value


def test_json_that_was_cut_keeps_what_stands_before_the_cut() -> None:
    """Wherever the cut is, what is left is a beginning of the whole."""
    whole = {"a": [1, {"b": 'x"y é\\', "c": None}], "d": "end"}
    text = json.dumps(whole)
    for at in range(1, len(text)):
        left = mended(text[:at])
        assert left is not MISSING
        assert set(left) <= set(whole)
    assert mended(text[:-2]) == {**whole, "d": "end"}
    assert mended(text[:-3]) == {**whole, "d": "en"}
    assert mended("}") is MISSING


def test_a_request_that_was_cut_says_so() -> None:
    """A text that is no JSON of objects is none that was cut."""
    note = Note()
    assert restored('{"messages": [{"role": "user", "content": "Where is ord', note) == {
        "messages": [{"role": "user", "content": "Where is ord"}]
    }
    assert note.remarks == ["content truncated or broken: what stands before the cut is kept"]
    assert restored("[INFO] {a", Note()) == "[INFO] {a"


@pytest.mark.parametrize(
    ("rest", "kept"),
    [
        ('{"role": "assistant", "tool_calls": [{"name": "f", "args": {"id":', 1),
        ('{"role": "tool", "content": "pac', 1),
        ('{"role": "user", "content": "tha', 2),
        ('{"role": "assistant", "content": "ok"}', 2),
        ('{"role": "assistant", "content": "ok"}], "tools": [{"type": "fun', 2),
    ],
)
def test_the_half_of_a_message_inside_an_object_is_left_out(rest: str, kept: int) -> None:
    """A person's words are kept as far as they go, and what stands whole before the cut."""
    found = restored('{"model": "m", "messages": [{"role": "user", "content": "hi"}, ' + rest, Note())
    assert len(found["messages"]) == kept


def test_a_persons_words_before_the_cut_are_kept(chat: MakeSpan, read_one: ReadOne) -> None:
    """Of a message of the model or a tool nothing is: its repetition would be taken for another one."""
    cut = '[{"role": "system", "content": "S"}, {"role": "user", "content": "Where is ord'
    call = read_one(chat({"gen_ai.input.messages": cut}))
    assert [part for message in call.input for part in message.parts] == [Text("S"), Text("Where is ord")]
    assert call.incomplete == ("content truncated",)


# ---- two spans of one call, and of two -------------------------------------------------------------


@pytest.mark.parametrize(("event", "calls"), [("e-1", 1), ("e-2", 2)])
def test_event_ids_tell_nested_calls_apart(span: MakeSpan, event: str, calls: int) -> None:
    """ADK nests the next call in the one before; a call that it traced twice has one id."""
    counts = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
    outer = span({GEMINI + "llm_request": "{}", GEMINI + "event_id": "e-1", **counts})
    inner = span({GEMINI + "llm_request": "{}", GEMINI + "event_id": event, **counts}, outer)
    assert len(dialects.read([outer, inner]).calls) == calls


@pytest.mark.parametrize(("asked", "calls"), [("a", 1), ("b", 2)])
def test_a_record_answers_the_request_that_it_repeats(span: MakeSpan, asked: str, calls: int) -> None:
    """And no other one."""
    request = span({"request_data": '{"messages": [{"role": "user", "content": "a"}]}'})
    said = {"messages": [{"role": "user", "content": asked}]}
    record = {"request_data": json.dumps(said), "response_data": '{"combined_chunk_content": "hi"}'}
    found = dialects.read([request, span(record, start_ns=9000, end_ns=9000)]).calls
    assert len(found) == calls
    assert max(call.end_ns or 0 for call in found) == 9000


def test_an_agent_of_early_adk_is_known_by_its_spans_name(span: MakeSpan) -> None:
    """It has no attribute at all; a span of that name that has some speaks for itself."""
    (agent,) = dialects.read([span(name="agent_run [desk]")]).calls
    assert isinstance(agent, AgentCall)
    assert agent.agent == "desk"
    assert dialects.read([span({"app.step": 1}, name="agent_run [desk]")]).calls == ()


FAILED_RESULTS = {
    "of MCP": {"content": [{"type": "text", "text": "boom"}], "isError": True},
    "of MCP, wrapped": {"result": {"content": [], "isError": True}},
    "with a mark": {"is_error": True, "output": "boom"},
    "of the AI SDK": {"type": "error-text", "value": "boom"},
}


@pytest.mark.parametrize("as_text", [False, True], ids=["value", "text"])
@pytest.mark.parametrize("result", FAILED_RESULTS.values(), ids=FAILED_RESULTS)
def test_a_result_may_say_itself_that_the_tool_failed(
    span: MakeSpan, chat: MakeSpan, read_one: ReadOne, result: dict[str, Any], as_text: bool
) -> None:
    """On the tool's span and in the next request; one that says that it did not, or nothing, did not."""
    told: Any = json.dumps(result) if as_text else result
    fine = {**result, "isError": False, "is_error": False, "type": "text"} if "result" not in result else {"result": {}}
    for value, failed in ((told, True), (fine, False)):
        tool = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": value})
        assert (read_one(tool).failure is not None) is failed
        sent = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": value}]}]
        (message,) = read_one(chat({"gen_ai.input.messages": sent})).input or ()
        assert [part.failed for part in message.parts if isinstance(part, ToolResponse)] == [failed]


def test_a_tool_message_on_a_span_of_the_conventions_is_opened(span: MakeSpan, read_one: ReadOne) -> None:
    """It tells the call's id and that the tool failed; a tool's own object of a name and a response stays."""
    kwargs = {"content": "boom", "tool_call_id": "c", "status": "error"}
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.result": json.dumps({"output": {"kwargs": kwargs}}),
    }
    tool = read_one(span(attributes))
    assert (tool.id, tool.result, tool.failure) == ("c", "boom", Failure(None, "boom"))
    own = json.dumps({"name": "x", "response": "y"})
    assert read_one(span({**attributes, "gen_ai.tool.call.result": own})).result == own
