"""Reading as a whole: it never raises, knows no order, and says what it left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atifold import dialects, otlp
from atifold.calls import Call, ModelCall, Reading, ToolCall, ToolRequest
from atifold.dialects.registry import DIALECTS
from atifold.spans import Span, SpanEvent, Status

MakeSpan = Callable[..., Span]

NAMES = sorted({name for dialect in DIALECTS for name in dialect.row_names | dialect.kept | dialect.known})
FLAT = [
    "llm.input_messages.0.message.role",
    "llm.input_messages.0.message.content",
    "llm.input_messages.0.message",
    "llm.input_messages.0.message.tool_call_id",
    "llm.input_messages.99999999999999999999.message.role",
    "llm.output_messages.0.message.contents.1.message_content.text",
    "llm.output_messages.0.message.contents.1.message_content.image.image.url",
    "llm.output_messages.0.message.tool_calls.2.tool_call.function.arguments",
    "llm.output_messages.0.message.tool_calls",
    "llm.output_messages.",
    "llm.tools.0.tool.json_schema",
    "agentfootprint.x",
]
WORDS = ["user", "tool", "text", "tool_call", "tool_call_response", "reasoning", "blob", "", "{", '[{"role":', "NaN"]
KEYS = ["role", "parts", "content", "type", "tool_calls", "id", "name", "arguments", "response", "choices", "data"]
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(WORDS), st.binary(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=8,
)
VALUES = st.one_of(JSON, JSON.map(lambda value: json.dumps(value, default=str)))
ATTRIBUTES = st.dictionaries(st.sampled_from(NAMES + FLAT), VALUES, max_size=8)
KINDS = st.one_of(
    st.just({}),
    st.sampled_from(["chat", "execute_tool", "invoke_agent", "x"]).map(lambda word: {"gen_ai.operation.name": word}),
    st.sampled_from(["LLM", "TOOL", "AGENT", "CHAIN"]).map(lambda word: {"openinference.span.kind": word}),
)
EVENTS = st.builds(
    SpanEvent, st.sampled_from(["exception", "agentfootprint.error.retried"]), st.integers(0, 10**18), ATTRIBUTES
)
SPANS = st.builds(
    Span,
    trace_id=st.just("1" * 32),
    span_id=st.integers(1, 5).map("{:016x}".format),
    parent_id=st.none() | st.integers(1, 6).map("{:016x}".format),
    name=st.sampled_from(["x", "y"]),
    start_ns=st.integers(0, 2),
    end_ns=st.none() | st.integers(0, 3),
    attributes=st.builds(lambda kind, more: {**more, **kind}, KINDS, ATTRIBUTES),
    events=st.lists(EVENTS, max_size=2).map(tuple),
    status=st.sampled_from(Status),
    resource=st.dictionaries(st.sampled_from(["service.name", "service.version"]), JSON),
)


def in_order(reading: Reading) -> tuple[list[str], Any, Any, Any, Any]:
    """Return a reading in a form that knows no order of calls, and tells 1 from 1.0."""
    return sorted(map(repr, reading.calls)), reading.ignored, reading.dialects, reading.notes, reading.unknown_keys


@given(st.lists(SPANS, max_size=6))
def test_no_span_makes_reading_raise(spans: list[Span]) -> None:
    """Whatever attributes hold, a reading comes out, and `extra` is JSON."""
    for call in dialects.read(spans).calls:
        json.dumps(call.extra, allow_nan=False)


@given(st.lists(SPANS, max_size=6).flatmap(lambda spans: st.tuples(st.just(spans), st.permutations(spans))))
def test_the_order_of_spans_and_doubled_spans_change_nothing(both: tuple[list[Span], list[Span]]) -> None:
    """A shuffle, and the same spans again, give the same reading."""
    spans, shuffled = both
    assert in_order(dialects.read(spans)) == in_order(dialects.read(shuffled + spans[:2]))


@pytest.mark.parametrize("result", [{"type": []}, {"type": {}, "value": "12 °C"}, [{"kind": ["image"]}]])
def test_a_result_whose_type_is_no_word_is_kept_as_it_is(span: MakeSpan, result: Any) -> None:
    """A type that is a list or an object names nothing, and does not make reading raise."""
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": result}
    (call,) = dialects.read([span(told)]).calls
    assert isinstance(call, ToolCall)
    assert call.result == result


@pytest.mark.parametrize("folder", ["corpus", "faults"])
def test_every_trace_at_hand_is_read(shared: Path, folder: str) -> None:
    """Real traces of all dialects, known or not, and hand-made faults never raise; parents stay at hand."""
    for path in sorted((shared / folder).rglob("*.json")):
        if not path.name.endswith(".expect.json"):
            reading = dialects.read(otlp.read([path]).spans)
            keys = {call.key for call in reading.calls}
            assert all(call.parent is None or call.parent in keys for call in reading.calls), path.name


def test_attributes_that_nobody_reads_are_counted(chat: MakeSpan) -> None:
    """Names of recognised spans that no row reads are counted, indices as N; names left out on purpose are not."""
    spans = [chat({"odd.0.name": 1, "odd.1.name": 1, "server.port": 1}), chat({"odd.2.name": 1})]
    assert dialects.read(spans).unknown_keys == {"odd.N.name": 3}


@pytest.mark.parametrize(
    ("attributes", "events", "unread"),
    [
        ({"vendor.prompt.messages": "[1]"}, (), True),
        ({"some.request.messages": ["x"]}, (), True),
        ({"gcp.vertex.agent.llm_request": "{}"}, (), False),
        ({"gen_ai.is_streaming": True, "ai.response.model": "m"}, (), False),
        ({"gen_ai.prompt.0.content": "hi", "gen_ai.input.messages": '[{"role": "user", "content": "hi"}]'}, (), False),
        ({}, (SpanEvent("gen_ai.content.prompt", 1, {"content": "hi"}),), True),
        ({}, (SpanEvent("gen_ai.user.message", 1, {"content": "hi"}),), False),
        ({}, (SpanEvent("gen_ai.user.message", 1, {}), SpanEvent("exception", 1, {"content": "hi"})), False),
    ],
)
def test_content_under_names_that_nobody_reads_is_told_from_none(
    chat: MakeSpan, attributes: dict[str, Any], events: tuple[SpanEvent, ...], *, unread: bool
) -> None:
    """An older generation's messages are there all the same; empty ones and other attributes are no messages."""
    (call,) = dialects.read([chat(attributes, events=events)]).calls
    assert isinstance(call, ModelCall)
    assert call.content_unread is unread


def test_a_remark_is_made_once_with_its_count(chat: MakeSpan) -> None:
    """Equal notes are one line."""
    attributes = {"gen_ai.usage.input_tokens": "many"}
    assert dialects.read([chat(attributes)]).notes == ("x: no token count: 'many'",)
    assert dialects.read([chat(attributes), chat(attributes)]).notes == ("x: no token count: 'many' (2 times)",)


def test_a_message_that_is_repeated_is_one_object(chat: MakeSpan, said: Callable[[str, str], str]) -> None:
    """Histories repeat themselves in every request: each distinct message is read once, and 1 is not 1.0."""
    inputs = [said("user", "hi"), said("user", "hi"), said("user", "ho")]
    first, second, third = (
        call.input[0]  # type: ignore[attr-defined]
        for call in sorted(dialects.read([chat({"gen_ai.input.messages": text}) for text in inputs]).calls, key=_start)
    )
    assert first is second
    assert first != third
    part = '[{"role":"assistant","parts":[{"type":"tool_call","name":"f","arguments":{"a":NUMBER}}]}]'
    spans = [chat({"gen_ai.input.messages": part.replace("NUMBER", each)}) for each in ("1", "1.0", "true")]
    calls = [call for call in dialects.read(spans).calls if isinstance(call, ModelCall)]
    requests = [part for call in calls for part in (call.input or ())[0].parts if isinstance(part, ToolRequest)]
    assert sorted(repr(request.arguments["a"]) for request in requests) == ["1", "1.0", "True"]


def _start(call: Call) -> int:
    return call.start_ns


def test_nesting_without_end_is_cut_off(chat: MakeSpan, span: MakeSpan) -> None:
    """A value deeper than writers of JSON can go comes out shallow enough to be written."""
    deep = "[" * 700 + "]" * 700
    tool = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": deep})
    parts = f'[{{"role":"user","parts":[{{"type":"odd","x":{deep}}}]}}]'
    reading = dialects.read([tool, chat({"gen_ai.input.messages": parts}), chat({"gen_ai.tool.definitions": deep})])
    assert len(reading.calls) == 3
    (found,) = [call for call in reading.calls if call.key == tool.key]
    assert json.dumps(found.arguments).count("[") < 200  # type: ignore[attr-defined]


def test_a_lone_surrogate_in_content_becomes_the_replacement_character(chat: MakeSpan) -> None:
    """JSON inside an attribute may hold half of a UTF-16 pair too."""
    text = '[{"role":"user","parts":[{"type":"text","content":"a\\ud83d"}]}]'
    (call,) = dialects.read([chat({"gen_ai.input.messages": text})]).calls
    assert call.input[0].parts[0].text == "a\ufffd"  # type: ignore[attr-defined]


def test_nothing_rests_on_scope_or_links(chat: MakeSpan) -> None:
    """Another scope, other resource fields and other link attributes give the same calls."""
    attributes = {"gen_ai.request.model": "m"}
    one = chat(attributes, span_id="1" * 16, start_ns=1, end_ns=2)
    other = replace(one, scope_name="y", scope_version="2", resource={"host.name": "h"})
    assert dialects.read([one]) == dialects.read([other])
