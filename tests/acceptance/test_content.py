"""No content leaves without leave, and with it every leaf that has a place on a span is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from markers import readable, spots
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from story import DEMO, Door, Story, Wire, play, wires

from atifold import EventBus, otlp
from atifold.emit import Emitter
from atifold.emit.logs import EventLog
from atifold.events.envelope import Event, parse
from atifold.events.marks import Mark, leaves
from atifold.recording import in_order
from atifold.settings import Capture

PLACELESS: dict[str, dict[str, str]] = {
    "stream.token": {"content": "the answer repeats all of its chunks"},
    "context.injected": {
        "contentSummary": "a shortened copy of rawContent",
        "reason": "the composer's own words on why a fragment is in the request",
    },
    "agent.iteration_end": {
        r"history\[\d+\]\.content": "a message is on spans by context.injected, which tells of it too",
        r"history\[\d+\]\.toolCallId": "the same: the id of a result's call",
        r"history\[\d+\]\.toolName": "the conventions' tool_call_response has no name",
        r"history\[\d+\]\.thinkingBlocks\[\d+\]\..*": "thinking_end has the same blocks",
    },
    "memory.retrieved": {"namespace": "where the store was searched, of no use to a reader of spans"},
}
"""Event to paths of content leaves that stand on no span, each with the reason."""

SUPERSEDED: dict[str, Callable[[list[Wire], int, str], bool]] = {}
"""Event to what tells that a leaf is a copy of one that has the place."""

STEERING = {r"atifold\.messages\[\d+\]\.role": "the role decides what the message is, another one makes it another"}
"""Content leaves that are left as they are."""


def superseded(event: str) -> Callable[[Callable[[list[Wire], int, str], bool]], None]:
    """Register what tells for one event that a leaf's place is taken by another one."""

    def keep(rule: Callable[[list[Wire], int, str], bool]) -> None:
        SUPERSEDED[event] = rule

    return keep


@superseded("context.injected")
def _injected(events: list[Wire], at: int, path: str) -> bool:
    """Tools have no text on spans beside their definitions; llm_start's own system prompt wins over fragments."""
    slot = events[at]["payload"]["slot"]
    request = _next(events, at, "stream.llm_start")
    return slot == "tools" or (slot == "system-prompt" and "systemPromptText" in request["payload"])


@superseded("agent.iteration_end")
def _history(events: list[Wire], at: int, path: str) -> bool:
    """Tell a call that its own inference has: each later history repeats it."""
    if ".toolCalls[" not in path:
        return False
    index = int(path.split("[", 1)[1].split("]", 1)[0])
    before = [e for e in events[:at] if _branch(e) == _branch(events[at]) and e["type"].endswith("llm_start")]
    return not before or index < before[-1]["payload"]["messagesCount"]


def _branch(event: Wire) -> tuple[str, list[str]]:
    return event["meta"]["runId"], event["meta"]["subflowPath"][:1]


def _next(events: list[Wire], at: int, name: str) -> Wire:
    run = events[at]["meta"]["runId"]
    return next(e for e in events[at:] if e["type"].endswith(name) and e["meta"]["runId"] == run)


# ---- marking -------------------------------------------------------------------------------------


class Marked(NamedTuple):
    """Where one marker was put."""

    marker: str
    event: str
    at: int
    path: str


def put_markers(events: list[Wire]) -> list[Marked]:
    """Write a marker of its own into every content leaf of the events that can hold a text."""
    put: list[Marked] = []
    for at, event in enumerate(events):
        kinds = {path: mark for path, mark, _ in leaves(parse(event))}
        name = event["type"].removeprefix("agentfootprint.")
        for spot in list(spots(event["payload"])):
            if kinds[spot.open_path] is not Mark.CONTENT or any(re.fullmatch(p, spot.path) for p in STEERING):
                continue
            old, marker = spot.value, f"mk{len(put):05d}x"
            spot.inside[spot.key] = marker
            if readable(event):
                put.append(Marked(marker, name, at, spot.path))
            else:
                spot.inside[spot.key] = old
    return put


def exported(events: list[Wire], *, capture: bool) -> str:
    """Return the spans file of a replay as text."""
    return otlp.encode_lines(play(in_order([parse(e) for e in events]), capture_content=capture)).decode()


def has_place(events: list[Wire], marked: Marked) -> bool:
    """Tell from the data above whether a leaf stands on a span."""
    if any(re.fullmatch(path, marked.path) for path in PLACELESS.get(marked.event, {})):
        return False
    rule = SUPERSEDED.get(marked.event)
    return rule is None or not rule(events, marked.at, marked.path)


# ---- the rules -----------------------------------------------------------------------------------


def test_without_capture_no_content_leaves(recording: Path) -> None:
    """Of a marker in every content leaf none is in the spans file."""
    events = wires(recording)
    put = put_markers(events)
    text = exported(events, capture=False)
    assert put
    assert [m for m in put if m.marker in text] == []


def test_with_capture_exactly_the_leaves_with_a_place_leave(recording: Path) -> None:
    """A place that appears or disappears is a difference to the data above."""
    events = wires(recording)
    put = put_markers(events)
    text = exported(events, capture=True)
    assert [(m, "is there") for m in put if m.marker in text and not has_place(events, m)] == []
    assert [(m, "is missing") for m in put if m.marker not in text and has_place(events, m)] == []


class Both(NamedTuple):
    """What leaves by either signal, as text."""

    spans: str
    events: str


def both(events: list[Wire], mode: Capture, setting: Any) -> Both:
    """Return the spans and log events of a replay in a capture mode."""
    memory, provider = InMemoryLogRecordExporter(), LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    log = EventLog(provider, events=setting, content=mode.on_events)
    played = play(in_order([parse(e) for e in events]), capture_content=mode.on_spans, log=log)
    return Both(otlp.encode_lines(played).decode(), "".join(r.to_json() for r in memory.get_finished_logs()))


@pytest.mark.parametrize("setting", ["span", "log", "both"])
@pytest.mark.parametrize("mode", list(Capture), ids=[mode.value for mode in Capture])
def test_content_leaves_by_the_signals_of_the_mode_alone(recording: Path, mode: Capture, setting: str) -> None:
    """Of a marker in every content leaf none is where the mode does not say so, and some are where it does."""
    events = wires(recording)
    put = put_markers(events)
    text = both(events, mode, setting)
    for signal, wanted in ((text.spans, mode.on_spans), (text.events, mode.on_events)):
        assert bool([m for m in put if m.marker in signal]) is wanted


def test_log_events_hold_what_spans_would(recording: Path) -> None:
    """With all the catalogue's events on the log, what is missing there stands on agents and retrievals alone."""
    events = wires(recording)
    put = put_markers(events)
    text = both(events, Capture.EVENT_ONLY, "log").events
    missing = {m.event for m in put if has_place(events, m) and m.marker not in text}
    assert missing <= {
        "agent.iteration_end",
        "agent.route_decided",
        "agent.run_configured",
        "agent.turn_end",
        "agent.turn_start",
        "composition.exit",
        "composition.fork_start",
        "composition.merge_end",
        "composition.route_decided",
        "context.injected",
        "integrity.disposition",
        "memory.retrieved",
        "pause.request",
    }


def test_capture_and_side_doors_change_nothing_else(recording: Path) -> None:
    """With content a span has more attributes, a side door leaves no trace on it, all else is the same."""
    events = in_order([parse(event) for event in wires(recording)])
    bare, rich, alone = (
        outcome(events, side_doors=doors, capture_content=capture)
        for doors, capture in (((Door(),), False), ((Door(),), True), ((), False))
    )
    assert alone == bare
    for poor, full in zip(bare, rich, strict=True):
        assert (poor[0], poor[2:]) == (full[0], full[2:])
        assert poor[1].items() <= full[1].items()


def outcome(events: list[Event[Any]], **emitter: Any) -> list[Any]:
    """Return what a replay exports, without ids: name, attributes, times, kind, status."""
    memory, bus = InMemorySpanExporter(), EventBus()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    machine = Emitter(provider.get_tracer("t"), live=False, **emitter)
    machine.attach(bus)
    for event in events:
        bus.emit(event)
    machine.flush()
    ids = {"atifold.resumes.trace_id", "atifold.resumes.span_id"}
    return [
        (
            span.name,
            {name: value for name, value in (span.attributes or {}).items() if name not in ids},
            span.start_time,
            span.end_time,
            span.kind,
            span.status.status_code,
            [event.name for event in span.events],
        )
        for span in memory.get_finished_spans()
    ]


def test_every_word_about_a_placeless_leaf_is_needed(shared: Path) -> None:
    """Each row of the data above is met by a leaf of some recording."""
    paths = [DEMO, *sorted((shared / "recordings").glob("*.jsonl"))]
    met = {(m.event, m.path) for path in paths for m in put_markers(wires(path))}
    for event, rows in PLACELESS.items():
        for path in rows:
            assert any(name == event and re.fullmatch(path, found) for name, found in met), f"{event} {path}"


def test_a_failure_says_nothing_without_leave() -> None:
    """Texts of errors, refusals and halts are on spans with capture only; what kind it was always is."""
    endings = {
        "error.fatal": {"error": "mk-text", "stage": "x", "scope": "run"},
        "reliability.fail_fast": {
            "errorMessage": "mk-text",
            "errorKind": "rate_limit",
            "kind": "k",
            "reason": "mk-text",
        },
        "permission.halt": {"reason": "mk-text", "target": "t"},
    }
    for name, payload in endings.items():
        story = Story().turn().asks().answers("", calls=1).starts("c").ends("c", "mk-text", error=True)
        events = story.tell(name, payload).events
        assert "mk-text" not in exported(events, capture=False), name
        assert exported(events, capture=True).count("mk-text") > 1, name


@pytest.mark.parametrize("name", ["risk.flagged", "stream.brand_new", "elsewhere.entirely"])
def test_an_event_without_a_model_leaves_no_content(name: str) -> None:
    """Whatever nobody described stays in."""
    events = (
        Story().turn().asks().tell(name, {"note": "mk-note", "deep": [{"er": "mk-deep"}]}).answers().turn_over().events
    )
    assert "mk-" not in exported(events, capture=False)
