"""Agents, workflows and tools named as OpenInference does: what Phoenix shows, and nothing twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from story import DEMO, Played, Story, play

from atifold import WITHHELD, dialects, fold, otlp, semconv
from atifold.emit.attributes import rising
from atifold.emit.openinference import shown
from atifold.emit.record import MOST_MOMENTS
from atifold.emit.spellings import spelling
from atifold.replay import SpanFile, replay

FOREIGN = ("openinference.", "tool.", "input.", "output.", "llm.", "session.")
AGENT, TOOL = "invoke_agent teller", "execute_tool look_up"
ON = spelling(openinference=True)


def run(result: Any = "found", **end: Any) -> Story:
    """Return a run with one tool."""
    story = Story(session="s-1").turn("What now?").asks().answers("", calls=1).starts("c1", args={"a": 1})
    return story.ends("c1", result, **end).asks(2).answers("Done.", 2).turn_over()


def foreign(played: Played, name: str) -> dict[str, Any]:
    """Return what stands on a span under names that are not the conventions' or ours."""
    return {name: value for name, value in played.named(name).attributes.items() if name.startswith(FOREIGN)}


@pytest.mark.parametrize("slow_lane", [False, True])
def test_an_agent_and_a_tool_have_kind_input_and_output(slow_lane: bool) -> None:
    """As text where it is one, as JSON where it is that; a model call has none of it."""
    played = play(run({"at": [1]}), slow_lane=slow_lane, capture_content=True, spelling=ON)
    assert foreign(played, AGENT) == {
        "openinference.span.kind": "AGENT",
        "input.value": "What now?",
        "input.mime_type": "text/plain",
        "output.value": "Done.",
        "output.mime_type": "text/plain",
    }
    assert foreign(played, TOOL) == {
        "openinference.span.kind": "TOOL",
        "tool.name": "look_up",
        "input.value": '{"a":1}',
        "input.mime_type": "application/json",
        "output.value": '{"at":[1]}',
        "output.mime_type": "application/json",
    }
    for span in (span for span in played if span.attributes[semconv.OPERATION] == "chat"):
        assert not [name for name in span.attributes if name.startswith(FOREIGN)]


@pytest.mark.parametrize("text", ["found", "[see the note]", "{", "7", '"quoted"'])
def test_a_result_that_is_no_object_or_list_is_text(text: str) -> None:
    """Phoenix would show half of JSON as an error."""
    found = foreign(play(run(text), capture_content=True, spelling=ON), TOOL)
    assert (found["output.value"], found["output.mime_type"]) == (text, "text/plain")


def test_nothing_stands_there_by_default() -> None:
    """Nor without capture any content: only kinds and names of tools."""
    plain = play(run(error=True), capture_content=True)
    assert foreign(plain, AGENT) == foreign(plain, TOOL) == {}
    assert plain.named(TOOL).events == ()
    bare = play(run("secret", error=True), spelling=ON)
    assert foreign(bare, AGENT) == {"openinference.span.kind": "AGENT"}
    assert foreign(bare, TOOL) == {"openinference.span.kind": "TOOL", "tool.name": "look_up"}
    assert "secret" not in repr(bare.exported)


def test_what_was_withheld_replaced_or_left_out_is_not_there_either() -> None:
    """The values are those of the conventions' attributes, after redaction and limits."""

    def redact(event: str, path: str, value: Any) -> Any:
        return {"userPrompt": WITHHELD, "finalContent": "***"}.get(path, value)

    played = play(run("long " * 100), capture_content=True, spelling=ON, redact=redact, max_value=400)
    assert "input.value" not in foreign(played, AGENT)
    assert foreign(played, AGENT)["output.value"] == "***"
    assert "output.value" not in foreign(played, TOOL)
    changed = play(run(changedArgKeys=["a"]), capture_content=True, spelling=ON)
    assert foreign(changed, TOOL)["input.value"] == "{}"


def test_a_workflow_is_a_chain() -> None:
    """It has no input of its own."""
    story = Story(composition=("Sequence:pipe",)).tell(
        "composition.enter", {"kind": "Sequence", "id": "p", "name": "p"}
    )
    played = play(story.tell("composition.exit", {"kind": "Sequence", "id": "p"}), capture_content=True, spelling=ON)
    assert foreign(played, "invoke_workflow p") == {"openinference.span.kind": "CHAIN"}


def test_messages_that_are_more_than_one_text_stay_json() -> None:
    """And empty ones are none."""
    agent = {semconv.OPERATION: "invoke_agent"}
    text = {"type": "text", "content": "a"}
    many = json.dumps([{"role": "user", "parts": [text, {"type": "uri", "uri": "http://x", "modality": "image"}]}])
    found = shown({**agent, semconv.INPUT_MESSAGES: many, semconv.OUTPUT_MESSAGES: '[{"role":"assistant","parts":[]}]'})
    assert found == {
        "openinference.span.kind": "AGENT",
        "input.value": many,
        "input.mime_type": "application/json",
    }


def test_older_names_go_with_it() -> None:
    """The names are made of the conventions' ones, whichever are written."""
    played = play(run(), capture_content=True, spelling=spelling("compat", "openlit", openinference=True))
    assert foreign(played, AGENT)["input.value"] == "What now?"
    assert played.named(TOOL).attributes["tool.name"] == "look_up"


@pytest.mark.parametrize("capture", [False, True])
def test_a_failure_is_an_exception_event_too(capture: bool) -> None:
    """MLflow shows no other; its text is content."""
    told = {"error": "It broke.", "stage": "x", "scope": "run", "atifold.errorType": "Crash"}
    story = Story().turn().asks().tell("error.fatal", told)
    played = play(story, capture_content=capture, spelling=ON)
    wanted = {"exception.type": "Crash", **({"exception.message": "It broke."} if capture else {})}
    for name in (AGENT, "chat m-1"):
        span = played.named(name)
        (event,) = [event for event in span.events if event.name == "exception"]
        assert (event.attributes, event.time_ns) == (wanted, span.end_ns)
    assert [event.name for event in played.record(AGENT).events if event.name == "exception"] == []


def test_an_exception_event_pushes_no_other_event_out() -> None:
    """A span takes 128."""
    story = Story().turn()
    for _ in range(MOST_MOMENTS):
        story.tell("agent.handoff", {"from": "a", "to": "b"})
    agent = play(story.tell("error.fatal", {"error": "x"}), spelling=ON).named(AGENT)
    assert {event.name for event in agent.events} == {"agentfootprint.agent.handoff"}
    assert len(agent.events) == MOST_MOMENTS


def told(recording: Path, folder: Path, *, on: bool, capture: bool) -> tuple[list[str], str]:
    """Return the documents and the report of a recording's spans as a backend got them."""
    file = folder / "spans.jsonl"
    replay([recording], exporters=[SpanFile(file)], capture_content=capture, spelling=spelling(openinference=on))
    folded = fold.fold(dialects.read(otlp.read([file]).spans))
    documents = [json.dumps(document.trajectory, sort_keys=True) for document in folded.documents]
    return documents, json.dumps(folded.report)


@pytest.mark.parametrize("capture", [False, True])
def test_spans_fold_to_the_same_documents_with_it_and_without(capture: bool, tmp_path: Path) -> None:
    """Nothing is counted twice: the demo's two turns, in which a tool fails and an agent is called."""
    documents, report = told(DEMO, tmp_path, on=True, capture=capture)
    assert documents
    assert (documents, report) == told(DEMO, tmp_path, on=False, capture=capture)


def test_every_recording_folds_to_the_same_documents(recordings: list[Path], tmp_path: Path) -> None:
    """Pauses, compositions, failures and streams among them."""
    for recording in recordings:
        with_it, without = (told(recording, tmp_path, on=on, capture=True) for on in (True, False))
        assert with_it == without, recording.name


def test_under_a_limit_of_the_sdk_the_foreign_names_go_first() -> None:
    """It takes away what was put first."""
    names = list(rising(play(run(), capture_content=True, spelling=ON).named(TOOL).attributes))
    assert max(names.index(name) for name in names if name.startswith(FOREIGN)) < names.index(semconv.TOOL_RESULT)
