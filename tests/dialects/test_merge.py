"""One call that two instrumentations traced is one call; two calls that look alike are two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from atifold import dialects
from atifold.calls import AgentCall, ModelCall, ToolCall
from atifold.spans import Span

MakeSpan = Callable[..., Span]
Said = Callable[[str, str], str]


def usage(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    """Return attributes of a usage."""
    return {"gen_ai.usage.input_tokens": prompt, "gen_ai.usage.output_tokens": completion, **more}


def test_a_providers_span_inside_a_chat_is_the_chat(chat: MakeSpan, said: Said) -> None:
    """The same response id and usage: the outer key and content, the inner usage, and a note."""
    content = {"gen_ai.output.messages": said("assistant", "ho")}
    outer = chat({**usage(10, 5), **content, "gen_ai.response.id": "r"}, name="chat m")
    inner = chat(
        {**usage(10, 5), "gen_ai.response.id": "r", "gen_ai.usage.cache_read.input_tokens": 0},
        outer,
        name="messages.create",
    )
    reading = dialects.read([inner, outer])
    (call,) = reading.calls
    assert isinstance(call, ModelCall)
    assert call.key == outer.key
    assert call.output is not None
    assert call.usage is not None
    assert (call.usage.prompt, call.usage.cached) == (10, 0)
    assert reading.notes == ("chat m: one call traced twice, merged with messages.create",)


def test_the_usage_is_the_innermost_ones_and_content_that_of_most(chat: MakeSpan, said: Said) -> None:
    """Of three layers the key is the outermost's, the cache count the provider's, the output the fullest."""
    output = {"gen_ai.output.messages": said("assistant", "ho")}
    first = chat({**usage(10, 5), **output, "gen_ai.usage.cache_read.input_tokens": 0})
    second = chat({**usage(10, 5), **output}, first)
    thought = '[{"role":"assistant","parts":[{"type":"reasoning","content":"r"},{"type":"text","content":"ho"}]}]'
    third = chat({**usage(10, 5), "gen_ai.output.messages": thought, "gen_ai.usage.cache_read.input_tokens": 7}, second)
    (call,) = dialects.read([third, first, second]).calls
    assert isinstance(call, ModelCall)
    assert call.key == first.key
    assert call.usage is not None
    assert call.usage.cached == 7
    assert call.output is not None
    assert len(call.output[0].parts) == 2


def test_what_hung_under_the_inner_span_hangs_under_the_call(chat: MakeSpan, span: MakeSpan, said: Said) -> None:
    """Children of the span that is gone get the one that stays as parent."""
    output = {"gen_ai.output.messages": said("assistant", "ho")}
    outer = chat(output)
    inner = chat(output, outer)
    tool = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}, inner)
    found = {type(call): call for call in dialects.read([tool, inner, outer]).calls}
    assert found[ToolCall].parent == outer.key


def test_an_empty_span_around_one_call_is_that_call(chat: MakeSpan) -> None:
    """A wrapper that states no id, output or usage is paired by nesting; with two calls inside it stays apart."""
    outer = chat()
    assert len(dialects.read([outer, chat({}, outer)]).calls) == 2
    inner = chat({**usage(10, 5), "gen_ai.response.id": "r"}, outer)
    (call,) = dialects.read([outer, inner]).calls
    assert (call.key, getattr(call, "response_id", None)) == (outer.key, "r")
    assert len(dialects.read([outer, inner, chat(usage(20, 5), outer)]).calls) == 3


def test_an_answer_around_figures_is_one_call(chat: MakeSpan, said: Said) -> None:
    """One instrumentation captures content, the other tokens; not so where the inner call ran on after the outer."""
    answer = {"gen_ai.output.messages": said("assistant", "ho")}
    outer = chat(answer, start_ns=1000, end_ns=9000)
    inner = chat(usage(10, 5), outer, start_ns=2000, end_ns=9000)
    (call,) = dialects.read([outer, inner]).calls
    assert isinstance(call, ModelCall)
    assert call.output is not None
    assert call.usage is not None
    assert (call.key, call.usage.prompt) == (outer.key, 10)
    for apart in (replace(inner, end_ns=9001), replace(inner, end_ns=None), replace(inner, start_ns=999)):
        assert len(dialects.read([outer, apart]).calls) == 2
    assert len(dialects.read([outer, inner, chat(usage(20, 5), outer)]).calls) == 3


DIFFERENT = [
    ({"gen_ai.response.id": "other"}, "another response id"),
    (usage(20, 5), "another usage"),
    ({"gen_ai.response.model": "n"}, "another model"),
    ({"gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"else"}]}]'}, "another output"),
]


@pytest.mark.parametrize(("more", "why"), DIFFERENT, ids=[why for _, why in DIFFERENT])
def test_a_nested_call_that_states_something_else_is_another_call(
    chat: MakeSpan, said: Said, more: dict[str, Any], why: str
) -> None:
    """Frameworks nest the next call in the one before: any difference keeps them apart."""
    same = {**usage(10, 5), "gen_ai.response.id": "r", "gen_ai.response.model": "m"}
    same["gen_ai.output.messages"] = said("assistant", "ho")
    outer = chat(same)
    assert len(dialects.read([outer, chat({**same, **more}, outer)]).calls) == 2, why
    assert len(dialects.read([outer, chat(same, outer)]).calls) == 1


def test_a_nested_call_without_content_and_id_needs_the_same_request(chat: MakeSpan, said: Said) -> None:
    """Equal usage alone does not join calls whose requests differ."""
    outer = chat({**usage(10, 5), "gen_ai.input.messages": said("user", "one")})
    other = chat({**usage(10, 5), "gen_ai.input.messages": said("user", "two")}, outer)
    assert len(dialects.read([outer, other]).calls) == 2
    assert len(dialects.read([outer, replace(other, attributes=outer.attributes)]).calls) == 1


def test_an_equal_response_id_alone_proves_nothing(chat: MakeSpan, span: MakeSpan) -> None:
    """Test servers repeat ids: one after another, or in another agent, they are two calls."""
    same = {**usage(10, 5), "gen_ai.response.id": "r"}
    agent = {"gen_ai.operation.name": "invoke_agent"}
    one, other = span({**agent, "gen_ai.agent.name": "a"}), span({**agent, "gen_ai.agent.name": "b"})
    spans = [one, other, chat(same, one), chat(same, one), chat(same, other, start_ns=3000, end_ns=3500)]
    assert len([call for call in dialects.read(spans).calls if isinstance(call, ModelCall)]) == 3


def test_two_failed_spans_in_each_other_are_one_failed_call(chat: MakeSpan) -> None:
    """A refused request has no id, output or usage on either span."""
    outer = chat({"error.type": "429"})
    assert len(dialects.read([outer, chat({"error.type": "RateLimit"}, outer)]).calls) == 1
    assert len(dialects.read([outer, chat({}, outer)]).calls) == 2


def test_siblings_with_one_id_at_one_time_are_one_call(chat: MakeSpan) -> None:
    """A provider's span beside the framework's lies within its time; a stream may count one token too many."""
    outer = chat({**usage(10, 6), "gen_ai.response.id": "r"}, start_ns=100, end_ns=200)
    inner = chat({**usage(10, 5), "gen_ai.response.id": "r"}, start_ns=110, end_ns=190)
    (call,) = dialects.read([inner, outer]).calls
    assert isinstance(call, ModelCall)
    assert call.key == outer.key
    assert len(dialects.read([outer, replace(inner, start_ns=200, end_ns=300)]).calls) == 2
    bare = {"gen_ai.operation.name": "chat", "gen_ai.response.id": "r"}
    assert len(dialects.read([outer, replace(inner, attributes=bare)]).calls) == 2


def test_the_same_call_under_another_span_id_is_one(chat: MakeSpan, said: Said) -> None:
    """Equal times, output and usage: an export that was doubled. Without content two equal calls are two."""
    twin: dict[str, Any] = {"start_ns": 100, "end_ns": 200}
    attributes = {**usage(10, 5), "gen_ai.output.messages": said("assistant", "ho")}
    assert len(dialects.read([chat(attributes, **twin), chat(attributes, **twin)]).calls) == 1
    assert len(dialects.read([chat(usage(10, 5), **twin), chat(usage(10, 5), **twin)]).calls) == 2


def test_two_exports_of_one_span_are_one_span(chat: MakeSpan) -> None:
    """Of the same ids the fuller export counts, in any order."""
    whole = chat(usage(10, 5))
    early = replace(whole, end_ns=None, attributes={"gen_ai.operation.name": "chat"})
    assert dialects.read([early, whole, early]) == dialects.read([whole, early]) == dialects.read([whole])
    assert dialects.read([early]) != dialects.read([whole])


def test_a_tool_traced_twice_is_one_execution(span: MakeSpan) -> None:
    """Nested spans of one tool are one; two that ask for something else, or stand side by side, are two."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": '{"a": 1}'}
    outer = span(tool)
    inner = span({**tool, "gen_ai.tool.call.result": "ok", "gen_ai.tool.call.id": "1"}, outer)
    (call,) = dialects.read([outer, inner]).calls
    assert isinstance(call, ToolCall)
    assert (call.key, call.id, call.result) == (outer.key, "1", "ok")
    recursive = replace(inner, attributes={**tool, "gen_ai.tool.call.arguments": '{"a": 2}'})
    assert len(dialects.read([outer, recursive]).calls) == 2
    assert len(dialects.read([outer, span(tool, start_ns=outer.start_ns, end_ns=outer.end_ns)]).calls) == 2


def test_an_agent_that_only_wraps_itself_is_one_agent(span: MakeSpan, chat: MakeSpan) -> None:
    """Two agent spans of one name, one around nothing but the other; with more inside they are two."""
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    outer = span(agent)
    inner = span(agent, outer)
    model = chat({}, inner)
    calls = dialects.read([outer, inner, model]).calls
    assert {call.key for call in calls if isinstance(call, AgentCall)} == {outer.key}
    assert {call.parent for call in calls if isinstance(call, ModelCall)} == {outer.key}
    assert len(dialects.read([outer, inner, model, chat({}, outer)]).calls) == 4


def test_an_emitter_that_counts_its_calls_traces_none_twice(chat: MakeSpan, span: MakeSpan, said: Said) -> None:
    """Equal calls of parallel branches, or an agent that calls itself, stay what they are when both were counted."""
    twin: dict[str, Any] = {"start_ns": 100, "end_ns": 200}
    content = {**usage(10, 5), "gen_ai.output.messages": said("assistant", "ho")}
    counted = [chat({**content, "atifold.sequence": number}, **twin) for number in (1, 2)]
    assert len(dialects.read(counted).calls) == 2
    assert len(dialects.read([counted[0], chat(content, **twin)]).calls) == 1
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    outer = span({**agent, "atifold.sequence": 1})
    assert len(dialects.read([outer, span({**agent, "atifold.sequence": 2}, outer)]).calls) == 2
    assert len(dialects.read([outer, span(agent, outer)]).calls) == 1


def test_a_prompt_counted_without_its_cache_is_that_of_the_call_inside(chat: MakeSpan, said: Said) -> None:
    """The outer span tells of no cache and of as much less: one call, with the provider's figures."""
    outer = chat({**usage(36, 5), "gen_ai.output.messages": said("assistant", "ho")})
    cache = {"gen_ai.usage.cache_read.input_tokens": 60, "gen_ai.usage.cache_creation.input_tokens": 4}
    (call,) = dialects.read([outer, chat({**usage(100, 5), **cache}, outer)]).calls
    assert isinstance(call, ModelCall)
    assert call.usage is not None
    assert (call.usage.prompt, call.usage.cached) == (100, 60)
    assert len(dialects.read([outer, chat({**usage(101, 5), **cache}, outer)]).calls) == 2


def test_calls_left_over_on_the_span_around_several_are_not_the_last_ones(chat: MakeSpan) -> None:
    """A callback wrote each call's attributes onto one span: what an earlier one asked for is still there."""
    asked = '{"type":"tool_call","id":"c","name":"f","arguments":{}}'
    text = '{"type":"text","content":"ho"}'
    first, last, both = (f'[{{"role":"assistant","parts":[{parts}]}}]' for parts in (asked, text, f"{text},{asked}"))
    around = chat({**usage(20, 5), "gen_ai.output.messages": both})
    one = chat({**usage(10, 5), "gen_ai.output.messages": first}, around)
    two = chat({**usage(20, 5), "gen_ai.output.messages": last}, around)
    calls = [call for call in dialects.read([around, one, two]).calls if isinstance(call, ModelCall)]
    assert {call.key for call in calls} == {one.key, two.key}
    assert [len(message.parts) for call in calls for message in call.output or ()] == [1, 1]


def test_a_gateway_may_answer_under_an_id_of_its_own(chat: MakeSpan, said: Said) -> None:
    """Request, answer and usage are the same: one call, though the ids differ. Without the request they are two."""
    content = {**usage(10, 5), "gen_ai.output.messages": said("assistant", "ho")}
    asked = {"gen_ai.input.messages": said("user", "hi")}
    outer = chat({**content, **asked, "gen_ai.response.id": "chatcmpl-1"})
    assert len(dialects.read([outer, chat({**content, **asked, "gen_ai.response.id": "msg_1"}, outer)]).calls) == 1
    assert len(dialects.read([outer, chat({**content, "gen_ai.response.id": "msg_1"}, outer)]).calls) == 2


def test_two_dialects_beside_each_other_may_tell_of_one_call(chat: MakeSpan, span: MakeSpan, said: Said) -> None:
    """One has no content and lies within the other's time; of one emitter, or one after the other, they are two."""
    kind = {"openinference.span.kind": "LLM", "llm.token_count.prompt": 10, "llm.token_count.completion": 5}
    kind |= {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "ho"}
    framework = span(kind, start_ns=100, end_ns=200)
    client = chat(usage(10, 5), start_ns=110, end_ns=190)
    assert len(dialects.read([framework, client]).calls) == 1
    later, other = (
        replace(client, start_ns=210, end_ns=290),
        replace(client, attributes={**client.attributes, **usage(11, 5)}),
    )
    alike = chat({**usage(10, 5), "gen_ai.output.messages": said("assistant", "ho")}, start_ns=100, end_ns=200)
    for two in ([framework, later], [framework, other], [alike, client]):
        assert len(dialects.read(two).calls) == 2


def test_content_of_a_client_inside_a_frameworks_figures(chat: MakeSpan, span: MakeSpan) -> None:
    """The outer span of another dialect has the usage alone, the inner one the messages alone."""
    outer = chat(usage(10, 5), start_ns=100, end_ns=200)
    kind = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": "ho"}
    inner = span({**kind, "llm.output_messages.0.message.role": "assistant"}, outer, start_ns=110, end_ns=190)
    (call,) = dialects.read([outer, inner]).calls
    assert isinstance(call, ModelCall)
    assert (bool(call.output), call.usage and call.usage.prompt) == (True, 10)
