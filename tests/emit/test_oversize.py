"""What is longer than a limit is left out whole and named; the record beside it has all of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from story import Door, Played, Story, play

from atifold import WITHHELD, EventBus, semconv
from atifold.emit import Emitter
from atifold.readable import span_of

LONG = "long " * 100
RESULT = f"{semconv.TOOL_RESULT}:500"


def story() -> Story:
    """Return a run with a long result, a long error, and a long text in a span event."""
    told = Story().turn("short").asks().answers(calls=1).starts("c", args={"q": "short"}).ends("c", LONG)
    told.tell("tools.effect", {"toolCallId": "c", "title": LONG, "toolName": "t"})
    return told.asks(2).answers("Done.", 2).turn_over()


def limited(told: Story, limits: SpanLimits, **emitter: Any) -> Played:
    """Play under limits of the SDK."""
    memory, bus, door = InMemorySpanExporter(), EventBus(), Door()
    provider = TracerProvider(span_limits=limits, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    machine = Emitter(provider.get_tracer("t"), live=False, capture_content=True, side_doors=(door,), **emitter)
    machine.attach(bus)
    for event in told.parsed():
        bus.emit(event)
    machine.flush()
    provider.shutdown()
    return Played([span_of(span) for span in memory.get_finished_spans()], door.spans)


@pytest.mark.parametrize("how", ["setting", "sdk", "both"])
def test_a_long_value_is_left_out_whole_and_named(how: str) -> None:
    """By the user's limit or the SDK's, the lower of the two; its event's attributes too."""
    if how == "setting":
        played = play(story(), capture_content=True, max_value=400)
    else:
        played = limited(story(), SpanLimits(max_attribute_length=400), max_value=450 if how == "both" else 0)
    tool = played.named("execute_tool look_up")
    assert semconv.TOOL_RESULT not in tool.attributes
    assert tool.attributes[semconv.TOOL_ARGUMENTS] == '{"q":"short"}'
    assert list(tool.attributes[semconv.OMITTED]) == [RESULT, "agentfootprint.tools.title:500"]
    assert "agentfootprint.tools.title" not in tool.events[0].attributes
    record = played.record("execute_tool look_up")
    assert record.attributes[semconv.TOOL_RESULT] == LONG
    assert record.events[0].attributes["agentfootprint.tools.title"] == LONG
    assert semconv.OMITTED not in record.attributes
    assert LONG in str(played.folded().documents)


def test_the_limit_is_the_longest_that_stays() -> None:
    """A value of exactly so many characters is not longer."""
    tool = play(story(), capture_content=True, max_value=500).named("execute_tool look_up")
    assert tool.attributes[semconv.TOOL_RESULT] == LONG
    assert semconv.OMITTED not in tool.attributes


@pytest.mark.parametrize("slow_lane", [False, True])
def test_a_history_that_grows_too_long_is_left_out_from_then_on(slow_lane: bool) -> None:
    """The span without a limit of the SDK goes its fast way, the other one the SDK's."""
    told = Story().turn("short")
    for number in (1, 2):
        told.tell(
            "stream.llm_start",
            {"iteration": number, "model": "m", "atifold.messages": [{"role": "user", "content": "x" * 200}] * number},
            stage=f"call-llm#{number}",
        ).answers("Done.", number)
    played = play(told.turn_over(), capture_content=True, max_value=400, slow_lane=slow_lane)
    first, second = (span for span in played if span.name == "chat m")
    assert json.loads(first.attributes[semconv.INPUT_MESSAGES])
    assert semconv.INPUT_MESSAGES not in second.attributes
    assert [name.partition(":")[0] for name in second.attributes[semconv.OMITTED]] == [semconv.INPUT_MESSAGES]


def test_no_json_of_ours_is_cut_into_half_of_one() -> None:
    """Whatever the SDK's limit: what begins as JSON is JSON. Names it cuts, as it does everybody's."""
    told = Story().configured().turn("p" * 60).asks().answers("a" * 60, calls=1).starts("c", args={"q": "x" * 60})
    told.tell("validation.args_invalid", {"toolCallId": "c", "issues": [{"path": "a" * 40}, {"path": "b" * 40}]})
    told.tell("skill.graph_declared", {"nodes": [{"id": "n" * 50, "kind": "k"}], "edges": []})
    told.ends("c", {"deep": ["y" * 60]}).turn_over("z" * 60).disposed()
    whole = 0
    for length in (1, 10, 30, 50, 80, 800):
        spans = limited(told, SpanLimits(max_attribute_length=length)).exported
        for attributes in [s.attributes for s in spans] + [e.attributes for s in spans for e in s.events]:
            for value in attributes.values():
                if isinstance(value, str) and value.startswith(("[", "{")):
                    json.loads(value)
                    whole += 1
    assert whole


def test_a_long_error_is_no_description() -> None:
    """The status has no attribute's name, and is named all the same."""
    told = Story().turn().asks().answers(calls=1).starts("c").ends("c", LONG, error=True).turn_over()
    tool = play(told, capture_content=True, max_value=400).named("execute_tool look_up")
    assert tool.status_message == ""
    assert list(tool.attributes[semconv.OMITTED]) == [RESULT, "status.description:500"]


def test_what_was_withheld_is_named_however_low_the_limit() -> None:
    """The names are no content, and are not counted as one."""
    told = Story().turn("mine").asks().answers("mine").turn_over("mine")
    played = play(told, capture_content=True, max_value=1, redact=lambda *_: WITHHELD)
    assert semconv.OUTPUT_MESSAGES in played.named("chat m-1").attributes[semconv.WITHHELD]
    assert semconv.OMITTED not in played.named("chat m-1").attributes


def test_structure_is_never_too_long_for_the_setting() -> None:
    """It is about content; and what does not leave is not said to be left out."""
    told = Story().turn("short").asks(model="m" * 100).answers(LONG).turn_over()
    played = play(told, max_value=50)
    assert played.named("chat " + "m" * 100).attributes[semconv.REQUEST_MODEL] == "m" * 100
    assert all(semconv.OMITTED not in span.attributes for span in played)
    assert play(told, capture_content=True, max_value=50).named("chat " + "m" * 100).attributes[semconv.OMITTED]


def test_a_long_value_is_on_no_log_event_either() -> None:
    """It is named there as on spans; what is short stays."""
    told = Story().turn().asks().answers(calls=1).starts("c", args={"q": "short"}).ends("c", LONG).turn_over()
    logged = {record.log_record.event_name: record.log_record for record in play(told, logs=True, max_value=400).logs}
    start, end = (logged[f"agentfootprint.stream.tool_{side}"].attributes for side in ("start", "end"))
    assert (dict(start["gen_ai.tool.call.arguments"]), semconv.OMITTED in start) == ({"q": "short"}, False)
    assert ("gen_ai.tool.call.result" in end, end[semconv.OMITTED]) == (False, ("gen_ai.tool.call.result:500",))
