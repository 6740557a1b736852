"""What a user's function withholds or replaces is nowhere, whatever is made of an event."""

from __future__ import annotations

import copy
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import markers
import pytest
from specimens import payloads
from story import DEMO, Played, Stage, Story, Wire, play, wires

import atifold
from atifold import WITHHELD, atif, semconv
from atifold.emit.places import PLACES
from atifold.emit.redaction import Redactor, withheld_names
from atifold.events import EVENTS
from atifold.events.envelope import Event, build, parse
from atifold.events.marks import Mark, leaves
from atifold.recording import in_order

TYPED = sorted(name for name in EVENTS if EVENTS[name] is not None)
UNTYPED = ["agentfootprint.risk.flagged", "agentfootprint.stream.brand_new", "elsewhere.entirely"]


def nothing(event: str, path: str, value: Any) -> Any:
    """Let nothing through."""
    return WITHHELD


def stars(event: str, path: str, value: Any) -> Any:
    """Put three stars in the place of every text."""
    return "***" if isinstance(value, str) else value


def everything(event: str, path: str, value: Any) -> Any:
    """Let all through."""
    return value


def not_mine(event: str, path: str, value: Any) -> Any:
    """Withhold one text."""
    return WITHHELD if value == "mine" else value


def told(played: Played) -> str:
    """Return all that came of a stream: exported spans and log records, whole records, documents and report."""
    logged = [record.to_json() for record in played.logs]
    return repr((played.exported, logged, played.records, played.folded()))


def stories(name: str) -> Iterator[tuple[list[Wire], list[str]]]:
    """Yield runs in which an event comes where it has something to stand on, with a marker in each content leaf."""
    short = name.removeprefix("agentfootprint.")
    for payload in payloads(name):
        for call_id in {payload.get("toolCallId", "c"), "c"}:
            given = {**payload, "toolCallId": call_id} if "toolCallId" in payload else {**payload}
            given = copy.deepcopy({**given, "unheard of": {"deep": ["some text"]}, "atifold.error": "some text"})
            given.pop("contentWithheld", None)
            if "questionPayload" in given:
                given["questionPayload"] = {**given["questionPayload"], "toolCallId": "c"}
            story = Story(session="s").configured()
            if short == "agent.run_configured":
                marked = story.tell(short, given).events[-1]
            story.turn("a").asks().answers("b", calls=1).starts("c", args={"q": "d"}).tell("memory.retrieved", {"k": 1})
            if short != "agent.run_configured":
                marked = story.tell(short, given, stage="call-llm#1" if "stream." in short else "").events[-1]
            story.ends("c").tell("agent.iteration_end", {"iterIndex": 1}).asks(2).answers("e", 2).turn_over().disposed()
            yield story.events, markers.mark(marked)


@pytest.mark.parametrize("name", TYPED)
def test_what_is_withheld_of_any_event_is_nowhere(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not in a span, a record, a trajectory, a report or a log line."""
    with caplog.at_level(logging.DEBUG):
        for events, put in stories(name):
            assert put
            text = told(play(map(parse, events), capture_content=True, logs=True, redact=nothing))
            assert [marker for marker in put if marker in text or marker in caplog.text] == []


@pytest.mark.parametrize("name", TYPED)
def test_what_is_replaced_of_any_event_leaves_the_replacement_only(name: str) -> None:
    """It stands where the text would have stood, and nowhere does the text."""
    for events, put in stories(name):
        plain = told(play(map(parse, events), capture_content=True, logs=True))
        text = told(play(map(parse, events), capture_content=True, logs=True, redact=stars))
        assert [marker for marker in put if marker in text] == []
        if any(marker in plain for marker in put):
            assert "***" in text


@pytest.mark.parametrize("name", [row.event for row in PLACES if row.does is not None])
def test_the_markers_of_an_event_with_a_place_do_get_out_without_a_redaction(name: str) -> None:
    """Else the tests above say nothing of it; the events named have no content that is written."""
    full = f"agentfootprint.{name}"
    if full in TYPED and name not in SILENT:
        assert any(
            marker in told(play(map(parse, events), capture_content=True, logs=True))
            for events, put in stories(full)
            for marker in put
        )


SILENT = frozenset(
    {"agent.iteration_start", "composition.exit", "composition.enter", "cost.tick", "embedding.generated",
     "stream.token", "stream.thinking_delta", "pause.resume",
     "context.evaluated", "skill.graph_declared", "tools.semantics_declared"}
)  # fmt: skip


@pytest.mark.parametrize("name", TYPED + UNTYPED)
def test_every_content_leaf_is_asked_for_once_by_its_path(name: str) -> None:
    """And no structure, no null and no empty list or object, which say nothing."""
    bodies = payloads(name) if name in TYPED else [{"a": [{"b": "c"}, None, {}], "atifold.last": True, "d": 7}]
    for payload in bodies:
        event = parse({"type": name, "payload": {**payload, "unheard of": [1, {"x": "y"}]}, "meta": {}})
        asked: list[tuple[str, str, Any]] = []

        def note(*said: Any, asked: list[tuple[str, str, Any]] = asked) -> Any:
            asked.append(said)
            return said[2]

        assert Redactor(note, pytest.fail).apply(event) is event
        wanted = [
            (name, p, v) for p, m, v in leaves(event) if m is Mark.CONTENT and v is not None and v not in ([], {})
        ]
        assert asked == wanted


@pytest.mark.parametrize("name", TYPED)
def test_a_redacted_event_has_its_structure_and_the_given_one_is_as_before(name: str) -> None:
    """The other subscribers of the bus hold the same object."""
    for payload in payloads(name):
        event = parse({"type": name, "payload": payload, "meta": {"runId": "r"}})
        before = copy.deepcopy(event.to_wire())
        redacted = Redactor(nothing, pytest.fail).apply(event)
        assert event.to_wire() == before
        assert [leaf for leaf in leaves(redacted) if leaf[1] is Mark.CONTENT and leaf[2] not in (None, [], {})] == []
        assert type(redacted.payload) is type(event.payload)
        assert redacted.meta is event.meta


def test_without_a_function_or_with_one_that_lets_all_through_nothing_changes(recordings_or_demo: list[Path]) -> None:
    """The same spans come out, and the same records."""
    for path in recordings_or_demo:
        events = in_order(map(parse, wires(path)))
        shapes = [
            [
                (s.name, without_ids(s.attributes), s.events, s.status_message)
                for s in (*played.exported, *played.records)
            ]
            for played in (play(events, capture_content=True, **more) for more in ({}, {"redact": everything}))
        ]
        assert shapes[0] == shapes[1]


def without_ids(attributes: Any) -> dict[str, Any]:
    """Return attributes but those that hold random ids."""
    return {name: value for name, value in attributes.items() if not name.startswith("atifold.resumes.")}


@pytest.fixture
def recordings_or_demo() -> list[Path]:
    """Return the demo, and recordings where they are at hand."""
    return [DEMO, *sorted((DEMO.parents[4] / "shared" / "recordings").glob("*.jsonl"))]


@pytest.mark.parametrize("redact", [nothing, stars])
def test_a_recording_without_its_content_still_makes_valid_trajectories(
    redact: Any, recordings_or_demo: list[Path]
) -> None:
    """With a marker in each leaf of the run, none is anywhere."""
    for path in recordings_or_demo:
        events, put = wires(path), []
        for event in events:
            put += markers.mark(event, len(put))
        played = play(in_order(map(parse, events)), capture_content=True, redact=redact)
        folded = played.folded()
        text = told(played) + repr(folded)
        assert [marker for marker in put if marker in text] == []
        assert len(folded.documents) == len(play(in_order(map(parse, wires(path)))).folded().documents)
        for document in folded.documents:
            assert [f for f in atif.check(document.trajectory) if f.is_error] == []


# ---- where it is said ----------------------------------------------------------------------------

WHOLE = (
    Story()
    .configured()
    .turn("mine")
    .tell("context.injected", {"slot": "system-prompt", "rawContent": "Be kind."})
    .tell("stream.llm_start", {"iteration": 1, "model": "m", "provider": "mock", "systemPromptText": "Be kind.",
          "tools": [{"name": "t", "description": "mine"}], "atifold.messages": [{"role": "user", "content": "mine"}]},
          stage="call-llm#1")
    .answers("mine", calls=1)
    .starts("c", args={"q": "mine", "n": 1})
    .ends("c", "mine")
    .tell("agent.iteration_end", {"iterIndex": 1})
    .asks(2)
    .answers("mine", 2)
    .turn_over("mine")
    .disposed()
)  # fmt: skip


def test_what_is_withheld_is_absent_and_named_on_its_span() -> None:
    """On the exported span and in the record, by the attribute's name."""
    played = play(WHOLE, capture_content=True, logs=True, redact=nothing)
    named = {
        span.name: (set(span.attributes[semconv.WITHHELD]), span)
        for span in [*played.exported, *played.records]
        if semconv.WITHHELD in span.attributes
    }
    chats = [span for span in played if span.name == "chat m"]
    assert set(chats[0].attributes[semconv.WITHHELD]) == {
        semconv.SYSTEM_INSTRUCTIONS,
        semconv.TOOL_DEFINITIONS,
        semconv.INPUT_MESSAGES,
        semconv.OUTPUT_MESSAGES,
    }
    assert named["execute_tool look_up"][0] == {semconv.TOOL_ARGUMENTS, semconv.TOOL_RESULT}
    assert named["invoke_agent teller"][0] >= {semconv.INPUT_MESSAGES, semconv.OUTPUT_MESSAGES}
    for span in (*played.exported, *played.records):
        for name in set(span.attributes.get(semconv.WITHHELD, ())) - {semconv.TOOL_DEFINITIONS}:
            has_calls = name == semconv.OUTPUT_MESSAGES and "tool_call" in str(span.attributes.get(name))
            assert name not in span.attributes or has_calls


def test_a_part_that_is_withheld_leaves_the_rest() -> None:
    """A key of the arguments goes, the other one stays."""

    def no_query(event: str, path: str, value: Any) -> Any:
        return WITHHELD if path == "args.q" else value

    tool = play(WHOLE, capture_content=True, redact=no_query).named("execute_tool look_up")
    assert tool.attributes[semconv.TOOL_ARGUMENTS] == '{"n":1}'
    assert list(tool.attributes[semconv.WITHHELD]) == [semconv.TOOL_ARGUMENTS]


def test_a_fact_is_named_by_its_own_attribute() -> None:
    """Facts of the emitter's own, on attributes and in span events, held for a call that is yet to start too."""
    story = Story().turn().tell("tools.effect", {"toolCallId": "c", "toolName": "t", "title": "mine"}).asks()
    story.answers(calls=1).tell("error.retried", {"error": "mine"}, stage="call-llm#1").starts("c").ends("c")
    story.tell("agent.budget_exhausted", {"reason": "x", "note": "mine"}).turn_over()
    played = play(story, capture_content=True, redact=not_mine)
    said = {span.name: list(span.attributes.get(semconv.WITHHELD, ())) for span in played}
    assert said == {
        "chat m-1": ["agentfootprint.error.error"],
        "execute_tool look_up": ["agentfootprint.tools.title"],
        "invoke_agent teller": ["agentfootprint.agent.note"],
    }


def test_the_names_of_withheld_texts_of_a_request_wait_for_its_span() -> None:
    """The text of a slot is told before the inference starts."""
    story = Story().turn().tell("context.injected", {"slot": "system-prompt", "rawContent": "mine"}, path=["sf-x"])
    chat = play(story.asks().answers().turn_over(), capture_content=True, redact=not_mine).named("chat m-1")
    assert list(chat.attributes[semconv.WITHHELD]) == [semconv.SYSTEM_INSTRUCTIONS]


def test_no_name_is_said_where_content_does_not_leave_at_all() -> None:
    """Without capture nothing of it is on the span in any case; the record says it."""
    played = play(WHOLE, redact=nothing)
    assert all(semconv.WITHHELD not in span.attributes for span in played)
    assert any(semconv.WITHHELD in span.attributes for span in played.records)


# ---- a function that fails -----------------------------------------------------------------------


@pytest.mark.parametrize("answer", [None, object(), b"x", ValueError("mine")])
def test_a_function_that_fails_withholds_and_costs_no_event(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is said once, without the value or the error's text, and counted."""

    def bad(event: str, path: str, value: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    played = play(WHOLE, capture_content=True, redact=bad)
    assert [span.name for span in played] == [span.name for span in play(WHOLE)]
    assert "mine" not in told(played)
    assert len(caplog.records) == 1
    assert "mine" not in caplog.text
    assert played.counts["redactions_failed"] > 1
    assert "events_failed" not in played.counts


def test_a_value_of_a_kind_that_cannot_stand_there_is_withheld() -> None:
    """A text for the only text of a model's field may, a list may not; in a body of any shape both may."""
    said: list[str] = []
    redactor = Redactor(lambda *_: ["x"], said.append)
    end = parse({"type": "agentfootprint.stream.llm_end", "payload": {"content": "a", "iteration": 1}, "meta": {}})
    start = parse({"type": "agentfootprint.stream.tool_start", "payload": {"args": {"q": "a"}}, "meta": {}})
    assert redactor.apply(end).payload.to_wire() == {"iteration": 1}
    assert said == ["returned a value of the type list, which cannot stand there"]
    assert redactor.apply(start).payload.to_wire() == {"args": {"q": ["x"]}}
    assert len(said) == 1


def test_a_function_that_waits_for_another_thread_is_no_deadlock() -> None:
    """It is called outside of the emitter's lock, which the other thread takes."""
    waits: list[bool] = []

    def waiting(event: str, path: str, value: Any) -> Any:
        other = threading.Thread(target=stage.emitter.sweep, args=(0,), daemon=True)
        other.start()
        other.join(5)
        waits.append(other.is_alive())
        return value

    stage = Stage(live=False, capture_content=True, redact=waiting)
    for event in WHOLE.parsed():
        stage.bus.emit(event)
    assert len(stage.played().exported) == 4
    assert set(waits) == {False}


# ---- never restored ------------------------------------------------------------------------------


def test_an_answer_that_a_policy_kept_back_is_not_restored_from_history() -> None:
    """The next request's history and what was injected would tell it; the calls of it stay."""
    history = [
        {"role": "user", "content": "What now?"},
        {"role": "assistant", "content": "SECRET", "toolCalls": [{"id": "c", "name": "look_up", "args": {}}]},
        {"role": "tool", "content": "found", "toolCallId": "c"},
    ]
    story = Story().turn().asks().answers("SECRET", calls=1, contentWithheld=True).starts("c").ends("c")
    story.tell("context.injected", {"slot": "messages", "position": 1, "asRole": "assistant", "rawContent": "SECRET"},
               path=["sf-messages"])  # fmt: skip
    story.tell("agent.iteration_end", {"iterIndex": 1, "history": history[:]}).asks(2).answers("Done.", 2)
    story.tell(
        "agent.iteration_end", {"iterIndex": 2, "history": [*history, {"role": "assistant", "content": "Done."}]}
    )
    played = play(story.turn_over(), capture_content=True)
    assert "SECRET" not in told(played)
    second = json.loads([s for s in played if s.name == "chat m-1"][1].attributes[semconv.INPUT_MESSAGES])
    assert [message["role"] for message in second] == ["user", "assistant", "tool"]
    assert [part["type"] for part in second[1]["parts"]] == ["tool_call"]


def test_a_draft_that_a_policy_kept_back_is_not_restored() -> None:
    """The fact says that there was one."""
    story = Story().turn().asks().answers("SECRET", contentWithheld=True)
    story.tell("agent.output_schema_validation_failed", {"message": "no", "draftWithheld": True, "attempt": 1})
    history = [{"role": "user", "content": "What now?"}, {"role": "assistant", "content": "SECRET"}]
    story.tell("agent.iteration_end", {"iterIndex": 1, "history": history}).asks(2).answers("Fine.", 2)
    played = play(story.turn_over(), capture_content=True)
    assert "SECRET" not in told(played)
    agent = played.named("invoke_agent teller")
    assert agent.events[0].attributes["agentfootprint.agent.draft_withheld"] is True


def test_a_refused_turn_has_no_answer() -> None:
    """Neither its own text nor the model's stands on the agent's span."""
    story = Story().turn().asks().answers("SAID")
    story.tell("agent.turn_end", {"turnIndex": 0, "finalContent": "SECRET", "refused": {"by": "x"}})
    played = play(story, capture_content=True)
    assert "SECRET" not in told(played)
    assert semconv.OUTPUT_MESSAGES not in played.named("invoke_agent teller").attributes


def test_what_the_model_read_is_the_observation_and_nothing_stands_in_for_it() -> None:
    """`modelResult` wins over `result`; where it is withheld, `result` is too."""
    story = Story().turn().asks().answers(calls=1).starts("c").ends("c", "RAW", modelResult="READ").turn_over()
    played = play(story, capture_content=True)
    assert played.named("execute_tool look_up").attributes[semconv.TOOL_RESULT] == "READ"
    assert "RAW" not in told(played)
    redacted = play(story, capture_content=True, redact=lambda *said: WITHHELD if said[1] == "modelResult" else said[2])
    assert "RAW" not in told(redacted)
    assert semconv.TOOL_RESULT not in redacted.named("execute_tool look_up").attributes


def test_a_withheld_history_is_not_rebuilt_from_the_prompt() -> None:
    """The request has no messages then."""
    story = (
        Story()
        .turn("mine")
        .tell(
            "stream.llm_start",
            {"iteration": 1, "model": "m", "messagesCount": 1, "atifold.messages": [{"content": "mine"}]},
            stage="call-llm#1",
        )
    )

    def not_the_messages(event: str, path: str, value: Any) -> Any:
        return WITHHELD if path.startswith("atifold.messages") else value

    chat = play(story.answers().turn_over(), capture_content=True, redact=not_the_messages).named("chat m")
    assert semconv.INPUT_MESSAGES not in chat.attributes


def test_replaced_prompts_tie_no_agent_to_another_ones_tool() -> None:
    """The parent is inferred from equal texts, and three stars are equal everywhere."""
    outer = Story("a").turn().asks().answers(calls=1).starts("c", args={"q": "one thing"})
    inner = Story("b", start_ms=outer.now_ms).turn("another").turn_over()
    events = [*outer.events, *inner.events]
    agents = [s for s in play(map(parse, events), redact=stars).records if s.name.startswith("invoke_agent")]
    assert [span.parent_id for span in agents] == [None, None]


def test_an_unreadable_payload_says_nothing() -> None:
    """It is content as a whole, keys of its maps and the problem's words too."""
    event = parse({"type": "agentfootprint.stream.llm_end", "payload": {"iteration": "mine", "content": 7}, "meta": {}})
    assert "mine" not in repr(getattr(event.payload, "problem", ""))
    redacted = Redactor(nothing, pytest.fail).apply(event)
    assert redacted.payload.to_wire() == {}
    assert withheld_names(redacted) != ()
    assert getattr(redacted.payload, "problem", None) == ""


def test_withheld_is_one_public_value() -> None:
    """It says its name, and is the package's."""
    assert atifold.WITHHELD is WITHHELD
    assert repr(WITHHELD) == "WITHHELD"


def test_a_body_that_is_no_object_is_withheld_whole() -> None:
    """An event's payload may be anything."""
    odd: Event[Any] = build("elsewhere.odd", "mine", parse({"type": "x"}).meta)
    assert Redactor(nothing, pytest.fail).apply(odd).payload.to_wire() is None


def test_objects_of_a_live_program_cost_no_event() -> None:
    """What has no truth value, or is no value of JSON, is a leaf like others."""

    class Odd:
        def __bool__(self) -> bool:
            raise ValueError("ambiguous")

    odd = Odd()
    event = parse({"type": "agentfootprint.stream.tool_start", "payload": {"args": {"a": odd, "b": [odd]}}, "meta": {}})
    assert Redactor(everything, pytest.fail).apply(event) is event
    assert Redactor(nothing, pytest.fail).apply(event).payload.to_wire() == {}
