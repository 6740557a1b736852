"""Inferences and tool calls carry what came after, around and instead of them."""

from __future__ import annotations

from typing import Any

import pytest
from story import Story, moments, play

from atifold import semconv
from atifold.spans import Status


def test_retries_are_events_on_the_one_inference() -> None:
    """Attempts, the recovery and who served in the end stand on the chat span, which is no error."""
    story = Story().turn().asks(provider="openai+retry")
    where = {"stage": "call-llm#1"}
    for attempt in (2, 3):
        retried = {"attempt": attempt, "maxAttempts": 3, "reason": "503", "backoffMs": 5, "lastError": "503: secret"}
        story.tell("error.retried", retried, **where)
    story.tell("fallback.triggered", {"kind": "provider", "primary": "openai", "fallback": "backup"}, **where)
    story.tell("error.recovered", {"attempt": 3}, **where)
    result = play(story.answers("ok").turn_over().disposed())
    chat = result.named("chat m-1")
    assert moments(chat) == ["error.retried", "error.retried", "fallback.triggered", "error.recovered"]
    assert chat.status is Status.UNSET
    assert chat.attributes[semconv.PROVIDER] == "openai"
    assert chat.attributes["agentfootprint.stream.provider"] == "openai+retry"
    assert chat.events[2].attributes["agentfootprint.fallback.fallback"] == "backup"
    assert not any("secret" in str(event.attributes) for event in chat.events)
    assert any("secret" in str(event.attributes) for event in result.record("chat m-1").events)


def test_cost_comes_after_the_end_and_finds_its_inference() -> None:
    """By its stage; one without such an inference is the agent's spend, never the last chat's."""
    tick = {"scope": "iteration", "estimatedUsd": 0.5, "cumulative": {"estimatedUsd": 0.75}}
    story = Story().turn().asks(1).answers("", 1).tell("cost.tick", tick, stage="call-llm#1")
    story.tell("cost.tick", {**tick, "estimatedUsd": 0.25}, stage="summarise#8")
    story.asks(2).answers("Done.", 2).turn_over().disposed()
    result = play(story)
    chats = [span.attributes.get(semconv.COST_USD) for span in result if span.name == "chat m-1"]
    assert chats == [0.5, None]
    agent = result.named("invoke_agent teller")
    assert agent.attributes["agentfootprint.cost.other_usd"] == 0.25
    assert agent.attributes[semconv.COST_CUMULATIVE] == 0.75


def test_a_budget_that_is_hit_is_no_invented_call() -> None:
    """The stop stands on the agent; the call that was never named stays unnamed."""
    story = Story().turn().asks().answers("more", calls=1)
    story.tell("cost.limit_hit", {"kind": "max_cost", "limit": 0.008, "actual": 0.0126, "action": "abort"})
    result = play(story.turn_over("more").disposed())
    assert [span.name for span in result] == ["chat m-1", "invoke_agent teller"]
    assert "cost.limit_hit" in moments(result.named("invoke_agent teller"))


def test_thinking_comes_from_a_stage_of_its_own() -> None:
    """It follows the end of its inference and stands in that answer, before the text."""
    story = Story().turn().asks().answers("18C.")
    story.tell("stream.thinking_end", {"blocks": [{"type": "thinking", "content": "hm", "signature": "s"}]},
               stage="thinking#3")  # fmt: skip
    chat = play(story.turn_over(), capture_content=True).named("chat m-1")
    assert chat.attributes[semconv.OUTPUT_MESSAGES] == (
        '[{"role":"assistant","parts":[{"type":"reasoning","content":"hm","signature":"s"},'
        '{"type":"text","content":"18C."}],"finish_reason":"stop"}]'
    )


def test_a_denied_tool_is_refused_and_not_failed() -> None:
    """Whether the check comes inside the bracket, before it by id, or without an id."""
    denied = {"capability": "tool_call", "target": "rm", "result": "deny", "rationale": "no"}
    inside = Story().turn().asks().answers("", calls=1).starts("c", "rm")
    inside.tell("permission.check", denied).ends("c", "Denied.")
    before = Story().turn().asks().answers("", calls=1).tell("permission.check", {**denied, "toolCallId": "c"})
    before.starts("c", "rm").ends("c", "Denied.")
    named = Story().turn().asks().answers("", calls=1).starts("c", "rm")
    named.tell("permission.check", {**denied, "toolCallId": "c"}).ends("c", "Denied.")
    for story in (inside, before, named):
        tool = play(story.turn_over()).named("execute_tool rm")
        assert tool.attributes[semconv.DISPATCH] == "refused"
        assert tool.status is Status.UNSET
        assert moments(tool) == ["permission.check"]


def test_a_denial_of_a_call_that_has_not_started_refuses_no_other() -> None:
    """A tool that happens to be open is not the one that was denied."""
    story = Story().turn().asks().answers("", calls=2).starts("a", "fine")
    story.tell("permission.check", {"target": "rm", "result": "deny", "toolCallId": "b"})
    result = play(story.ends("a").starts("b", "rm").ends("b", "Denied.").turn_over())
    assert semconv.DISPATCH not in result.named("execute_tool fine").attributes
    assert result.named("execute_tool rm").attributes[semconv.DISPATCH] == "refused"


def test_an_allowed_tool_is_a_tool_like_any_other() -> None:
    """The check is noted, nothing else changes."""
    story = Story().turn().asks().answers("", calls=1).starts("c", "ls")
    tool = play(story.tell("permission.check", {"target": "ls", "result": "allow"}).ends("c").turn_over()).named(
        "execute_tool ls"
    )
    assert semconv.DISPATCH not in tool.attributes
    assert moments(tool) == ["permission.check"]


@pytest.mark.parametrize(
    ("at", "payload", "dispatch"),
    [
        ("both", {"notDispatched": {"pausedCall": {"toolCallId": "c0"}}}, "not_dispatched"),
        ("end", {"notExecuted": True}, "refused"),
    ],
)
def test_a_call_that_never_ran_says_so(at: str, payload: dict[str, Any], dispatch: str) -> None:
    """An undispatched or refused bracket is no failure, on the span and in the trajectory."""
    story = Story().turn().asks().answers("", calls=1)
    story.starts("c", "t", **(payload if at == "both" else {})).ends("c", "kept back", **payload)
    result = play(story.turn_over())
    tool = result.named("execute_tool t")
    assert (tool.attributes[semconv.DISPATCH], tool.status) == (dispatch, Status.UNSET)
    (document,) = result.folded().documents
    assert f'"dispatch": "{dispatch}"' in str(document.trajectory).replace("'", '"')


def test_changed_arguments_are_on_no_span() -> None:
    """Their keys are named; their proposed values stay in the trajectory alone."""
    story = Story().turn().asks().answers("", calls=1).starts("c", "t", {"user": "mk-proposed", "n": 1})
    story.ends("c", changedArgKeys=["user"])
    history = [
        {"role": "user", "content": "What now?"},
        {
            "role": "assistant",
            "content": "",
            "toolCalls": [{"id": "c", "name": "t", "args": {"user": "mk-proposed", "n": 1}}],
        },
        {"role": "tool", "content": "found", "toolCallId": "c", "toolName": "t"},
    ]
    story.tell("agent.iteration_end", {"history": history}).asks(2).answers("Done.", 2).turn_over()
    result = play(story, capture_content=True)
    tool = result.named("execute_tool t")
    assert tool.attributes["agentfootprint.stream.changed_arg_keys"] == ["user"]
    assert tool.attributes[semconv.TOOL_ARGUMENTS] == '{"n":1}'
    assert [span.name for span in result if "mk-proposed" in str(span)] == []
    (document,) = result.folded().documents
    assert "mk-proposed" in str(document.trajectory)


def test_the_models_own_view_of_a_result_is_the_observation() -> None:
    """With `modelResult` only that leaves, also when it is null."""
    for seen in ("short", None):
        story = Story().turn().asks().answers("", calls=1).starts("c", "t").ends("c", "mk-long", modelResult=seen)
        result = play(story.turn_over(), capture_content=True)
        assert result.named("execute_tool t").attributes[semconv.TOOL_RESULT] == ("short" if seen else "null")
        assert not any("mk-long" in str(span) for span in result.records)


def test_withheld_content_stays_withheld() -> None:
    """A history that has the text does not give it back; a refused turn has no output message."""
    story = Story().turn().asks().answers("", contentWithheld=True)
    history = [{"role": "user", "content": "What now?"}, {"role": "assistant", "content": "mk-held"}]
    story.tell("agent.iteration_end", {"history": history}).turn_over("mk-held", refused={"by": "rule"})
    story.events[-1]["payload"]["refused"] = {"by": "rule"}
    result = play(story, capture_content=True)
    assert result.named("chat m-1").attributes["agentfootprint.stream.content_withheld"] is True
    assert not any("mk-held" in str(span) for span in result.records)


def test_inferences_with_stages_of_their_own_may_overlap() -> None:
    """Each ends by its own stage, in any order, and a tool is of the one that has answered."""
    story = Story().turn().asks(1).asks(2).answers("one", 1, calls=1).starts("c").answers("two", 2).ends("c")
    result = play(story.turn_over())
    chats = [span for span in result.records if span.name == "chat m-1"]
    assert ["never ended" in str(span.attributes.get(semconv.INCOMPLETE)) for span in chats] == [False, False]
    asking = [
        chat.attributes["agentfootprint.stream.iteration"]
        for chat in chats
        if '"id":"c"' in chat.attributes[semconv.OUTPUT_MESSAGES]
    ]
    assert asking == [1]
    assert len(list(result)) == 4


@pytest.mark.parametrize("stage", ["", "call-llm#1"])
def test_an_inference_that_starts_again_never_ended(stage: str) -> None:
    """On its own stage, or where no stage is told, the second start abandons the first one."""
    start = {"iteration": 1, "provider": "mock", "model": "m-1"}
    story = Story().turn().tell("stream.llm_start", start, stage=stage).tell("stream.llm_start", start, stage=stage)
    story.tell("stream.llm_end", {"iteration": 1, "content": "ok"}, stage=stage).turn_over()
    chats = [span for span in play(story) if span.name == "chat m-1"]
    assert [tuple(chat.attributes.get(semconv.INCOMPLETE, ())) for chat in chats] == [("never ended",), ()]


def test_an_inference_whose_iteration_has_ended_never_ended() -> None:
    """One of a later iteration goes on."""
    story = Story().turn().asks(1).asks(2).tell("agent.iteration_end", {"turnIndex": 0, "iterIndex": 1})
    chats = {
        span.attributes["agentfootprint.stream.iteration"]: span
        for span in play(story.answers("two", 2).turn_over())
        if span.name == "chat m-1"
    }
    assert tuple(chats[1].attributes[semconv.INCOMPLETE]) == ("never ended",)
    assert semconv.INCOMPLETE not in chats[2].attributes


def test_an_id_that_repeats_at_the_same_stage_is_ended_newest_first() -> None:
    """Two starts and two ends are two spans."""
    story = Story().turn().asks().answers("", calls=2).starts("c").starts("c").ends("c").ends("c")
    tools = [span for span in play(story.turn_over()) if span.name.startswith("execute_tool")]
    assert [semconv.INCOMPLETE in tool.attributes for tool in tools] == [False, False]


def windowed_story(*, held: int = 0) -> Story:
    """Return a turn whose requests show the prompt and the last round alone; its histories tell of all rounds."""
    story, history = Story().turn("q"), [{"role": "user", "content": "q"}]
    for number in range(1, 5):
        count = min(len(history), 3)
        story.tell(
            "stream.llm_start",
            {"iteration": number, "provider": "mock", "model": "m-1", "messagesCount": count},
            stage=f"call-llm#{number}",
        )
        kept = {"contentWithheld": True} if number == held else {}
        story.answers("" if kept else f"s{number}", number, calls=2, **kept)
        story.starts(f"c{number}", args={"i": number}).ends(f"c{number}", f"r{number}")
        calls = [{"id": f"{letter}{number}", "name": "look_up", "args": {"i": number}} for letter in "cd"]
        history += [
            {"role": "assistant", "content": f"s{number}", "toolCalls": calls},
            {"role": "tool", "content": f"r{number}", "toolCallId": f"c{number}", "toolName": "look_up"},
        ]
        story.tell("agent.iteration_end", {"iterIndex": number, "history": list(history)})
    return story


def test_a_request_that_shows_a_part_of_the_history_has_its_own_calls() -> None:
    """What an iteration adds follows the last history, not the messages of its request."""
    (document,) = play(windowed_story().turn_over("").disposed()).folded().documents
    asked = [[call["tool_call_id"] for call in step.get("tool_calls", ())] for step in document.trajectory["steps"]]
    assert [calls for calls in asked if calls] == [[f"c{number}", f"d{number}"] for number in range(1, 5)]


def test_an_answer_that_was_kept_back_stays_so_where_requests_show_a_part_of_the_history() -> None:
    """Its place in histories is behind the last one, and a later request may show it."""
    result = play(windowed_story(held=3).asks(5).answers("Done.", 5).turn_over().disposed(), capture_content=True)
    assert not any("s3" in str(span.attributes) for span in (*result, *result.records))
