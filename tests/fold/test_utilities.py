"""A call that only serves the conversation is kept apart from it; one that has a part in it is not."""

from __future__ import annotations

from typing import Any

import pytest

from atifold.calls import Usage


def talk(trace: Any, served: str, answer: str, *, model: str | None = "small", told: str = "go") -> list[list[str]]:
    """Fold an agent's conversation with a call of another model in it; return the texts of each document."""
    agent = trace.agent("a", 0, 99)
    first = [trace.user(told)]
    trace.model(1, 2, [trace.user(served)], trace.said(answer), parent=agent, model=model, usage=Usage(3, 1))
    trace.model(3, 4, first, trace.said("Where?"), parent=agent, model="big", usage=Usage(10, 1))
    history = [*first, trace.said("Where?"), trace.user("Rome")]
    trace.model(5, 6, history, trace.said("Fine."), parent=agent, model="big", usage=Usage(20, 1))
    documents = [one.trajectory for one in trace.fold().documents]
    assert sum(one["final_metrics"]["total_prompt_tokens"] for one in documents) == 33
    return [[text for _, text in trace.outline(one)] for one in documents]


def test_a_title_of_another_model_has_a_trajectory_of_its_own(trace: Any) -> None:
    """It bears the agent's name; its tokens are not lost."""
    assert talk(trace, "Title for: go", "Trip") == [["go", "Where?", "Rome", "Fine."], ["Title for: go", "Trip"]]


@pytest.mark.parametrize(
    ("served", "answer", "more"),
    [
        ("Plan: go", "Ask where", {"told": "Ask where, then go"}),
        ("Sum up: Where?", "A question", {}),
        ("Title for: go", "Trip", {"model": "big-2026-01-01"}),
        ("Title for: go", "Trip", {"model": None}),
        ("Title for: go", "Fine.", {}),
    ],
    ids=["whose answer is used", "that was told an answer", "of the same model", "of no model", "that says the same"],
)
def test_a_call_stays_in_the_conversation(trace: Any, served: str, answer: str, more: dict[str, Any]) -> None:
    """What has a part in it, or may have one, is a step of it."""
    wanted = [served, answer, more.get("told", "go"), "Where?", "Rome", "Fine."]
    assert talk(trace, served, answer, **more) == [wanted]


def test_calls_of_several_models_that_all_ask_once_are_one_run(trace: Any) -> None:
    """Nothing among them is a conversation that others could serve."""
    agent = trace.agent("a", 0, 99)
    trace.model(1, 2, [trace.user("one")], trace.said("1"), parent=agent, model="small")
    trace.model(3, 4, [trace.user("two")], trace.said("2"), parent=agent, model="big")
    assert [text for _, text in trace.outline(trace.one())] == ["one", "1", "two", "2"]
