"""Light spans and the SDK's own are exported alike."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased
from story import DEMO, Door, Played, Stage, Starts, Story, play, wires

from atifold import EventBus, dialects, fold, otlp, semconv
from atifold.emit import Emitter
from atifold.emit.lane import LightSpan
from atifold.events.envelope import Event, parse
from atifold.recording import in_order
from atifold.replay.ids import ReplayIds

CAPTURE = pytest.mark.parametrize("capture", [False, True], ids=["bare", "content"])


def lines_of(events: list[Event[Any]], *, capture: bool, slow: bool) -> list[Any]:
    """Return the exported OTLP of a replay with derived ids, by one lane or the other."""
    memory, starts = InMemorySpanExporter(), Starts()
    ids = ReplayIds()
    provider = TracerProvider(id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    if slow:
        provider.add_span_processor(starts)
    bus = EventBus()
    tracer = provider.get_tracer(semconv.SCOPE, schema_url=semconv.SCHEMA_URL, attributes=semconv.SCOPE_ATTRIBUTES)
    emitter = Emitter(tracer, side_doors=(Door(),), capture_content=capture, live=False, ids=ids.tell)
    emitter.attach(bus)
    for event in events:
        bus.emit(event)
    emitter.flush()
    spans = memory.get_finished_spans()
    assert bool(starts.ids) is slow
    return [json.loads(span.to_json()) | {"flags": int(span.context.trace_flags)} for span in spans]


def strip(span: dict[str, Any]) -> dict[str, Any]:
    """Return a span without what differs by chance, attributes in any order."""
    return {**span, "resource": None, "attributes": dict(sorted(span["attributes"].items()))}


def assert_alike(events: list[Event[Any]], *, capture: bool) -> None:
    """Compare what both lanes export, span by span."""
    light, slow = (lines_of(events, capture=capture, slow=slow) for slow in (False, True))
    assert [strip(span) for span in light] == [strip(span) for span in slow]
    assert light


@CAPTURE
def test_the_demo_is_exported_alike(capture: bool) -> None:
    """Every field of every span is the same by both lanes."""
    assert_alike(in_order([parse(event) for event in wires(DEMO)]), capture=capture)


@CAPTURE
def test_every_recording_is_exported_alike(recordings: list[Path], capture: bool) -> None:
    """The same for the producer's recordings."""
    for path in recordings:
        assert_alike(in_order([parse(event) for event in wires(path)]), capture=capture)


@CAPTURE
def test_failures_events_and_links_are_exported_alike(capture: bool) -> None:
    """Spans with a status, with span events and with links turn into the SDK's own."""
    story = (
        Story(session="s").turn().asks().tell("error.retried", {"attempt": 2}, stage="call-llm#1").answers("", calls=2)
    )
    story.starts("a").ends("a", "boom", error=True).starts("b", "ask")
    story.tell("pause.request", {"questionPayload": {"toolCallId": "b"}}, run="consumer-scope")
    story.ends("b", "yes", run="run-2").tell("error.fatal", {"error": "end"}, run="run-2")
    assert_alike(story.parsed(), capture=capture)


# ---- when the lane is closed ---------------------------------------------------------------------


def first_span(provider: TracerProvider, door: Door | None = None) -> tuple[trace.Span, TracerProvider]:
    """Return the span that is current inside a run on this provider."""
    bus = EventBus()
    Emitter(provider.get_tracer("t"), side_doors=() if door is None else (door,)).attach(bus)
    with bus.run("a", "p"):
        return trace.get_current_span(), provider


def with_processor(provider: TracerProvider) -> TracerProvider:
    """Return the provider with a processor of the SDK."""
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    return provider


@pytest.mark.skipif(
    tuple(map(int, version("opentelemetry-sdk").split(".")[:2])) < (1, 45),
    reason="an older SDK is built otherwise inside: there every span is the SDK's own",
)
def test_the_lane_is_open_where_nobody_could_tell() -> None:
    """The SDK's batch and simple processors, sampled by default, no limit on lengths."""
    assert isinstance(first_span(with_processor(TracerProvider()))[0], LightSpan)
    provider = TracerProvider()
    batch = BatchSpanProcessor(InMemorySpanExporter())
    provider.add_span_processor(batch)
    assert isinstance(first_span(provider)[0], LightSpan)
    provider.shutdown()


@pytest.mark.parametrize(
    "provider",
    [
        lambda: TracerProvider(sampler=ALWAYS_OFF),
        lambda: TracerProvider(sampler=ParentBased(TraceIdRatioBased(0.5))),
        lambda: TracerProvider(span_limits=SpanLimits(max_span_attribute_length=10)),
    ],
    ids=["off", "ratio", "length limit"],
)
def test_the_lane_is_closed_where_a_setting_says_more(provider: Any) -> None:
    """A sampler and a limit see every span."""
    assert not isinstance(first_span(with_processor(provider()))[0], LightSpan)


def test_the_lane_closes_when_a_processor_is_added() -> None:
    """A processor that looks at starts sees all spans from then on."""
    stage = Stage()
    with stage.bus.run("a", "p") as run:
        with run.tool("before", id="1") as tool:
            tool.result(1)
        stage.provider.add_span_processor(stage.starts)
        with run.tool("after", id="2") as tool:
            tool.result(2)
    result = stage.played()
    assert result.starts == [int(result.named("execute_tool after").span_id, 16)]
    assert len(result.exported) == 3


def test_a_count_limit_holds_on_light_spans_too() -> None:
    """The operation's name survives any limit; the side door is under none."""
    story = Story().turn().asks().answers("", calls=1).starts("c").ends("c").turn_over()
    for most in (1, 3, 8):
        memory, door, bus = InMemorySpanExporter(), Door(), EventBus()
        provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=most))
        provider.add_span_processor(SimpleSpanProcessor(memory))
        emitter = Emitter(provider.get_tracer("t"), side_doors=(door,), live=False)
        emitter.attach(bus)
        for event in story.parsed():
            bus.emit(event)
        emitter.flush()
        spans = memory.get_finished_spans()
        assert len(spans) == len(door.spans) == 3
        for span in spans:
            assert len(span.attributes) <= most
            assert semconv.OPERATION in span.attributes
        assert all(len(span.attributes) > 3 for span in door.spans)


@pytest.mark.parametrize("sampled", [True, False])
def test_a_parent_that_is_not_sampled_takes_its_children_along(sampled: bool) -> None:
    """The default sampler decides by the parent; the side door hears of every span all the same."""
    stage = Stage()
    flags = trace.TraceFlags(int(sampled))
    context = trace.SpanContext(7, 8, is_remote=True, trace_flags=flags)
    with trace.use_span(trace.NonRecordingSpan(context)), stage.bus.run("a", "p") as run, run.tool("t", id="1") as tool:
        tool.result(1)
    result = stage.played()
    assert len(result.exported) == (2 if sampled else 0)
    assert len(result.records) == 2
    assert {span.trace_id for span in result.records} == {f"{7:032x}"}
    assert result.record("invoke_agent a").parent_id == f"{8:016x}"


# ---- what anybody may do with a light span -------------------------------------------------------


def touched(touch: Any) -> Played:
    """Return what a tool's span became that somebody touched."""
    stage = Stage()
    with stage.bus.run("a", "p") as run, run.tool("t", id="1") as tool:
        touch(trace.get_current_span())
        tool.result(1)
    return stage.played()


def test_a_light_span_takes_all_that_a_span_takes() -> None:
    """Name, status, link and event are on the exported span, which is exported once."""
    other = trace.SpanContext(1, 2, is_remote=False)

    def touch(span: trace.Span) -> None:
        assert span.is_recording()
        span.update_name("renamed")
        span.add_link(other, {"k": "v"})
        span.add_event("e", {"n": 1}, 5)
        span.set_status(trace.StatusCode.ERROR, "mine")

    (span,) = [s for s in touched(touch) if s.name == "renamed"]
    assert [(link.trace_id, dict(link.attributes)) for link in span.links] == [(f"{1:032x}", {"k": "v"})]
    assert [(event.name, event.time_ns) for event in span.events] == [("e", 5)]
    assert (span.status.value, span.status_message) == ("ERROR", "mine")
    assert span.attributes[semconv.TOOL_NAME] == "t"


def test_whoever_ends_our_span_ends_it_once() -> None:
    """The rest of the run is exported, the side door has the whole record."""
    result = touched(lambda span: span.end())
    assert sorted(span.name for span in result) == ["execute_tool t", "invoke_agent a"]
    assert result.record("execute_tool t").attributes[semconv.TOOL_RESULT] == "1"


def test_a_span_that_has_ended_takes_nothing_more() -> None:
    """A reference that was kept does no harm."""
    stage = Stage()
    with stage.bus.run("a", "p") as run, run.tool("t", id="1") as tool:
        kept = trace.get_current_span()
        tool.result(1)
    result = stage.played()
    assert not kept.is_recording()
    kept.set_attribute("late", 1)
    kept.end()
    assert "late" not in result.named("execute_tool t").attributes
    assert len(stage.exported()) == len(result.exported) == 2


def test_exported_spans_of_both_lanes_fold_alike() -> None:
    """What is read back from OTLP is the same trajectory."""
    story = Story().turn().asks().answers("", calls=1).starts("c").ends("c").asks(2).answers("Done.", 2).turn_over()
    folds = []
    for slow in (False, True):
        data = otlp.encode_lines(play(story, capture_content=True, slow_lane=slow).exported)
        (document,) = fold.fold(dialects.read(otlp.parse(data, "test").spans)).documents
        folds.append([(s["source"], s["message"], s.get("observation")) for s in document.trajectory["steps"]])
    assert folds[0] == folds[1]
    assert len(folds[0]) == 3
