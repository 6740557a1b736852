"""Whatever comes in whatever order: every span ends once, conforms, and nothing fails or stays behind."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import conformity
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from story import DEMO, Stage, Story, Wire, wires

from atifold import atif, dialects, fold, otlp, semconv
from atifold.emit.places import PLACES
from atifold.events.envelope import parse
from atifold.recording import in_order
from atifold.spans import Span
from atifold.testing import faults

RUNS = st.sampled_from(["run-1", "run-2", "consumer-scope", ""])
PATHS = st.sampled_from(
    [[], ["a"], ["a", "b"], ["step-x"], ["sf-tools"], ["final"], ["a", "sf-memory-read-m"], ["sf-memory-read-x"]]
)
STAGES = st.sampled_from(["", "call-llm#1", "call-llm#2", "tool-calls#3", "s#paused"])
COMPOSITIONS = st.sampled_from([["Agent:x"], ["Sequence:s"], ["Parallel:p"], [], ["odd"]])
CALLS = st.sampled_from(["c1", "c2", "", None, 7])

WORDS = st.sampled_from(["", "x", "deny", "stop", "What now?", "odd \ud800", "run-1", "c1"])
NUMBERS = st.sampled_from([0, 1, -1, 5, 0.5])
SCALARS = st.one_of(st.none(), st.booleans(), WORDS, NUMBERS)
KEYS = st.sampled_from(
    ["type", "role", "parts", "content", "text", "name", "id", "arguments", "response", "tool_calls", "function", "uri"]
)
TYPES = st.sampled_from(["text", "tool_call", "tool_call_response", "reasoning", "uri", "blob", "image", "user"])
BODIES = st.recursive(
    st.one_of(SCALARS, TYPES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(WORDS, KEYS), inner, max_size=3)),
    max_leaves=5,
)

USUAL: dict[str, Any] = {
    "toolCallId": CALLS,
    "toolName": st.one_of(WORDS, st.just("read_skill")),
    "args": BODIES,
    "result": BODIES,
    "error": st.sampled_from([True, "text", None]),
    "durationMs": NUMBERS,
    "userPrompt": WORDS,
    "finalContent": WORDS,
    "content": WORDS,
    "model": WORDS,
    "provider": st.sampled_from(["openai", "mock", "", "a+b"]),
    "messagesCount": st.integers(0, 4),
    "iteration": NUMBERS,
    "usage": st.fixed_dictionaries({}, optional={"input": NUMBERS, "output": NUMBERS, "cacheRead": NUMBERS}),
    "stopReason": WORDS,
    "history": st.lists(
        st.fixed_dictionaries({"role": WORDS, "content": BODIES}, optional={"toolCalls": BODIES, "toolCallId": CALLS}),
        max_size=4,
    ),
    "questionPayload": st.fixed_dictionaries({}, optional={"toolCallId": CALLS}),
    "changedArgKeys": st.lists(WORDS, max_size=2),
    "slot": st.sampled_from(["messages", "system-prompt", "tools"]),
    "position": st.integers(0, 5),
    "rawContent": WORDS,
    "kind": st.sampled_from(["Sequence", "Loop"]),
    "name": WORDS,
    "status": WORDS,
    "estimatedUsd": NUMBERS,
    "blocks": st.lists(st.fixed_dictionaries({"type": WORDS, "content": WORDS}), max_size=2),
    "targetRef": WORDS,
    "atifold.messages": BODIES,
    "atifold.toolCalls": BODIES,
    "atifold.maxTokens": SCALARS,
    "atifold.topP": SCALARS,
    "temperature": NUMBERS,
    "tools": BODIES,
    "k": SCALARS,
    "candidates": BODIES,
    "dimension": SCALARS,
    "providerId": st.sampled_from(["hub", None, 7]),
    "server": SCALARS,
    "at": st.sampled_from(["list", "call", "odd"]),
    "skillId": SCALARS,
    "reason": st.sampled_from(["read_skill_result", "manual", None]),
    "planAction": st.sampled_from(["summarize", "evict"]),
    "memories": st.lists(st.fixed_dictionaries({"id": SCALARS, "flavor": st.sampled_from(["rag", "memory", 7])})),
    "memoryId": SCALARS,
    "contentSummary": WORDS,
    "exitCode": SCALARS,
    "errorName": SCALARS,
    "budget": BODIES,
    "semantics": BODIES,
    "nodes": BODIES,
    "withheldReasons": BODIES,
}
"""Fields that handlers look at, with good values and others."""

NAMES = st.one_of(
    st.sampled_from(
        [
            "agent.turn_start",
            "agent.turn_end",
            "agent.iteration_end",
            "stream.llm_start",
            "stream.llm_end",
            "stream.tool_start",
            "stream.tool_end",
            "composition.enter",
            "composition.exit",
            "pause.request",
        ]
    ),
    st.sampled_from([row.event for row in PLACES]),
)


@st.composite
def streams(draw: st.DrawFn) -> list[Wire]:
    """Return a stream of events, each plausible by itself."""
    story = Story()
    for _ in range(draw(st.integers(1, 18))):
        fields = draw(st.lists(st.sampled_from(sorted(USUAL)), max_size=8, unique=True))
        payload = {name: draw(USUAL[name]) for name in fields}
        story.composition = draw(COMPOSITIONS)
        story.tell(draw(NAMES), payload, run=draw(RUNS), stage=draw(STAGES), path=draw(PATHS))
    return story.events


def survives(events: list[Wire], *, capture: bool, slow_lane: bool, logs: bool = False) -> None:
    """Play events and hold the invariants against what comes out."""
    stage = Stage(live=False, capture_content=capture, slow_lane=slow_lane, logs=logs)
    for event in in_order([parse(event) for event in events]):
        stage.bus.emit(event)
    result = stage.played()
    assert result.counts.get("events_failed", 0) == 0
    assert stage.bus.counts["handler_errors"] == 0
    keys = [span.key for span in result.exported]
    assert len(keys) == len(set(keys))
    logged = faults(logs=result.logs, namespaces=conformity.NAMESPACES)
    # a score may name what nobody knows: then it has no context, and what it names as an attribute
    assert [str(fault) for fault in logged if "no span's context" not in str(fault)] == []
    assert sorted(keys) == sorted(span.key for span in result.records)
    assert not slow_lane or len(result.starts) == len(keys)
    sessions = {event["meta"].get("sessionId") for event in events}
    assert conformity.check(result, content=capture, sessions=sessions) == []
    machine = stage.emitter._machine
    assert (machine.runs, machine.by_stage, machine.ready) == ({}, {}, [])
    sent = otlp.parse(otlp.encode_lines(result.exported), "spans").spans
    whole, again = (fold.fold(dialects.read(spans)).documents for spans in (shown(result.records), sent))
    for document in (*fold.fold(dialects.read(result.records)).documents, *again):
        assert [f for f in atif.check(document.trajectory) if f.severity == "error"] == []
    if capture:
        changed = any("changedArgKeys" in event["payload"] for event in events)
        assert [told(d, arguments=not changed) for d in again] == [told(d, arguments=not changed) for d in whole]


def told(document: fold.Document, *, arguments: bool) -> tuple[str, bytes]:
    """Return a document's name and text, on demand without the arguments of calls.

    What `changedArgKeys` names is on no span, of no call with that id, so a fold of the spans lacks it.
    """
    trajectory = copy.deepcopy(document.trajectory)
    for step in () if arguments else trajectory["steps"]:
        for call in step.get("tool_calls", ()):
            call.pop("arguments", None)
    return document.name, atif.dumps(trajectory)


def shown(records: Sequence[Span]) -> list[Span]:
    """Return records without the arguments of paused calls: whether they may leave is said by the next leg."""
    return [
        replace(
            span, attributes={key: value for key, value in span.attributes.items() if key != semconv.TOOL_ARGUMENTS}
        )
        if semconv.PAUSED in span.attributes
        else span
        for span in records
    ]


@given(streams(), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_stream_of_events_is_survived(events: list[Wire], capture: bool, slow_lane: bool, logs: bool) -> None:
    """Events with odd fields in any order."""
    survives(events, capture=capture, slow_lane=slow_lane, logs=logs)


@pytest.mark.fuzz
@given(streams(), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
def test_very_many_streams_of_events_are_survived(
    events: list[Wire], capture: bool, slow_lane: bool, logs: bool
) -> None:
    """The same, for minutes."""
    survives(events, capture=capture, slow_lane=slow_lane, logs=logs)


@given(st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_part_of_the_demo_in_any_order_is_survived(data: st.DataObject) -> None:
    """Lines that are lost, and lines that come in another order than their times say."""
    events = wires(DEMO)
    kept = data.draw(st.lists(st.sampled_from(range(len(events))), unique=True, min_size=1))
    stage = Stage(live=False)
    for index in kept:
        stage.bus.emit(parse(events[index]))
    result = stage.played()
    assert result.counts.get("events_failed", 0) == 0
    assert len({span.key for span in result.exported}) == len(result.exported) == len(result.records)
