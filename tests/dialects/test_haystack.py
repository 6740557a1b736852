"""What Haystack's tracer tells with and without content, in its older and newer forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atifold import dialects
from atifold.calls import AgentCall, Media, ModelCall, Reasoning, Text, ToolCall, ToolRequest, ToolResponse
from atifold.spans import Span


def span(name: str, more: dict[str, Any] | None = None, parent_id: str | None = None) -> Span:
    """Return a span of Haystack's; values that are no texts as it writes them."""
    found = {key: value if isinstance(value, (str, bool)) else json.dumps(value) for key, value in (more or {}).items()}
    return Span("a" * 32, "b" * 16, parent_id, name, 1, 9, attributes=found)


def one(*spans: Span) -> Any:
    """Return the only call that spans tell of."""
    (call,) = dialects.read(spans).calls
    return call


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (span("haystack.agent.step.llm"), ModelCall),
        (span("haystack.agent.step.tool", {"haystack.tool.name": "find"}), ToolCall),
        (span("haystack.agent.run", {"haystack.agent.exit_conditions": ["text"]}), AgentCall),
        (span("haystack.pipeline.run", {"haystack.pipeline.metadata": {}}), AgentCall),
        (span("haystack.pipeline.run", {"haystack.pipeline.metadata": {}}, "c" * 16), None),
        (span("haystack.component.run", {"haystack.component.type": "OpenAIChatGenerator"}), ModelCall),
        (span("haystack.component.run", {"haystack.component.type": "PromptBuilder"}), None),
        (span("haystack.component.run", {"haystack.component.type": "Agent"}), None),
        (span("haystack.agent.step", {"haystack.agent.step": "0"}), None),
        (span("haystack.agent.hook.human", {"haystack.tool.name": "find"}), None),
    ],
)
def test_names_say_what_a_span_is(told: Span, kind: type | None) -> None:
    """Also where no content is captured."""
    assert [type(call) for call in dialects.read([told]).calls] == ([] if kind is None else [kind])


def test_a_generator_without_chat_has_one_prompt() -> None:
    """Its replies are texts, with what is said of them beside."""
    output = {"replies": ["Hi."], "meta": [{"model": "m", "finish_reason": "stop", "usage": {"prompt_tokens": 3}}]}
    about = {"haystack.component.type": "OpenAIGenerator", "haystack.component.input": {"prompt": "Hello"}}
    call = one(span("haystack.component.run", {**about, "haystack.component.output": output}))
    assert [(m.role, m.parts) for m in (*call.input, *call.output)] == [
        ("user", (Text("Hello"),)),
        ("assistant", (Text("Hi."),)),
    ]
    assert (call.model, call.finish_reasons, call.usage.prompt) == ("m", ("stop",), 3)


def test_all_parts_of_a_message_are_read() -> None:
    """Under their names, which once began with an underscore; bytes do not reach a trace."""
    origin = {"tool_name": "find", "arguments": {"order": 7}, "id": "c1"}
    image = {"base64_image": "Base64 string (9 characters)", "mime_type": "image/png"}
    told = [
        {"_role": "user", "_content": [{"image": image}]},
        {"role": "assistant", "content": [{"reasoning": {"reasoning_text": "Hm."}}, {"tool_call": origin}]},
        {"role": "tool", "content": [{"tool_call_result": {"result": "no", "origin": origin, "error": True}}]},
    ]
    call = one(span("haystack.agent.step.llm", {"haystack.agent.step.llm.input": {"messages": told}}))
    assert [(m.role, m.parts) for m in call.input] == [
        ("user", (Media("image", "image/png"),)),
        ("assistant", (Reasoning("Hm."), ToolRequest("c1", "find", {"order": 7}))),
        ("tool", (ToolResponse("c1", "no", "find", failed=True),)),
    ]


def test_a_failed_tool_gives_why() -> None:
    """Not the object around it."""
    told = {
        "haystack.tool.name": "find",
        "haystack.agent.step.tool.output": {"error": "no"},
        "haystack.tool.error": True,
    }
    call = one(span("haystack.agent.step.tool", told))
    assert (call.result, call.failure.message) == ("no", "no")


def test_what_is_not_as_expected_is_passed_over() -> None:
    """Nothing raises."""
    wrong = {"replies": [7, None, {"content": [{}, {"tool_call": 1}]}], "meta": 3, "tool_messages": [{"content": [1]}]}
    about = {"haystack.component.type": "XGenerator", "haystack.component.output": wrong}
    assert isinstance(one(span("haystack.component.run", about)), ModelCall)
