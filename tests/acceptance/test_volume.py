"""At any limit of the SDK what says most of a span survives, and a flood of events drowns nothing."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from catalogue import first_takes
from performing import operation_of
from story import Story, moments, play

from atifold import semconv
from atifold.emit.writer import DROPPED_EVENTS, MOST_MOMENTS
from atifold.events.envelope import parse
from atifold.testing import Harness

RETRIED = "agentfootprint.error.retried"


def catalogue_of(**settings: Any) -> Harness:
    """Return what the recording becomes where every attribute is told."""
    with Harness(capture_content=True, events="both", **settings) as harness:
        for take in first_takes():
            for wire in take.events:
                harness.bus.emit(parse(wire))
    return harness


@cache
def without_limit() -> tuple[list[str], list[Any]]:
    """Return the operation of each span and log record."""
    return operations(catalogue_of())


def operations(harness: Harness) -> tuple[list[str], list[Any]]:
    """Return the operation of each exported span, in order, and of each log record."""
    spans = [operation_of(span) for span in harness.spans]
    return spans, [
        (r.log_record.event_name, (r.log_record.attributes or {}).get(semconv.OPERATION)) for r in harness.logs
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("limit", [128, 8, 1])
def test_what_a_span_is_survives_any_limit(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On spans of every kind and on the log events that have it."""
    wanted = without_limit()
    for name in ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"):
        monkeypatch.setenv(name, str(limit))
    harness = catalogue_of()
    assert max(len(span.attributes) for span in harness.spans) <= limit
    assert max(len(record.log_record.attributes) for record in harness.logs) <= limit
    assert operations(harness) == wanted


def flood(**more: int) -> Story:
    """Return a turn with one inference and one tool, and as many events of some names as is said."""
    story = Story().turn().asks()
    for name in ("stream.token", "stream.thinking_delta", "error.retried"):
        for index in range(more.get(name.split(".")[1], 0)):
            payload = {"iteration": 1, "tokenIndex": index, "content": "mk", "attempt": index}
            story.tell(name, payload, stage="call-llm#1")
    story.answers("", calls=1).starts("c")
    for index in range(more.get("tool_progress", 0)):
        story.tell("stream.tool_progress", {"toolCallId": "c", "payload": {"row": index}})
    return story.tell("tools.effect", {"toolCallId": "c", "kind": "advance"}).ends("c").turn_over()


def told(story: Story, **settings: Any) -> Harness:
    """Emit a story on a harness."""
    with Harness(**settings) as harness:
        for event in story.parsed():
            harness.bus.emit(event)
    return harness


@pytest.mark.parametrize("events", ["span", "log", "both"])
def test_chunks_are_counted_and_never_told_one_by_one(events: str) -> None:
    """Ten thousand of either kind are two attributes of the inference."""
    harness = told(flood(token=10_000, thinking_delta=10_000), events=events, capture_content=True)
    (chat,) = [span for span in harness.spans if operation_of(span) == "chat"]
    assert chat.attributes["agentfootprint.stream.chunks"] == 20_000
    assert chat.events == ()
    names = Counter(record.log_record.event_name for record in harness.logs)
    assert not names.keys() & {"agentfootprint.stream.token", "agentfootprint.stream.thinking_delta"}
    assert names.total() < 10


@pytest.mark.parametrize("events", ["span", "both"])
def test_a_tool_that_reports_all_the_time_has_room_for_other_facts(events: str) -> None:
    """Sixteen reports are told; the rest are counted."""
    story = flood(tool_progress=1_000)
    played = play(story, logs=events == "both")
    assert Counter(moments(played.named("execute_tool look_up"))) == {"stream.tool_progress": 16, "tools.effect": 1}
    assert played.counts["facts_dropped"] == 1_000 - 16


@pytest.mark.parametrize("many", [1_000, 3_000])
def test_what_a_span_has_no_room_for_is_on_logs_or_counted(many: int) -> None:
    """Span events, log events and those that were too many to keep add up; without a log the rest is counted."""
    harness = told(flood(retried=many))
    (chat,) = [span for span in harness.spans if operation_of(span) == "chat"]
    logged = [r for r in harness.logs if r.log_record.event_name == RETRIED]
    assert len(chat.events) == MOST_MOMENTS
    assert len(chat.events) + len(logged) + chat.attributes.get(DROPPED_EVENTS, 0) == many
    assert logged
    alone = play(flood(retried=many)).named("chat m-1")
    assert len(alone.events) + alone.attributes[DROPPED_EVENTS] == many
