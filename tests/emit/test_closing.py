"""Every path closes: failures, halts, cuts, interleaved runs, time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from story import Played, Stage, Story, play

from atifold import semconv
from atifold.spans import Span, Status

NS_PER_MS = 1_000_000


def incomplete(span: Span) -> tuple[str, ...]:
    """Return why a span is not whole."""
    return tuple(span.attributes.get(semconv.INCOMPLETE, ()))


@pytest.mark.parametrize(
    ("name", "payload", "error_type"),
    [
        ("error.fatal", {"error": "It broke.", "stage": "x", "scope": "run"}, "_OTHER"),
        ("reliability.fail_fast", {"errorMessage": "429", "errorKind": "rate_limit", "reason": "r"}, "rate_limit"),
        ("permission.halt", {"reason": "no", "target": "t"}, "permission_halt"),
    ],
)
@pytest.mark.parametrize("inside", ["chat", "tool", "nothing"])
def test_an_end_of_all_fails_what_is_open(name: str, payload: dict[str, Any], error_type: str, inside: str) -> None:
    """No other end event follows: what was open ends failed at that time, what had ended stays right."""
    story = Story().turn().asks(1)
    if inside != "chat":
        story.answers("", calls=1).starts("c1", "done").ends("c1")
    if inside == "tool":
        story.starts("c2", "open")
    last_ns = story.now_ms * NS_PER_MS
    result = play(story.tell(name, payload).disposed())
    open_span = {"chat": "chat m-1", "tool": "execute_tool open"}.get(inside)
    for span in result:
        failed = span.name in ("invoke_agent teller", open_span)
        assert (span.status is Status.ERROR) is failed, span.name
        assert (span.attributes.get(semconv.ERROR_TYPE) == error_type) is failed
        assert (span.end_ns == last_ns) is failed
        assert span.status_message == ""
        assert incomplete(span) == ()


def test_an_envelope_may_name_a_remote_parent() -> None:
    """Both ids valid: the agent is that span's child; else it is a root."""
    ids = {"traceId": "ab" * 16, "spanId": "cd" * 8}
    agent = play(Story().turn(**ids).turn_over()).named("invoke_agent teller")
    assert (agent.trace_id, agent.parent_id) == (ids["traceId"], ids["spanId"])
    for wrong in (
        {"traceId": "ab" * 16},
        {**ids, "spanId": "0" * 16},
        {**ids, "traceId": "xyz"},
        {**ids, "spanId": "-1"},
    ):
        assert play(Story().turn(**wrong).turn_over()).named("invoke_agent teller").parent_id is None


def test_an_agent_whose_head_was_cut_is_opened_and_says_so() -> None:
    """The calls are kept; names come from the envelope and from history, else they are unknown."""
    history = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "", "toolCalls": [{"id": "h", "name": "named", "args": {"a": 1}}]},
    ]
    story = Story().tell("agent.iteration_end", {"history": history}).ends("h").ends("lost", durationMs=5)
    result = play(story.answers("late", 4).turn_over().disposed(), capture_content=True)
    agent = result.named("invoke_agent teller")
    assert incomplete(agent)
    assert result.named("execute_tool named").attributes[semconv.TOOL_ARGUMENTS] == '{"a":1}'
    unknown = result.named("execute_tool unknown")
    assert unknown.end_ns == unknown.start_ns + 5 * NS_PER_MS
    assert incomplete(unknown)
    assert result.named("chat").attributes[semconv.PROVIDER] == "unknown"
    assert {span.parent_id for span in result if span is not agent} == {agent.span_id}


def test_a_cut_tool_is_named_by_the_history_that_follows_it() -> None:
    """An iteration tells of its calls when it ends: after the results, before the spans are sealed."""
    asked = {"role": "assistant", "content": "", "toolCalls": [{"id": "c", "name": "named", "args": {"a": 1}}]}
    story = Story().ends("c", "r").ends("lost").tell("agent.iteration_end", {"iterIndex": 1, "history": [asked]})
    result = play(story.turn_over().disposed(), capture_content=True)
    tool = result.named("execute_tool named")
    assert tool.attributes[semconv.TOOL_NAME] == "named"
    assert tool.attributes[semconv.TOOL_ARGUMENTS] == '{"a":1}'
    assert incomplete(tool)
    assert result.named("execute_tool unknown").attributes[semconv.TOOL_CALL_ID] == "lost"


def test_interleaved_runs_keep_to_themselves() -> None:
    """Two runs on one bus with the same stages, ids and prompts, event by event in turn."""
    one, two = (Story(run).turn().asks().answers("", calls=1).starts("c").ends("c", run).turn_over().disposed()
                for run in ("run-1", "run-2"))  # fmt: skip
    result = play([event for pair in zip(one.parsed(), two.parsed(), strict=True) for event in pair])
    assert len({span.trace_id for span in result}) == 2
    agents = {span.span_id: span.attributes[semconv.RUN_ID] for span in result if span.name == "invoke_agent teller"}
    for span in result.records:
        if span.name == "execute_tool look_up":
            assert span.attributes[semconv.TOOL_RESULT] == agents[span.parent_id or ""]


def test_a_session_is_raw_or_hashed_and_never_invented() -> None:
    """Without a session no span has a conversation id."""
    story = Story(session="alice@example.com").turn().asks().answers().turn_over()
    raw, hashed = play(story), play(story, session_id="hashed")
    assert {span.attributes[semconv.CONVERSATION] for span in raw} == {"alice@example.com"}
    (digest,) = {span.attributes[semconv.CONVERSATION] for span in hashed}
    assert len(digest) == 64
    assert not any("alice" in str(span.attributes) for span in hashed)
    assert not any(
        semconv.CONVERSATION in span.attributes for span in play(Story().turn().asks().answers().turn_over())
    )


def test_a_flush_closes_what_is_open_and_says_so() -> None:
    """Nothing is lost at the exit; what is whole is not called unfinished."""
    result = play(Story().turn().asks().answers("", calls=1).starts("c"))
    assert incomplete(result.named("invoke_agent teller"))
    assert incomplete(result.named("execute_tool look_up"))
    assert incomplete(result.named("chat m-1")) == ()
    whole = play(Story().turn().asks().answers().turn_over())
    assert [span.name for span in whole if incomplete(span)] == []


def wait_for(stage: Stage, count: int) -> list[Span]:
    """Return the exported spans once there are enough of them, or after 5 s what there is."""
    deadline = time.monotonic() + 5
    while len(stage.exported()) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return stage.exported()


def test_a_turn_without_a_last_word_is_sealed_after_the_grace() -> None:
    """Live, an agent whose producer emits no disposition is exported without a flush, and is whole."""
    stage = Stage(grace_s=0.05)
    for event in Story(start_ms=int(time.time() * 1000)).configured().turn().asks().answers().turn_over().parsed():
        stage.bus.emit(event)
    spans = wait_for(stage, 2)
    assert [span.name for span in spans] == ["chat m-1", "invoke_agent teller"]
    assert [incomplete(span) for span in spans] == [(), ()]


def test_an_open_turn_is_not_swept() -> None:
    """The grace is for what has ended: a tool that takes long is waited for."""
    stage = Stage(grace_s=0.02)
    story = Story(start_ms=int(time.time() * 1000)).turn().asks().answers("", calls=1).starts("c")
    for event in Story("other", start_ms=story.now_ms).configured().turn().turn_over().parsed() + story.parsed():
        stage.bus.emit(event)
    wait_for(stage, 1)
    time.sleep(0.1)
    assert [s.name for s in stage.exported() if s.attributes.get(semconv.RUN_ID) == "run-1"] == []
    assert stage.played().named("execute_tool look_up")


def test_a_tool_outside_of_any_agent_is_waited_for() -> None:
    """Bare calls are sealed when all of them have ended, not while a tool runs."""
    stage = Stage(grace_s=0.02)
    story = Story(composition=[], start_ms=int(time.time() * 1000)).asks().answers("", calls=1).starts("c")
    for event in story.parsed():
        stage.bus.emit(event)
    time.sleep(0.15)
    for event in story.ends("c").parsed()[-1:]:
        stage.bus.emit(event)
    tool = stage.played().named("execute_tool look_up")
    assert incomplete(tool) == ()


def test_nothing_that_a_handler_stumbles_over_reaches_the_program(caplog: pytest.LogCaptureFixture) -> None:
    """Odd payloads are survived; the run's other events are written."""
    story = Story().turn()
    story.tell(
        "stream.llm_start", {"atifold.messages": [{"role": "user", "tool_calls": "none"}, {"parts": 5}], "model": "m"}
    )
    story.tell("stream.llm_end", {"atifold.toolCalls": ["x", {"id": None, "function": "f"}], "content": "ok"})
    story.tell("agent.iteration_end", {"history": ["x", {"role": 3, "toolCalls": [7]}, None]})
    story.tell("context.injected", {"slot": "messages", "position": 10**9, "rawContent": "far"})
    result = play(story.turn_over(), capture_content=True)
    assert result.named("chat m")
    assert result.counts.get("events_failed", 0) == 0, caplog.text


def each_once(result: Played) -> bool:
    """Tell whether each record was told once and exported once."""
    keys = [span.key for span in result.records]
    return len(keys) == len(set(keys)) and sorted(keys) == sorted(span.key for span in result.exported)


def test_a_turn_that_starts_before_the_last_one_ended_abandons_it() -> None:
    """The same run id twice: the first is closed as never ended."""
    result = play(Story().turn("one").asks().turn("two").asks(2).answers("x", 2).turn_over().disposed())
    agents = [span for span in result if span.name == "invoke_agent teller"]
    assert [bool(incomplete(span)) for span in agents] == [True, False]
    assert each_once(result)


def test_times_that_run_back_give_no_span_that_ends_before_it_starts() -> None:
    """Clocks go back, and durations are negative, endless or no number: a span is then an instant."""
    for duration in (-5, float("inf"), float("nan"), 10**18):
        story = Story().turn().asks().answers("", calls=1).starts("c")
        story.now_ms -= 1000
        story.ends("c").answers("cut", 7, durationMs=duration).ends("lost", durationMs=duration)
        story.tell("embedding.generated", {"model": "e", "durationMs": duration}).turn_over().disposed()
        result = play(story)
        assert result.counts.get("events_failed", 0) == 0
        assert [span.name for span in result if span.start_ns > (span.end_ns or 0)] == []
