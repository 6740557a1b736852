"""Conversations that begin alike and take turns in one run: each answer is told once."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

ROUNDS = 4


def _told(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (step["source"], step["message"])
        for step in document["steps"]
        if step["source"] == "agent" and not step.get("is_copied_context")
    ]


@pytest.mark.parametrize("names", ["ab", "abc"])
@pytest.mark.parametrize("same_answers", [False, True])
def test_conversations_of_one_first_message_that_alternate_repeat_no_answer(
    trace: Any, names: str, *, same_answers: bool
) -> None:
    """One agent's calls; `same_answers`: each second answer is the same in all of them."""
    agent = trace.agent("desk", 0, 1000)
    history = {name: [trace.user("Help me.")] for name in names}
    answers = []
    for at, (turn, name) in enumerate(itertools.product(range(ROUNDS), names)):
        answer = "Done." if same_answers and turn % 2 else f"answer {name}{turn}"
        answers.append(("agent", answer))
        trace.model(10 * at + 1, 10 * at + 5, list(history[name]), trace.said(answer), parent=agent)
        history[name] += [trace.said(answer), trace.user(f"more {name}{turn}")]
    document = trace.one()
    assert _told(document) == answers
    assert not any(step.get("is_copied_context") for step in document["steps"])
    asked = [step["message"] for step in document["steps"] if step["source"] == "user"]
    assert asked == ["Help me.", *(f"more {name}{turn}" for turn in range(ROUNDS - 1) for name in names)]


def test_a_conversation_that_was_begun_anew_is_one_of_its_own(trace: Any) -> None:
    """The second attempt goes on, then the first one does: nothing is told twice."""
    agent = trace.agent("desk", 0, 1000)
    first, tool = trace.user("Find the lamp."), trace.ask("c1", "find", what="lamp")
    trace.model(1, 2, [first], trace.said("", tool), parent=agent)
    trace.model(3, 4, [first], trace.said("I cannot."), parent=agent)
    trace.model(5, 6, [first, trace.said("I cannot."), trace.user("Try.")], trace.said("I tried."), parent=agent)
    trace.model(7, 8, [first, trace.said("", tool), trace.gave("c1", "hall")], trace.said("In the hall."), parent=agent)
    document = trace.one()
    assert [message for _, message in _told(document)] == ["", "I cannot.", "I tried.", "In the hall."]
    assert [trace.results(step) for step in document["steps"] if step.get("tool_calls")] == [{"c1": "hall"}]
