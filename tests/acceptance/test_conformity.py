"""Every span that leaves agrees with the pinned conventions, with content and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import conformity
import pytest
from story import Story, play, wires

from atifold.events.envelope import parse
from atifold.recording import in_order
from atifold.spans import Kind, Span, Status

CAPTURE = pytest.mark.parametrize("capture", [False, True], ids=["bare", "content"])


def test_the_table_is_that_of_the_compiled_conventions(shared: Path) -> None:
    """Types, operations, required and listed attributes of each span type are the pinned ones."""
    path = shared / "reference" / "semconv" / "genai-current-compiled.json"
    compiled: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    elsewhere = {"error.type": "string", "server.address": "string", "server.port": "int"}
    types = {name: facts["type"] for name, facts in compiled["attributes"].items()} | elsewhere
    for name, row in conformity.SPAN_TYPES.items():
        found = compiled["spans"][name]
        listed = {attribute: how[0] for attribute, how in found["attributes"].items()}
        assert row.operations == set(found["operation"]), name
        assert row.allowed == set(listed), name
        assert row.required == {attribute for attribute, how in listed.items() if how == "required"}, name
        assert {kind.value for kind in row.kinds} == {k for k in ("CLIENT", "INTERNAL") if k in found["kind"]}, name
        assert {attribute: conformity.TYPES[attribute] for attribute in listed} == {a: types[a] for a in listed}, name
    opt_in = {
        a for n in conformity.SPAN_TYPES for a, h in compiled["spans"][n]["attributes"].items() if h[0] == "opt_in"
    }
    assert opt_in == conformity.CONTENT


@CAPTURE
def test_the_spans_of_every_recording_conform(recording: Path, capture: bool) -> None:
    """Names, types, required attributes, kinds, status: nothing is wrong anywhere."""
    events = wires(recording)
    sessions = {event["meta"].get("sessionId") for event in events}
    spans = play(in_order([parse(event) for event in events]), capture_content=capture)
    assert [line for span in spans for line in conformity.check(span, content=capture, sessions=sessions)] == []


@CAPTURE
def test_the_spans_of_every_cut_recording_conform(recording: Path, capture: bool) -> None:
    """Unfinished spans, and spans whose beginning is lost, conform too."""
    events = wires(recording)
    sessions = {event["meta"].get("sessionId") for event in events}
    for count in range(1, len(events), 3):
        for part in (events[:count], events[count:]):
            spans = play(in_order([parse(event) for event in part]), capture_content=capture)
            lines = [line for span in spans for line in conformity.check(span, content=capture, sessions=sessions)]
            assert lines == [], f"cut at {count}"


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
    operations = {span.attributes.get(conformity.OPERATION) for span in spans}
    named = {"invoke_workflow", "invoke_agent", "chat", "execute_tool", "embeddings", "retrieval"}
    assert operations == named | {"search_memory", "upsert_memory", None}
    assert [line for span in spans for line in conformity.check(span, content=capture, sessions={"s-1"})] == []


# ---- each rule refuses something -----------------------------------------------------------------


def having(**attributes: Any) -> Callable[[Span], Span]:
    """Return a change that sets attributes; two underscores stand for a dot."""
    added = {name.replace("__", "."): value for name, value in attributes.items()}
    return lambda span: replace(span, attributes={**span.attributes, **added})


def lacking(name: str) -> Callable[[Span], Span]:
    """Return a change that takes an attribute away."""
    return lambda span: replace(span, attributes={k: v for k, v in span.attributes.items() if k != name})


WRONG = {
    "an unknown operation": ("chat m-1", having(gen_ai__operation__name="talk"), "no span type"),
    "another kind": ("chat m-1", lambda span: replace(span, kind=Kind.SERVER), "kind SERVER"),
    "another name": ("chat m-1", lambda span: replace(span, name="chat"), "wanted the name"),
    "time that runs back": ("chat m-1", lambda span: replace(span, end_ns=span.start_ns - 1), "ends before"),
    "no end": ("chat m-1", lambda span: replace(span, end_ns=None), "ends before"),
    "no provider": ("chat m-1", lacking("gen_ai.provider.name"), "gen_ai.provider.name is required"),
    "no tool name": ("execute_tool look_up", lacking("gen_ai.tool.name"), "gen_ai.tool.name is required"),
    "an invented name": ("chat m-1", having(gen_ai__mood="good"), "gen_ai.mood is not of this span type"),
    "another type's name": ("execute_tool look_up", having(gen_ai__provider__name="x"), "not of this span type"),
    "a name without a home": ("chat m-1", having(mood="good"), "mood is in no namespace"),
    "a text for a number": ("chat m-1", having(gen_ai__request__max_tokens="9"), "is no int"),
    "a whole number for a double": ("chat m-1", having(gen_ai__request__temperature=1), "is no double"),
    "a boolean for a number": ("chat m-1", having(gen_ai__request__max_tokens=True), "is no int"),
    "a number beyond 64 bits": ("chat m-1", having(gen_ai__request__max_tokens=2**63), "is no int"),
    "a text for a list": ("chat m-1", having(gen_ai__response__finish_reasons="stop"), "is no string[]"),
    "no attribute value": ("chat m-1", having(atifold__odd={"a": 1}), "is no attribute value"),
    "not a number": ("chat m-1", having(atifold__odd=float("nan")), "is no attribute value"),
    "usage on an agent": ("invoke_agent teller", having(gen_ai__usage__input_tokens=1), "counts twice"),
    "an invented conversation": ("chat m-1", having(gen_ai__conversation__id="run-1"), "is no session"),
    "compacted as false": ("chat m-1", having(gen_ai__conversation__compacted=False), "only as true"),
    "status OK": ("chat m-1", lambda span: replace(span, status=Status.OK), "status OK"),
    "a failure without a type": ("chat m-1", lambda span: replace(span, status=Status.ERROR), "status ERROR"),
    "a type without a failure": ("chat m-1", having(error__type="X"), "status UNSET"),
    "an exit code in words": ("execute_tool look_up", having(process__exit__code="3"), "is no int"),
    "an exit code of a model": ("chat m-1", having(process__exit__code=3), "not of this span type"),
    "a skill without its name": ("execute_tool look_up", having(gen_ai__skill__name="s"), "wanted the name"),
    "our span, named otherwise": ("tools.discovery hub", lambda span: replace(span, name="hub"), "wanted the name"),
    "our span with a foreign name": ("tools.discovery hub", having(gen_ai__tool__name="x"), "is not ours"),
    "our span as a client's": ("tools.discovery hub", lambda span: replace(span, kind=Kind.CLIENT), "kind CLIENT"),
    "words without a failure": ("chat m-1", lambda span: replace(span, status_message="hm"), "without a failure"),
    "messages that are no JSON": ("chat m-1", having(gen_ai__input__messages="["), "is no JSON"),
    "messages of another shape": ("chat m-1", having(gen_ai__input__messages='[{"role": "user"}]'), "no message"),
}


def right() -> list[Span]:
    """Return an agent's turn with content, in which nothing is wrong."""
    story = Story().turn().tell("tools.discovery_started", {"providerId": "hub"})
    story.tell("tools.discovery_completed", {"providerId": "hub", "toolCount": 2, "durationMs": 10})
    return list(play(story.asks().answers("", calls=1).starts("c").ends("c").turn_over(), capture_content=True))


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(case: tuple[str, Callable[[Span], Span], str]) -> None:
    """Each rule finds its own violation, and only that."""
    name, spoil, words = case
    spans = [spoil(span) if span.name == name else span for span in right()]
    lines = [line for span in spans for line in conformity.check(span, content=True)]
    assert lines
    assert any(words in line for line in lines), lines


def test_content_is_wrong_where_none_was_captured() -> None:
    """Messages, arguments and results are findings, and so is the text of a failure."""
    spans = right()
    lines = [line for span in spans for line in conformity.check(span, content=False)]
    assert len(lines) == sum(name in conformity.CONTENT for span in spans for name in span.attributes) > 0
    failed = replace(spans[0], status=Status.ERROR, status_message="db-7 is down")
    assert any("the description is content" in line for line in conformity.check(failed, content=False))
    assert [line for span in spans for line in conformity.check(span, content=True)] == []
