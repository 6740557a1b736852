"""Producers one version ahead and one behind: what they add is kept, what they lack is missed by nobody."""

from __future__ import annotations

import json
from typing import Any

import conformity
import pytest
from specimens import payloads
from story import Played, Story, moments, play

from atifold import atif, semconv
from atifold.emit.places import PLACES
from atifold.events import full_name

EVENTS = sorted(row.event for row in PLACES if row.event != "risk.flagged")  # whose payload nobody published


def whole(event: str, payload: Any) -> Played:
    """Return a turn with one event in its middle, everything of which is right."""
    story = Story().turn().asks().answers("", calls=1).starts("c").tell(event, payload).ends("c").turn_over()
    result = play(story)
    assert result.counts.get("events_failed", 0) == 0
    assert conformity.check(result, content=False) == []
    for document in result.folded().documents:
        assert [finding for finding in atif.check(document.trajectory) if finding.severity == "error"] == []
    return result


# ---- ahead ---------------------------------------------------------------------------------------


def test_an_unknown_event_is_counted() -> None:
    """Of an unknown domain or of a known one; the turn around it is whole."""
    for name in ("stream.rewound", "dreams.dreamt"):
        result = whole(name, {"text": "mk-new"})
        assert result.counts["events_unmapped"] == 1
        assert "mk-new" not in str(result.exported)


@pytest.mark.parametrize("event", EVENTS)
def test_a_field_that_nobody_knows_is_content(event: str) -> None:
    """At the top and inside objects and lists: it stays in the process unless content may leave."""
    payload = _with_news(next(iter(payloads(full_name(event)))))
    result = whole(event, payload)
    assert "mk-new" not in str(result.exported)


def _with_news(value: Any) -> Any:
    """Return a value with an unknown field in each object that has several fields of its own."""
    if isinstance(value, list):
        return [_with_news(item) for item in value]
    if not isinstance(value, dict) or "some key" in value or value == {"some": ["thing"]}:
        return value
    return {**{key: _with_news(item) for key, item in value.items()}, "brandNew": "mk-new"}


@pytest.mark.parametrize("event", EVENTS)
def test_a_member_that_nobody_knows_is_survived(event: str) -> None:
    """An enumeration that grew takes no event away."""
    payload = next(iter(payloads(full_name(event))))
    whole(event, {key: "grown" if isinstance(value, str) else value for key, value in payload.items()})


def test_a_call_that_was_not_dispatched_and_one_that_was_refused_by_a_rule() -> None:
    """Neither worked, neither failed; what the refused one returned is what the model read."""
    unsent = {"pausedCall": {"toolCallId": "x", "toolName": "book"}}
    story = Story().turn().asks().answers("", calls=2)
    story.starts("c", notDispatched=unsent).ends("c", None, notDispatched=unsent)
    result = play(story.starts("d", "other").ends("d", "no", notExecuted=True).turn_over())
    assert result.named("execute_tool look_up").attributes[semconv.DISPATCH] == "not_dispatched"
    assert result.named("execute_tool other").attributes[semconv.DISPATCH] == "refused"
    assert not any(semconv.ERROR_TYPE in span.attributes for span in result)


def test_the_model_read_another_result_and_sent_other_arguments() -> None:
    """The observation is what the model read; a changed argument's value leaves nowhere, its name does."""
    story = Story().turn().asks().answers("", calls=1).starts("c", args={"card": "mk-4711", "city": "Rome"})
    story.ends("c", "mk-raw", modelResult="cut", changedArgKeys=["card"])
    result = play(story.turn_over(), capture_content=True)
    tool = result.named("execute_tool look_up")
    assert tool.attributes[semconv.TOOL_RESULT] == "cut"
    assert "Rome" in tool.attributes[semconv.TOOL_ARGUMENTS]
    assert tuple(tool.attributes["agentfootprint.stream.changed_arg_keys"]) == ("card",)
    assert "mk-" not in str(result.exported)


def test_an_answer_that_is_withheld_is_restored_from_nowhere() -> None:
    """Neither the model's text nor the turn's, not even from the history."""
    history = [{"role": "user", "content": "What now?"}, {"role": "assistant", "content": "mk-secret"}]
    story = Story().turn().asks().answers("mk-secret", contentWithheld=True)
    story.tell("agent.iteration_end", {"iterIndex": 1, "history": history})
    refused = {"turnIndex": 0, "finalContent": "mk-secret", "refused": {"by": "evidence-rails"}}
    result = play(story.tell("agent.turn_end", refused), capture_content=True)
    assert result.named("chat m-1").attributes["agentfootprint.stream.content_withheld"] is True
    assert result.named("invoke_agent teller").attributes["agentfootprint.agent.refused.by"] == "evidence-rails"
    assert semconv.OUTPUT_MESSAGES not in result.named("invoke_agent teller").attributes
    assert "mk-secret" not in str(result.exported)


NEWER: dict[str, tuple[str, dict[str, Any], str, str, Any]] = {
    # what is new: event, payload, the span that it stands on, attribute, value
    "a stated wait": ("error.retried", {"attempt": 2, "statedWaitMs": 900}, "chat m-1", "error.stated_wait_ms", 900),
    "a cache policy": (
        "agent.run_configured",
        {"agentId": "teller", "cache": {"requested": "explicit", "strategy": "none", "status": "not-applicable"}},
        "invoke_agent teller",
        "agent.cache.requested",
        "explicit",
    ),
    "a service's error": (
        "tools.code_run",
        {"serviceError": True},
        "execute_tool look_up",
        "tools.service_error",
        True,
    ),
    "who ended a program": (
        "tools.code_run",
        {"terminatedBy": "timeout"},
        "execute_tool look_up",
        "tools.terminated_by",
        "timeout",
    ),
    "another route": (
        "agent.route_decided",
        {"chosen": "negative-recheck"},
        "chat m-1",
        "agent.chosen",
        "negative-recheck",
    ),
    "a time axis": (
        "artifacts.minted",
        {"ref": "r", "timeAxis": {"column": "at", "unit": "iso"}},
        "execute_tool look_up",
        "artifacts.time_axis.unit",
        "iso",
    ),
    "a label": (
        "eval.score",
        {"metricId": "m", "value": 1, "label": "mk-good"},
        "invoke_agent teller",
        "eval.value",
        1,
    ),
    "an explanation": (
        "eval.score",
        {"metricId": "m", "value": 1, "explanation": "mk-why"},
        "invoke_agent teller",
        "eval.metric_id",
        "m",
    ),
}


@pytest.mark.parametrize("case", NEWER.values(), ids=NEWER)
def test_what_newer_producers_tell_has_its_place(case: tuple[str, dict[str, Any], str, str, Any]) -> None:
    """As an attribute, or on the event of that name; texts stay in the process."""
    event, payload, name, attribute, value = case
    first = Story().tell(event, payload).turn() if event == "agent.run_configured" else Story().turn()
    story = first.asks().answers("", calls=1).starts("c")
    if event != "agent.run_configured":
        story.tell(event, payload)
    result = play(story.ends("c").turn_over().disposed())
    span = result.named(name)
    told = [span.attributes, *(e.attributes for e in span.events)]
    assert [found[f"agentfootprint.{attribute}"] for found in told if f"agentfootprint.{attribute}" in found] == [value]
    assert "mk-" not in str(result.exported)
    assert ("mk-" in str(result.record(name))) is ("mk-" in json.dumps(payload))


def test_an_answers_limits_stand_on_the_agent() -> None:
    """How it was assessed is structure; what was checked and what was not is content."""
    more = {
        "answerCoverage": {"checked": [], "notChecked": [{"what": "mk-gap"}], "cannotCover": []},
        "answerAssessment": {"assessment": "known", "standing": "known", "reasons": []},
        "answerNegatives": {"delivery": "as-checked", "field": "mk-f", "claims": []},
        "standingLineNames": {"look_up": "mk-line"},
        "scripts": ["mk-code"],
    }
    story = Story().turn().asks().answers().turn_over()
    story.events[-1]["payload"].update(more)
    result = play(story)
    agent, record = result.named("invoke_agent teller"), result.record("invoke_agent teller")
    assert agent.attributes["agentfootprint.agent.answer_assessment.assessment"] == "known"
    assert agent.attributes["agentfootprint.agent.answer_negatives.delivery"] == "as-checked"
    assert "mk-" not in str(result.exported)
    assert all(word in str(record.attributes) for word in ("mk-gap", "mk-f", "mk-line", "mk-code"))


# ---- behind --------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS)
def test_any_field_may_be_missing(event: str) -> None:
    """Also one that every payload is promised to have."""
    payload = next(iter(payloads(full_name(event))))
    for key in payload:
        whole(event, {name: value for name, value in payload.items() if name != key})


def test_a_decision_without_its_request_is_noted() -> None:
    """The producer's 9.62 leaves the id out, though it is required."""
    decision = {"toolName": "look_up", "toolCallId": "c", "iteration": 1, "approved": True, "by": "mk-ann"}
    result = whole("checkin.decision", decision)
    assert moments(result.named("execute_tool look_up")) == ["checkin.decision"]
    assert "mk-ann" not in str(result.exported)


def test_a_denied_tool_of_an_older_producer_is_refused() -> None:
    """Its end has no flag: the check before it says so."""
    story = Story().turn().asks().answers("", calls=1)
    story.starts("c").tell("permission.check", {"toolCallId": "c", "result": "deny"}).ends("c", "No.")
    tool = play(story.turn_over()).named("execute_tool look_up")
    assert tool.attributes[semconv.DISPATCH] == "refused"
    assert semconv.ERROR_TYPE not in tool.attributes


def test_a_sibling_that_only_the_history_names_is_a_call_without_a_result() -> None:
    """An older producer brackets no call that it does not dispatch."""
    calls = [{"id": "c", "name": "look_up", "args": {}}, {"id": "d", "name": "book", "args": {"n": 1}}]
    history = [{"role": "user", "content": "What now?"}, {"role": "assistant", "content": "", "toolCalls": calls}]
    story = Story().turn().asks().answers("", calls=2).starts("c").ends("c")
    story.tell("agent.iteration_end", {"iterIndex": 1, "history": history})
    (document,) = play(story.turn_over()).folded().documents
    (step,) = [step for step in document.trajectory["steps"] if step["source"] == "agent"]
    assert [call["function_name"] for call in step["tool_calls"]] == ["look_up", "book"]
    assert [result["source_call_id"] for result in step["observation"]["results"]] == ["c"]


def test_a_memory_without_a_flavor_is_retrieved_from() -> None:
    """An older configuration does not tell recall from retrieval."""
    story = Story().tell("agent.run_configured", {"agentId": "teller", "memories": [{"id": "m"}]}).turn()
    story.tell("memory.retrieved", {"k": 1}, path=["sf-memory-read-m"])
    assert play(story.asks().answers().turn_over().disposed()).named("retrieval m")


def test_a_name_that_was_withdrawn_is_still_noted() -> None:
    """Older producers flag risks; the payload was never published, so all of it is content."""
    result = whole("risk.flagged", {"severity": "mk-high"})
    assert moments(result.named("invoke_agent teller")) == ["risk.flagged"]
    assert "mk-high" not in str(result.exported)
