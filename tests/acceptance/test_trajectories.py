"""What agents' events say stands in the documents: prompts, tools, lookups, scores, refusals, attempts, compaction."""

from __future__ import annotations

import json
from typing import Any

import pytest
from story import Story, play

from atifold import atif, dialects, fold

Json = dict[str, Any]


def document(story: Story) -> Json:
    """Return the one document of a story, equal from whole records and from spans with content, and valid."""
    played = play(story, capture_content=True)
    (made,) = played.folded().documents
    (again,) = fold.fold(dialects.read(played.exported)).documents
    assert atif.dumps(made.trajectory) == atif.dumps(again.trajectory)
    assert [finding for finding in atif.check(made.trajectory) if finding.severity == "error"] == []
    return made.trajectory


def agent_steps(doc: Json) -> list[Json]:
    """Return the steps of the agent."""
    return [step for step in doc["steps"] if step["source"] == "agent"]


def requested(story: Story, number: int, messages: list[Json], **more: Any) -> Story:
    """Start an inference with its messages."""
    story.asks(number)
    story.events[-1]["payload"].update({"atifold.messages": messages, **more})
    return story


def user(text: str) -> Json:
    """Return a user's message."""
    return {"role": "user", "content": text}


def said(text: str) -> Json:
    """Return a message of the model."""
    return {"role": "assistant", "content": text}


# ---- prompts, tools, reasoning -------------------------------------------------------------------


def test_the_system_prompt_is_a_step_and_the_tools_are_the_agents() -> None:
    """As the model was told them, before the user's message."""
    tools = [{"name": "look_up", "description": "Finds things.", "parameters": {"type": "object"}}]
    story = Story().turn("What now?").asks()
    story.events[-1]["payload"].update({"systemPromptText": "Be brief.", "atifold.toolDefinitions": tools})
    doc = document(story.answers("Done.").turn_over())
    assert [(step["source"], step["message"]) for step in doc["steps"]] == [
        ("system", "Be brief."),
        ("user", "What now?"),
        ("agent", "Done."),
    ]
    assert doc["agent"]["tool_definitions"] == [{"type": "function", "function": tools[0]}]


def test_reasoning_stands_on_its_step() -> None:
    """It comes after the answer."""
    story = Story().turn().asks().answers("18C.").tell("stream.thinking_end", {"blocks": [{"content": "Warm."}]})
    (step,) = agent_steps(document(story.turn_over()))
    assert (step["message"], step["reasoning_content"]) == ("18C.", "Warm.")


# ---- lookups -------------------------------------------------------------------------------------


def test_lookups_stand_on_the_step_they_precede() -> None:
    """What was looked for, how much of it was found, the threshold, what went into the prompt."""
    memories = [{"id": "m", "flavor": "memory"}, {"id": "d", "flavor": "rag"}]
    story = (
        Story().tell("agent.run_configured", {"agentId": "teller", "memories": memories}).turn().asks(1).answers("", 1)
    )
    for source in "md":
        where = {"path": [f"sf-memory-read-{source}"]}
        figures = {"k": 2, "threshold": 0.5, "consideredCount": 7, "admittedCount": 1, "rejectedCount": 6}
        candidates = [{"id": f"{source}1", "score": 0.9, "rank": 1, "admitted": True, "heading": "Tea"}]
        story.tell("memory.retrieved", {**figures, "candidates": candidates}, **where)
        story.tell("memory.attached", {"memoryId": f"{source}1", "score": 0.9, "contentSummary": "Likes tea."}, **where)
    first, second = agent_steps(document(story.asks(2).answers("Tea!", 2).turn_over().disposed()))
    assert not {"retrieval", "memory"} & first["extra"].keys()
    (retrieval,), (memory,) = second["extra"]["retrieval"], second["extra"]["memory"]
    wanted = {"top_k": 2, "threshold": 0.5, "considered": 7, "admitted": 1, "rejected": 6}
    for lookup, source in ((retrieval, "d"), (memory, "m")):
        assert {**lookup, **wanted, "source": source} == lookup
        assert lookup["attached"] == [{"memory_id": f"{source}1", "score": 0.9, "content_summary": "Likes tea."}]
        assert lookup["documents"][0]["heading"] == "Tea"
    assert memory["records"] == [{"content": "Likes tea.", "id": "m1", "score": 0.9}]
    assert memory["count"] == 1


def test_what_is_written_last_stands_on_the_document() -> None:
    """No step comes after it."""
    written = {"memoryId": "m-1", "contentSummary": "Likes tea.", "source": "auto"}
    doc = document(Story().turn().asks().answers("Ok.").tell("memory.written", written).turn_over())
    assert "memory" not in agent_steps(doc)[0]["extra"]
    (memory,) = doc["extra"]["memory"]
    assert (memory["operation"], memory["record"]) == ("upsert_memory", "m-1")
    assert memory["records"] == [{"content": "Likes tea.", "id": "m-1"}]


# ---- scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["run-1", "c"])
def test_a_score_stands_on_what_it_scores(target: str) -> None:
    """A run's on the document, a call's on the call."""
    score = {"metricId": "faithful", "value": 0.8, "threshold": 0.5, "targetRef": target, "explanation": "Cites."}
    story = Story().turn().asks().answers("", calls=1).starts("c").tell("eval.score", score, run="consumer-scope")
    doc = document(story.ends("c").turn_over())
    (step,) = agent_steps(doc)
    found = doc["extra"] if target == "run-1" else step["tool_calls"][0]["extra"]
    (told,) = found["scores"]
    assert (told["metric_id"], told["value"], told["explanation"]) == ("faithful", 0.8, "Cites.")
    assert json.dumps(doc).count('"scores"') == 1


# ---- calls that did not run ----------------------------------------------------------------------


def test_a_refused_call_neither_worked_nor_failed() -> None:
    """The model reads the refusal; the call says that it was refused."""
    story = Story().turn().asks().answers("", calls=1).starts("c")
    story.tell("permission.check", {"toolCallId": "c", "capability": "tool_call", "result": "deny"})
    (step,) = agent_steps(document(story.ends("c", "Not allowed.").turn_over()))
    (call,), (result,) = step["tool_calls"], step["observation"]["results"]
    assert call["extra"]["atifold"] == {"dispatch": "refused"}
    assert result["content"] == "Not allowed."
    assert "error_type" not in json.dumps(step)


UNSENT = {"pausedCall": {"toolCallId": "b", "toolName": "book"}}


def test_a_call_that_was_not_dispatched_says_so() -> None:
    """A sibling of it paused the run."""
    story = Story().turn().asks().answers("", calls=1).starts("c", notDispatched=UNSENT)
    story.ends("c", None, notDispatched=UNSENT)
    (step,) = agent_steps(document(story.turn_over()))
    assert step["tool_calls"][0]["extra"]["atifold"] == {"dispatch": "not_dispatched"}
    assert "error_type" not in json.dumps(step)


def test_a_skill_and_an_exit_code_stand_on_their_calls() -> None:
    """Under the conventions' names; the call keeps the tool's own name."""
    story = Story().turn().asks().answers("", calls=2)
    story.starts("c", "read_skill", {"id": "billing"}).ends("c", "Bill thus.")
    story.tell("skill.activated", {"skillId": "billing", "reason": "read_skill_result"})
    story.starts("d", "run_code").tell("tools.code_run", {"tool": "run_code", "exitCode": 2}).ends("d", "no")
    played = play(story.turn_over())
    (made,) = played.folded().documents
    (step,) = agent_steps(made.trajectory)
    skill, command = step["tool_calls"]
    assert (skill["function_name"], skill["extra"]["gen_ai.skill.name"]) == ("read_skill", "billing")
    assert (command["function_name"], command["extra"]["process.exit.code"]) == ("run_code", 2)
    assert "unknown_keys" not in played.folded().report


# ---- attempts ------------------------------------------------------------------------------------


def test_failed_attempts_and_who_served_stand_on_the_step() -> None:
    """Number, kind of error, and the provider and model that answered in the end."""
    where = {"stage": "call-llm#1"}
    story = Story().turn().asks(provider="openai|backup")
    story.tell("error.retried", {"attempt": 2, "reason": "http-5xx", "lastError": "503"}, **where)
    other = {"attempt": 3, "action": "retry-other", "errorKind": "overloaded", "fromProvider": "openai"}
    story.tell("reliability.retried", {**other, "toProvider": "backup"}, **where)
    story.tell("reliability.recovered", {"attempt": 3, "recoveredVia": "retry-other", "priorFailures": 2}, **where)
    (step,) = agent_steps(document(story.answers("ok").turn_over()))
    first, second = step["extra"]["attempts"]
    assert (first["attempt"], first["reason"], first["last_error"]) == (2, "http-5xx", "503")
    assert (second["attempt"], second["error_kind"], second["to_provider"]) == (3, "overloaded", "backup")
    served = {"provider": "backup", "model": "m-1", "attempt": 3, "recovered_via": "retry-other"}
    assert step["extra"]["served_by"] == served


def test_a_fallback_provider_served() -> None:
    """Also where no retry was told."""
    story = Story().turn().asks().tell("fallback.triggered", {"kind": "provider", "primary": "a", "fallback": "b"})
    (step,) = agent_steps(document(story.answers("ok").turn_over()))
    assert step["extra"]["served_by"] == {"provider": "b", "model": "m-1"}
    assert "attempts" not in step["extra"]


# ---- compaction ----------------------------------------------------------------------------------

PRESSURE = {"slot": "messages", "planAction": "summarize", "overflowBy": 9, "unit": "tokens", "cap": 10}


def shortened(messages: list[Json]) -> Json:
    """Return the document of a turn whose second request has these messages after its history was summarised."""
    story = requested(Story().turn("one"), 1, [user("one")]).answers("first", 1)
    story.tell("context.budget_pressure", PRESSURE)
    return document(requested(story, 2, messages).answers("second", 2).turn_over())


def boundary(doc: Json) -> Json:
    """Return the one context management step."""
    (step,) = [step for step in doc["steps"] if "context_management" in step.get("extra", {})]
    assert step["source"] == "system"
    return step


def test_a_summary_replaces_the_history() -> None:
    """The later context is what the step shows and the steps after it: summary, what was kept, what is new."""
    doc = shortened([user("Summary: one was asked."), said("first"), user("two")])
    step = boundary(doc)
    assert step["extra"]["context_management"] == {"type": "compaction", "boundary": "replace"}
    told = [(result["content"], result.get("extra", {}).get("role")) for result in step["observation"]["results"]]
    assert told == [("Summary: one was asked.", None), ("first", "assistant")]
    after = doc["steps"][step["step_id"] :]
    assert [(s["source"], s["message"]) for s in after] == [("user", "two"), ("agent", "second")]


@pytest.mark.parametrize("messages", [[user("two")], [user("one"), user("two")]], ids=["all gone", "some gone"])
def test_a_history_without_a_summary_was_pruned(messages: list[Json]) -> None:
    """What went is not told, so no step replaces anything."""
    doc = shortened(messages)
    step = boundary(doc)
    assert step["extra"]["context_management"] == {"type": "pruning", "boundary": "truncate"}
    assert "observation" not in step
    assert [s["message"] for s in doc["steps"] if s["source"] != "system"] == ["one", "first", "two", "second"]


def test_a_summary_beside_the_instructions_is_one_too() -> None:
    """Some put it among the system messages."""
    story = Story().turn("one")
    rules = {"role": "system", "content": "Be brief."}
    requested(story, 1, [rules, user("one")]).answers("first", 1).tell("context.budget_pressure", PRESSURE)
    summary = {"role": "system", "content": "So far: one."}
    doc = document(requested(story, 2, [rules, summary, user("two")]).answers("second", 2).turn_over())
    assert boundary(doc)["observation"]["results"][0] == {"content": "So far: one."}
    assert [s["message"] for s in doc["steps"]] == ["Be brief.", "one", "first", "", "two", "second"]


def test_the_report_says_that_a_compaction_is_inferred() -> None:
    """One line, whatever was concluded."""
    story = requested(Story().turn("one"), 1, [user("one")]).answers("first", 1)
    story.tell("context.budget_pressure", PRESSURE)
    played = play(requested(story, 2, [user("two")]).answers("second", 2).turn_over())
    (made,) = played.folded().documents
    assert any("shortened" in line for line in made.report["inferred"])
