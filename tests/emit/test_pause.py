"""A pause seals its leg, and the run that answers goes on from it."""

from __future__ import annotations

from typing import Any

from story import START_MS, Stage, Story, moments, play

from atifold import dialects, fold, semconv
from atifold.events.envelope import Event
from atifold.spans import Span, Status

NS_PER_MS = 1_000_000


def incomplete(span: Span) -> tuple[str, ...]:
    """Return why a span is not whole."""
    return tuple(span.attributes.get(semconv.INCOMPLETE, ()))


def paused_story() -> Story:
    """Return a turn that asked for three calls: one done, two open when the pause comes."""
    story = Story().turn("refund").asks().answers("", calls=3)
    story.starts("c0", "log").ends("c0").starts("c1", "ask_human", {"q": 1}).starts("c2", "ask_other", {"q": 2})
    return story.tell("pause.request", {"questionPayload": {"toolCallId": "c1"}}, run="consumer-scope").disposed()


def resumed_story() -> Story:
    """Return the same turn, resumed under another run id."""
    story = paused_story()
    story.tell("pause.resume", {"resumeInput": {"input": "yes"}, "pausedDurationMs": 5}, run="consumer-scope")
    story.tell("agent.run_configured", {"agentId": "teller"}, run="run-2")
    story.ends("c1", "yes", run="run-2", durationMs=1000)
    story.ends("c2", "too", run="run-2", durationMs=4)
    story.tell("agent.iteration_end", {"iterIndex": 1}, run="run-2")
    return story.asks(2, run="run-2").answers("Done.", 2, run="run-2").turn_over(run="run-2").disposed(run="run-2")


def test_a_pause_seals_the_leg_without_a_failure() -> None:
    """All spans of the leg end with the pause; the open ones are paused, not failed and not incomplete."""
    result = play(paused_story())
    agent = result.named("invoke_agent teller")
    assert {span.status for span in result} == {Status.UNSET}
    for name in ("invoke_agent teller", "execute_tool ask_human", "execute_tool ask_other"):
        assert result.named(name).attributes[semconv.PAUSED] is True
        assert incomplete(result.named(name)) == ()
    assert agent.end_ns == (START_MS + 70) * NS_PER_MS


def test_the_next_leg_is_a_trace_of_its_own_tied_to_the_paused_one() -> None:
    """A link and, since some backends lose links, two attributes; results are tools of the new leg."""
    result = play(resumed_story())
    before, after = sorted((s for s in result if s.name == "invoke_agent teller"), key=lambda s: s.start_ns)
    assert before.trace_id != after.trace_id
    assert after.attributes[semconv.RESUMES_TRACE] == before.trace_id
    assert after.attributes[semconv.RESUMES_SPAN] == before.span_id
    assert [(link.trace_id, link.span_id, dict(link.attributes)) for link in after.links] == [
        (before.trace_id, before.span_id, {semconv.LINK_KIND: "resumes"})
    ]
    assert semconv.PAUSED not in after.attributes
    assert moments(after) == ["pause.resume"]
    assert after.start_ns == (START_MS + 100) * NS_PER_MS, "the leg starts with its run's first event"


def test_a_result_that_arrives_in_the_next_leg_has_its_call() -> None:
    """From its end minus its duration, not before the leg; both waiting calls find their names."""
    result = play(resumed_story(), capture_content=True)
    leg = max((s for s in result if s.name == "invoke_agent teller"), key=lambda s: s.start_ns)
    tools = {s.attributes[semconv.TOOL_CALL_ID]: s for s in result if s.parent_id == leg.span_id and "tool" in s.name}
    assert sorted(tools) == ["c1", "c2"]
    assert tools["c1"].name == "execute_tool ask_human"
    assert tools["c1"].start_ns == leg.start_ns
    assert tools["c2"].start_ns == (tools["c2"].end_ns or 0) - 4 * NS_PER_MS
    assert tools["c1"].attributes[semconv.TOOL_RESULT] == "yes"
    assert tools["c1"].attributes[semconv.TOOL_ARGUMENTS] == '{"q":1}'


def test_both_legs_are_one_trajectory() -> None:
    """The fold joins them: one document, the results on the step that asked."""
    (document,) = play(resumed_story()).folded().documents
    asked = [step for step in document.trajectory["steps"] if step.get("tool_calls")]
    assert len(asked) == 1
    assert [call["tool_call_id"] for call in asked[0]["tool_calls"]] == ["c0", "c1", "c2"]
    assert [r["content"] for r in asked[0]["observation"]["results"]] == ["found", "yes", "too"]
    assert "incomplete" not in document.trajectory.get("extra", {}).get("atifold", {})


def test_a_pause_names_its_run_among_several() -> None:
    """Another run with an open tool is not paused by it."""
    other = Story("run-x").turn("other").asks().answers("", calls=1).starts("x1", "slow")
    story = paused_story()
    result = play([*other.parsed(), *story.parsed(), *other.ends("x1").turn_over().disposed().parsed()[4:]])
    paused = {span.trace_id for span in result if span.attributes.get(semconv.PAUSED)}
    agents = {span.attributes[semconv.RUN_ID]: span for span in result if span.name == "invoke_agent teller"}
    assert paused == {agents["run-1"].trace_id} != {agents["run-x"].trace_id}
    assert incomplete(agents["run-x"]) == ()


def test_a_check_in_is_decided_in_the_next_leg() -> None:
    """The decision is the leg's first sign; it stands on the call that it decides."""
    story = Story().turn().asks().answers("", calls=1).starts("c1", "wire_money", {"sum": 5})
    story.tell("checkin.request", {"toolName": "wire_money", "toolCallId": "c1", "request": {"why": "big"}})
    story.tell("pause.request", {"questionPayload": {"toolCallId": "c1"}}, run="consumer-scope").disposed()
    decision = {"toolName": "wire_money", "toolCallId": "c1", "approved": True, "by": "alice", "note": "fine"}
    story.tell("agent.run_configured", {}, run="run-2").tell("checkin.decision", decision, run="run-2")
    story.ends("c1", "sent", run="run-2").asks(2, run="run-2").answers("Sent.", 2, run="run-2").turn_over(run="run-2")
    result = play(story)
    first, second = sorted((s for s in result if s.name == "execute_tool wire_money"), key=lambda s: s.start_ns)
    assert moments(first) == ["checkin.request"]
    assert moments(second) == ["checkin.decision"]
    assert second.events[0].attributes["agentfootprint.checkin.approved"] is True
    assert "agentfootprint.checkin.by" not in second.events[0].attributes, "who decided is content"
    assert len(result.folded().documents) == 1


def test_a_long_living_emitter_keeps_nothing_of_runs_that_are_over() -> None:
    """Turns, pauses that are answered, facts that never found their call: all is forgotten."""
    stage = Stage(live=False)
    for number in range(50):
        story = resumed_story() if number % 2 else Story().turn().asks().answers("", calls=1).starts("c").ends("c")
        story.tell("permission.check", {"result": "deny", "toolCallId": "never", "target": "x"}).turn_over().disposed()
        for event in story.parsed():
            stage.bus.emit(event)
    stage.emitter.flush()
    machine = stage.emitter._machine
    kept = {name: len(value) for name, value in vars(machine).items() if hasattr(value, "__len__") and name != "counts"}
    assert {name: size for name, size in kept.items() if size} == {}


def test_pauses_that_nobody_answers_are_bounded() -> None:
    """The oldest are forgotten; the newest can still be resumed."""
    stage = Stage(live=False)
    for number in range(1500):
        story = Story(f"run-{number}").turn().asks().answers("", calls=1).starts(f"c{number}", "ask")
        story.tell("pause.request", {"questionPayload": {"toolCallId": f"c{number}"}}, run="consumer-scope")
        for event in story.parsed():
            stage.bus.emit(event)
    assert len(stage.emitter._machine.pauses) <= 1000
    for event in Story("later").ends("c1499", "yes").turn_over().parsed():
        stage.bus.emit(event)
    resumed = [span for span in stage.played() if semconv.RESUMES_TRACE in span.attributes]
    assert len(resumed) == 1


def test_an_answer_goes_to_the_conversation_that_waits_for_it() -> None:
    """Two sessions wait for calls of one id; a resumed run without a session is joined when one alone can be meant."""

    def waits(session: str | None) -> Story:
        story = Story(f"run-{session}", session=session).turn(f"prompt {session}").asks().answers("", calls=1)
        story.starts("c", "ask")
        return story.tell("pause.request", {"questionPayload": {"toolCallId": "c"}}, run="consumer-scope")

    def goes_on(session: str | None) -> Story:
        return Story(f"run-{session}-2", session=session).ends("c", f"answer {session}").turn_over().disposed()

    def joined(*stories: Story) -> dict[str, str]:
        legs = play([event for story in stories for event in story.parsed()]).records
        paused = {span.span_id: span.attributes[semconv.RUN_ID] for span in legs if semconv.RUN_ID in span.attributes}
        ties = {span.attributes[semconv.RUN_ID]: span.attributes.get(semconv.RESUMES_SPAN) for span in legs
                if semconv.RUN_ID in span.attributes}  # fmt: skip
        return {run: paused[tie] for run, tie in ties.items() if tie is not None}

    both = (waits("a"), waits("b"))
    assert joined(*both, goes_on("a"), goes_on("b")) == {"run-a-2": "run-a", "run-b-2": "run-b"}
    assert joined(*both, goes_on("b"), goes_on("a")) == {"run-a-2": "run-a", "run-b-2": "run-b"}
    assert joined(*both, goes_on(None)) == {}
    assert joined(waits("a"), goes_on(None)) == {"run-None-2": "run-a"}
    assert joined(waits(None), goes_on("a")) == {"run-a-2": "run-None"}
    assert joined(waits("a"), goes_on("b")) == {}


def composed_story() -> Story:
    """Return a sequence of a bare call and an agent that pauses, and the leg that ends both."""
    story = Story(composition=("Sequence:pipe",)).tell("composition.enter", {"kind": "Sequence", "id": "pipe"})
    story.asks(path=["step-one"]).answers("first", path=["step-one"])
    at = {"path": ["step-two"]}
    story.turn("first", **at).asks(2, **at).answers("", 2, calls=1, **at).starts("q", "ask", **at)
    story.tell("pause.request", {"questionPayload": {"toolCallId": "q"}}, run="consumer-scope")
    leg = {**at, "run": "run-2"}
    story.ends("q", "yes", **leg).asks(3, **leg).answers("Done.", 3, **leg).turn_over(**leg)
    return story.tell("composition.exit", {"kind": "Sequence", "id": "pipe", "status": "ok"}, run="run-2")


def test_a_resumed_composition_is_named_by_its_first_run_and_waits_no_more() -> None:
    """Its document would else be another file than that of the paused leg, and say that it is paused."""
    whole = play(composed_story())
    (document,) = whole.folded().documents
    waits = [span for span in whole.records if span.attributes.get(semconv.PAUSED)]
    (paused,) = fold.fold(dialects.read(waits)).documents
    assert document.name == paused.name
    assert document.name.startswith("run-1-")
    assert paused.trajectory["extra"]["atifold"]["state"] == "paused"
    assert "state" not in document.trajectory["extra"]["atifold"]


def test_of_two_calls_of_one_id_each_is_answered_in_its_own_leg() -> None:
    """Two runs without sessions wait for `c1`; how long the call took tells whose answer comes, in any order."""

    def waits(run: str, start_ms: int) -> list[Event[Any]]:
        story = Story(run, start_ms=START_MS + start_ms).turn(run).asks().answers("", calls=1).starts("c1", "ask")
        return story.tell("pause.request", {"questionPayload": {"toolCallId": "c1"}}, run="consumer-scope").parsed()

    def goes_on(run: str, started_ms: int) -> list[Event[Any]]:
        story = Story(f"{run}-2", start_ms=START_MS + 500)
        story.tell("pause.resume", {"resumeInput": {}, "pausedDurationMs": 460 - started_ms}, run="consumer-scope")
        return story.ends("c1", run, durationMs=480 - started_ms).turn_over(run).parsed()

    both = waits("a", 0) + waits("b", 7)
    for answers in (goes_on("a", 0) + goes_on("b", 7), goes_on("b", 7) + goes_on("a", 0)):
        result = play(both + answers)
        found = {
            document.trajectory["steps"][0]["message"]: document.trajectory["steps"][1]["observation"]["results"]
            for document in result.folded().documents
        }
        assert found == {run: [{"source_call_id": "c1", "content": run}] for run in "ab"}
        resumed = [span for span in result.records if semconv.RESUMES_TRACE in span.attributes]
        assert [moments(span) for span in resumed] == [["pause.resume"]] * 2


def test_a_pause_is_of_the_session_that_asks() -> None:
    """Of two open calls of one id that of the event's session waits; the other run goes on."""
    stories = [Story(f"run-{s}", session=s).turn().asks().answers("", calls=1).starts("c", "ask") for s in "ab"]
    asked = Story("consumer-scope", session="a").tell("pause.request", {"questionPayload": {"toolCallId": "c"}})
    result = play([event for story in (*stories, asked) for event in story.parsed()])
    agents = [span for span in result if semconv.RUN_ID in span.attributes]
    assert {a.attributes[semconv.RUN_ID]: semconv.PAUSED in a.attributes for a in agents} == {
        "run-a": True,
        "run-b": False,
    }
