"""Every span that leaves agrees with the pinned conventions, with content and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import conformity
import pytest
from story import Story, play, wires

from atifold.events.envelope import parse
from atifold.recording import in_order
from atifold.semconv import OPERATION
from atifold.spans import Span
from atifold.testing import faults
from atifold.testing.conventions import CONTENT

CAPTURE = pytest.mark.parametrize("capture", [False, True], ids=["bare", "content"])


@CAPTURE
def test_the_spans_of_every_recording_conform(recording: Path, capture: bool) -> None:
    """Names, types, required attributes, kinds, status: nothing is wrong anywhere."""
    events = wires(recording)
    sessions = {event["meta"].get("sessionId") for event in events}
    spans = play(in_order([parse(event) for event in events]), capture_content=capture)
    assert conformity.check(spans, content=capture, sessions=sessions) == []


@CAPTURE
def test_the_spans_of_every_cut_recording_conform(recording: Path, capture: bool) -> None:
    """Unfinished spans, and spans whose beginning is lost, conform too."""
    events = wires(recording)
    sessions = {event["meta"].get("sessionId") for event in events}
    for count in range(1, len(events), 3):
        for part in (events[:count], events[count:]):
            spans = play(in_order([parse(event) for event in part]), capture_content=capture)
            assert conformity.check(spans, content=capture, sessions=sessions) == [], f"cut at {count}"


def everything() -> Story:
    """Return a session with each kind of span in it, those of memories and a discovery too."""
    story = Story(composition=["Sequence:all"], session="s-1")
    story.tell("composition.enter", {"kind": "Sequence", "id": "all", "name": "all"}, principal="p", tenant="t")
    story.turn(path=["step-one"])
    story.tell(
        "embedding.generated", {"model": "e", "provider": "mock", "durationMs": 3, "dimension": 8}, path=["step-one"]
    )
    story.tell("agent.run_configured", {"memories": [{"id": "talks", "flavor": "memory"}]}, path=["step-one"])
    for source in ("docs", "talks"):
        where = {"path": ["step-one", f"sf-memory-read-{source}"]}
        story.tell("memory.retrieved", {"k": 2, "admittedCount": 1, "candidates": [{"id": "d"}]}, **where)
        story.tell("memory.attached", {"memoryId": "d", "score": 0.5, "contentSummary": "mk"}, **where)
    story.tell("memory.written", {"memoryId": "m", "contentSummary": "mk", "source": "auto"}, path=["step-one"])
    for name, payload in (("started", {}), ("failed", {"error": "mk", "errorName": "Timeout", "durationMs": 4})):
        story.tell(f"tools.discovery_{name}", {"providerId": "hub", "iteration": 1, **payload}, path=["step-one"])
    story.asks(path=["step-one"]).answers("", calls=2, path=["step-one"])
    story.starts("a", path=["step-one"]).ends("a", "boom", error=True, path=["step-one"])
    story.starts("b", "read_skill", {"id": "billing"}, path=["step-one"])
    story.tell("tools.code_run", {"tool": "read_skill", "language": "py", "exitCode": 3}, path=["step-one"])
    story.ends("b", {"n": 1}, path=["step-one"])
    story.tell("skill.activated", {"skillId": "billing", "reason": "read_skill_result"}, path=["step-one"])
    story.turn_over(path=["step-one"])
    return story.tell("composition.exit", {"kind": "Sequence", "id": "all", "name": "all", "status": "err"})


@CAPTURE
def test_the_spans_of_each_kind_conform_in_a_session(capture: bool) -> None:
    """The conversation id is on the kinds that have one, and on no other."""
    spans = play(everything(), capture_content=capture)
    operations = {span.attributes.get(OPERATION) for span in spans}
    named = {"invoke_workflow", "invoke_agent", "chat", "execute_tool", "embeddings", "retrieval"}
    assert operations == named | {"search_memory", "upsert_memory", None}
    assert conformity.check(spans, content=capture, sessions={"s-1"}) == []


# ---- each rule of ours refuses something ---------------------------------------------------------

OURS = {
    "no operation": ({}, "gen_ai.operation.name: each span of ours has one"),
    "structure on a span": ({"gen_ai.output.messages": []}, "gen_ai.output.messages: structure is JSON text"),
    "arguments that are no JSON": ({"gen_ai.tool.call.arguments": "{"}, "gen_ai.tool.call.arguments: no JSON"),
    "a map in an attribute of ours": ({"atifold.odd": {"a": 1}}, "atifold.odd: not every backend takes {'a': 1}"),
    "lists in a list": ({"atifold.odd": [[1]]}, "atifold.odd: not every backend takes [[1]]"),
    "usage on an agent": (
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 1},
        "gen_ai.usage.input_tokens: tokens of an agent",
    ),
    "a name without a home": ({"gen_ai.operation.name": "chat", "mood": "good"}, "mood: in none of the namespaces"),
    "an unknown error name": ({"gen_ai.operation.name": "chat", "error.mood": "x"}, "error.mood: in none of the"),
    "an invented conversation": (
        {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "run-1"},
        "gen_ai.conversation.id: 'run-1' is no session's id",
    ),
}


@pytest.mark.parametrize(("attributes", "words"), OURS.values(), ids=OURS)
def test_what_is_wrong_by_our_own_rules_is_said(attributes: dict[str, Any], words: str) -> None:
    """Beyond what the conventions want of everybody."""
    lines = conformity.check([Span("1" * 32, "2" * 16, None, "odd", 1, 2, attributes=attributes)], content=True)
    assert any(words in line for line in lines), lines


def right() -> list[Span]:
    """Return an agent's turn with content, in which nothing is wrong."""
    story = Story().turn().tell("tools.discovery_started", {"providerId": "hub"})
    story.tell("tools.discovery_completed", {"providerId": "hub", "toolCount": 2, "durationMs": 10})
    return list(play(story.asks().answers("", calls=1).starts("c").ends("c").turn_over(), capture_content=True))


def test_content_is_wrong_where_none_was_captured() -> None:
    """Messages, arguments and results are findings, one for each."""
    spans = right()
    assert conformity.check(spans, content=True) == []
    assert len(faults(spans=spans, content=False)) == sum(name in CONTENT for s in spans for name in s.attributes) > 0


def test_content_is_there_where_it_was_captured(recording: Path) -> None:
    """So the checks above do not pass for want of content."""
    spans = play(in_order([parse(event) for event in wires(recording)]), capture_content=True)
    assert faults(spans=spans, content=True) == []


def test_a_streamed_answer_says_that_it_was() -> None:
    """The conventions want `gen_ai.request.stream` wherever there is a time to the first chunk."""
    story = Story().turn().asks().tell("stream.token", {"iteration": 1, "tokenIndex": 0}, stage="call-llm#1")
    played = play(story.answers().turn_over())
    assert played.named("chat m-1").attributes["gen_ai.request.stream"] is True
    assert faults(spans=played) == []
