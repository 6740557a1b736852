"""OTLP documents with wrong types at any place: a fold never fails, and what it writes is valid."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from atifold import atif, dialects, fold, otlp

Place = tuple[Any, ...]
Change = tuple[Place, Any]
Group = Literal["trace", "conversation"]

TRACE = "0af7651916cd43dd8448eb211c80319c"
START_NS = 1_767_225_600_000_000_000
WORDS = ["", "x", "7", "-1", "NaN", "user", "assistant", "odd \ud800", TRACE, "0" * 16, '{"a":', '[{"role":"user"}]']
NUMBERS = [0, 1, -1, 7, 1.5, 1e308, 2**53, -(2**63), 2**70, True, False]
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.sampled_from(NUMBERS), st.sampled_from(WORDS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)),
    max_leaves=5,
)
KINDS = ["stringValue", "boolValue", "intValue", "doubleValue", "bytesValue", "arrayValue", "kvlistValue", "odd"]
ANY_VALUES = st.deferred(
    lambda: st.one_of(
        st.dictionaries(st.sampled_from(KINDS), JSON_VALUES, max_size=2),
        st.builds(lambda inner: {"arrayValue": {"values": inner}}, st.lists(ANY_VALUES, max_size=2)),
        st.builds(
            lambda inner: {"kvlistValue": {"values": [{"key": "k", "value": value} for value in inner]}},
            st.lists(ANY_VALUES, max_size=2),
        ),
    )
)
ODD = st.one_of(JSON_VALUES, ANY_VALUES)


def any_value(value: Any) -> dict[str, Any]:
    """Return a plain value as an attribute's value."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def attributes(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as a list of pairs."""
    return [{"key": key, "value": any_value(value)} for key, value in found.items()]


def span(number: int, parent: int | None, found: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return one span; its number is its id and the second in which it runs."""
    start_ns = START_NS + number * 1_000_000_000
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        **({} if parent is None else {"parentSpanId": f"{parent:016x}"}),
        "name": f"span {number}",
        "kind": 1,
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(start_ns + 500_000_000),
        "attributes": attributes(found),
        **more,
    }


def text(role: str, words: str) -> str:
    """Return a message of the conventions, as JSON text."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": words}]}])


ASKED = json.dumps(
    [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "t", "arguments": {"a": 1}}]}]
)
EXCEPTION = {"name": "exception", "timeUnixNano": str(START_NS), "attributes": attributes({"exception.type": "E"})}
RETRIED = {
    "name": "agentfootprint.error.retried",
    "timeUnixNano": str(START_NS),
    "attributes": attributes({"agentfootprint.error.attempt": 1, "agentfootprint.error.reason": "late"}),
}
LINK = {"traceId": TRACE, "spanId": "f" * 16, "attributes": attributes({"atifold.link": "resumes"})}
RAW = {"id": "r1", "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}

GENAI_SPANS = [
    span(1, None, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", "atifold.sequence": 1}),
    span(
        2,
        1,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "m",
            "gen_ai.request.temperature": 0.5,
            "gen_ai.response.finish_reasons": ["tool_calls"],
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.usage.output_tokens": 2,
            "gen_ai.system_instructions": '[{"type":"text","content":"be"}]',
            "gen_ai.input.messages": text("user", "ping"),
            "gen_ai.output.messages": ASKED,
            "gen_ai.tool.definitions": '[{"name":"t"}]',
            "agentfootprint.cost.usd": 0.25,
        },
        events=[RETRIED],
        links=[LINK],
    ),
    span(
        3,
        1,
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "t",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"a":1}',
            "gen_ai.tool.call.result": "ok",
            "error.type": "E",
        },
        status={"code": 2, "message": "bad"},
        events=[EXCEPTION],
    ),
]
OPENINFERENCE_SPANS = [
    span(4, None, {"openinference.span.kind": "AGENT", "agent.name": "b", "input.value": "ping", "session.id": "s"}),
    span(
        5,
        4,
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m",
            "llm.token_count.prompt": 3,
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "ping",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "t",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a":1}',
            "llm.invocation_parameters": '{"temperature":1}',
            "output.value": json.dumps(RAW),
            "metadata": '{"thread_id":"s"}',
        },
    ),
    span(6, 4, {"openinference.span.kind": "TOOL", "tool.name": "t", "tool_call.id": "c1", "output.value": "{}"}),
]
GOOD_TRACE = "f" * 32
GOOD = [
    {**span(7, None, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "good"}), "traceId": GOOD_TRACE},
    {
        **span(
            8,
            7,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": text("user", "are you there"),
                "gen_ai.output.messages": text("assistant", "all is well"),
            },
        ),
        "traceId": GOOD_TRACE,
    },
]
"""A trace of its own, of which nothing may be lost."""

INSIDE = [
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "output.value",
    "metadata",
    "llm.invocation_parameters",
]
"""Attributes whose JSON text is spoilt from the inside too."""


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Yield the path of every value inside of one."""
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def put(document: Any, place: Place, value: Any) -> None:
    """Set the value at a path; one that an earlier change cut off is passed over."""
    for key in place[:-1]:
        if not isinstance(document, (dict, list)) or (isinstance(document, dict) and key not in document):
            return
        if isinstance(document, list) and not (isinstance(key, int) and key < len(document)):
            return
        document = document[key]
    last = place[-1]
    if isinstance(document, dict) or (isinstance(document, list) and isinstance(last, int) and last < len(document)):
        document[last] = value


def opened(spans: list[Any]) -> list[Any]:
    """Return spans with the JSON texts of content opened, so that a path can lead into them."""
    found = copy.deepcopy(spans)
    for pair in (pair for each in found for pair in each["attributes"] if pair["key"] in INSIDE):
        try:
            pair["value"] = {"json": json.loads(pair["value"]["stringValue"])}
        except ValueError:
            continue
    return found


def closed(spans: list[Any]) -> list[Any]:
    """Return spans with what `opened` opened as JSON text again, wherever a change has left it."""
    for each in spans:
        pairs = each.get("attributes") if isinstance(each, dict) else None
        for pair in pairs if isinstance(pairs, list) else ():
            value = pair.get("value") if isinstance(pair, dict) else None
            if isinstance(value, dict) and "json" in value:
                value["stringValue"] = json.dumps(value.pop("json"))
    return spans


SPANS = opened([*GENAI_SPANS, *OPENINFERENCE_SPANS])
PLACES = list(places(SPANS))
GROUPS: st.SearchStrategy[Group] = st.sampled_from(["trace", "conversation"])
CHANGES = st.lists(st.tuples(st.sampled_from(PLACES), ODD), min_size=1, max_size=6)


def survives(changes: list[Change], resource: Any, scope: Any, group_by: Group) -> None:
    """Fold spoilt spans beside good ones, and hold the invariants against what comes out."""
    spoilt = copy.deepcopy(SPANS)
    for place, value in changes:
        put(spoilt, place, copy.deepcopy(value))
    group = {"resource": resource, "scopeSpans": [{"scope": scope, "spans": [*closed(spoilt), *GOOD]}]}
    batch = otlp.parse(json.dumps({"resourceSpans": [group]}).encode(), "in.json")
    folded = fold.fold(dialects.read(batch.spans), group=group_by)
    json.dumps(folded.report)
    for document in folded.documents:
        assert [str(f) for f in atif.check(document.trajectory) if f.severity == "error"] == []
    named = [dialects.conversation_of(found) for found in batch.spans]
    assert all(conversation is None or isinstance(conversation, str) for conversation in named)
    kept = {found.key for found in batch.spans}
    assert {(GOOD_TRACE, f"{number:016x}") for number in (7, 8)} <= kept
    touched = {place[0] for place, _ in changes}
    assert {(TRACE, f"{at + 1:016x}") for at in range(len(SPANS)) if at not in touched} <= kept
    assert len(batch.complaints) <= len(touched) + 2
    said = [document.trajectory for document in folded.documents if GOOD_TRACE in document.trace_ids]
    assert any("all is well" in json.dumps(trajectory) for trajectory in said)


FINE: dict[str, Any] = {}


@given(CHANGES, ODD, ODD, GROUPS)
@example([((0, "name"), 7), ((3, "name"), ["a"])], FINE, FINE, "trace")
@example([((2, "status", "message"), {"a": 1})], FINE, FINE, "trace")
@example([((0, "attributes", 0, "key"), 7)], FINE, FINE, "trace")
@example([((4, "attributes", 10, "value", "json"), {"choices": 7, "output": []})], FINE, FINE, "trace")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_wrong_types_at_any_place_are_survived(
    changes: list[Change], resource: Any, scope: Any, group_by: Group
) -> None:
    """Names, keys, times, ids, statuses, events, links, resources, and what stands inside of content."""
    survives(changes, resource, scope, group_by)


@pytest.mark.fuzz
@given(CHANGES, ODD, ODD, GROUPS)
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_wrong_types_at_very_many_places_are_survived(
    changes: list[Change], resource: Any, scope: Any, group_by: Group
) -> None:
    """The same, for minutes."""
    survives(changes, resource, scope, group_by)
