"""Turns: what the agents' own spans tell of a beginning and an end, beside what the model calls say."""

from __future__ import annotations

from typing import Any

import pytest

from atifold.calls import Message, Usage

NEXT = "c" * 32


def kinds(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (source, message) of each step; for a step of a tool alone, the tool's name."""
    steps = document["steps"]
    return [(s["source"], s["message"] or "".join(c["function_name"] for c in s.get("tool_calls", ()))) for s in steps]


# ---- a tool before the first model call ----------------------------------------------------------


@pytest.mark.parametrize("content", [True, False], ids=["request known", "request not captured"])
def test_the_prompt_stands_before_a_tool_that_ran_before_the_first_model_call(trace: Any, content: bool) -> None:
    """The agent's own input came first, at the agent's time; then the tool's step, which counts no inference."""
    agent = trace.agent("a", 0, 99, input=(trace.user("q"),))
    trace.tool("fetch", 5, 9, id="c9", result="doc", parent=agent)
    sent = [Message("system", trace.user("S").parts), trace.user("q")] if content else None
    trace.model(20, 30, sent, trace.said("ans"), parent=agent)
    document = trace.one()
    system = [("system", "S")] if content else []
    assert kinds(document) == [*system, ("user", "q"), ("agent", "fetch"), ("agent", "ans")]
    assert [s.get("llm_call_count") for s in document["steps"][-2:]] == [0, 1]
    assert document["steps"][0]["timestamp"] < document["steps"][-2]["timestamp"] < document["steps"][-1]["timestamp"]
    assert not any("extra" in step for step in document["steps"])


def test_a_request_that_was_made_of_the_tools_result_stays_after_it(trace: Any) -> None:
    """The prompt is what the agent was given; the model was sent another text, later."""
    agent = trace.agent("a", 0, 99, input=(trace.user("q"),))
    trace.tool("fetch", 5, 9, result="doc", parent=agent)
    trace.model(20, 30, [trace.user("q, and doc")], trace.said("ans"), parent=agent)
    assert kinds(trace.one()) == [("user", "q"), ("agent", "fetch"), ("user", "q, and doc"), ("agent", "ans")]


def test_a_tool_before_the_first_call_of_an_agent_that_tells_no_input_is_the_first_step(trace: Any) -> None:
    """Nobody says what came first: the times do."""
    agent = trace.agent("a", 0, 99)
    trace.tool("fetch", 5, 9, result="doc", parent=agent)
    trace.model(20, 30, [trace.user("q")], trace.said("ans"), parent=agent)
    assert kinds(trace.one()) == [("agent", "fetch"), ("user", "q"), ("agent", "ans")]


def test_a_prompt_that_the_agents_span_tells_is_not_copied_from_before(trace: Any) -> None:
    """A tool's message follows it in the first request; the turn before it is history all the same."""
    agent = trace.agent("a", 0, 99, input=(trace.user("q"),))
    trace.tool("fetch", 5, 9, id="w1", result="doc", parent=agent)
    earlier = [trace.user("old"), trace.said("older answer")]
    trace.model(20, 30, [*earlier, trace.user("q"), trace.gave("w1", "doc")], trace.said("ans"), parent=agent)
    (document,) = trace.fold().documents
    steps = document.trajectory["steps"]
    assert [(s["message"], s.get("is_copied_context", False)) for s in steps] == [
        ("old", True),
        ("older answer", True),
        ("q", False),
        ("", False),
        ("ans", False),
    ]
    assert "left_out" not in document.report


def test_a_tool_before_the_first_call_of_a_later_turn_stands_after_that_turns_prompt(trace: Any) -> None:
    """With content and without: it is no call of the turn before."""
    history: list[Message] = []
    for at, trace_id, text in ((0, "d" * 32, "one"), (100, NEXT, "two")):
        more = {"trace": trace_id, "conversation": "s"}
        agent = trace.agent("a", at, at + 50, input=(trace.user(text),), **more)
        trace.tool("fetch", at + 1, at + 2, result=text, parent=agent, trace=trace_id)
        history += [trace.user(text)]
        trace.model(at + 5, at + 6, list(history), trace.said(text.upper()), parent=agent, trace=trace_id)
        history += [trace.said(text.upper())]
    wanted = [("user", "one"), ("agent", "fetch"), ("agent", "ONE"), ("user", "two"), ("agent", "fetch")]
    assert kinds(trace.one(group="conversation")) == [*wanted, ("agent", "TWO")]


def test_without_content_a_tool_of_the_next_turn_is_no_call_of_the_turn_before(trace: Any) -> None:
    """It ran before its own agent's first model call."""
    for at, trace_id in ((0, "d" * 32), (100, NEXT)):
        agent = trace.agent("a", at, at + 50, trace=trace_id, conversation="s")
        trace.tool(f"fetch{at}", at + 1, at + 2, parent=agent, trace=trace_id)
        trace.model(at + 5, at + 6, parent=agent, trace=trace_id)
    document = trace.one(group="conversation")
    assert kinds(document) == [("agent", "fetch0"), ("agent", ""), ("agent", "fetch100"), ("agent", "")]


# ---- the same prompt again -----------------------------------------------------------------------


@pytest.mark.parametrize("content", [True, False], ids=["request known", "request not captured"])
def test_the_same_prompt_in_the_next_run_of_a_session_is_a_step_again(trace: Any, content: bool) -> None:
    """The second run carries no history: that its prompt was said before does not make it a replay."""
    for at, trace_id, answer in ((0, "d" * 32, "f1"), (100, NEXT, "f2")):
        more = {"trace": trace_id, "conversation": "s"}
        agent = trace.agent("a", at, at + 50, input=(trace.user("status?"),), **more)
        sent = [trace.user("status?")] if content else None
        trace.model(at + 5, at + 6, sent, trace.said(answer), parent=agent, trace=trace_id)
    document = trace.one(group="conversation")
    assert trace.outline(document) == [("user", "status?"), ("agent", "f1"), ("user", "status?"), ("agent", "f2")]
    assert document["steps"][2]["timestamp"] > document["steps"][1]["timestamp"]


def test_agents_of_one_run_that_are_told_the_same_prompt_say_it_once(trace: Any) -> None:
    """The next agent got control with the prompt alone."""
    flow = trace.agent("run", 0, 100, workflow=True)
    for at, handoff in ((1, False), (20, True)):
        agent = trace.agent(f"a{at}", at, at + 10, input=(trace.user("help"),), parent=flow, handoff=handoff)
        trace.model(at + 1, at + 2, [trace.user("help")], trace.said(f"s{at}"), parent=agent)
    assert trace.outline(trace.one()) == [("user", "help"), ("agent", "s1"), ("agent", "s20")]


# ---- the agent's answer --------------------------------------------------------------------------


def answered(trace: Any, said: str, answer: str) -> tuple[dict[str, Any], str]:
    """Return (what is ours in the document of an agent that gives `answer`, the report's words)."""
    agent = trace.agent("a", 0, 99, output=(trace.said(answer),))
    asked = trace.said("Looking up.", trace.ask("c", "look"))
    trace.model(1, 2, [trace.user("q")], asked, parent=agent)
    trace.model(5, 6, [trace.user("q"), asked, trace.gave("c", "r")], trace.said(said), parent=agent)
    (document,) = trace.fold().documents
    assert [s["message"] for s in document.trajectory["steps"]] == ["q", "Looking up.", said]
    return document.trajectory["extra"]["atifold"], repr(document.report.get("unsure"))


def test_an_answer_that_no_model_call_said_is_kept_beside_the_steps(trace: Any) -> None:
    """No step is made of it, for a step would be a model's; the report says where it stands."""
    ours, words = answered(trace, "draft", "final, edited")
    assert ours["answer"] == "final, edited"
    assert "extra.atifold.answer" in words
    assert "edited" not in words


@pytest.mark.parametrize(
    "answer",
    [
        "It is\n 18 degrees.",
        "Looking up.\n\nIt is 18 degrees.",
        "18 degrees.",
        "Answer: It is 18 degrees.",
        '{"text":"It is 18 degrees."}',
    ],
    ids=["white space", "all messages of the turn", "a part", "a message within", "a message within JSON"],
)
def test_an_answer_that_was_said_is_not_told_twice(trace: Any, answer: str) -> None:
    """White space folded, whole or in part."""
    ours, words = answered(trace, "It is 18 degrees.", answer)
    assert "answer" not in ours
    assert words == "None"


def test_a_letter_that_stands_in_a_word_is_not_that_word(trace: Any) -> None:
    """`4` is no part of `42`."""
    assert answered(trace, "42", "4")[0]["answer"] == "4"


def test_an_answer_of_a_turn_before_the_last_stands_on_that_turns_last_step(trace: Any) -> None:
    """The document's own is the last turn's."""
    for at, trace_id, text in ((0, "d" * 32, "one"), (100, NEXT, "two")):
        more = {"trace": trace_id, "conversation": "s"}
        output = (trace.said(f"edited {text} again"),)
        agent = trace.agent("a", at, at + 50, input=(trace.user(text),), output=output, **more)
        trace.model(at + 5, at + 6, [trace.user(text)], trace.said(f"draft {text}"), parent=agent, trace=trace_id)
    document = trace.one(group="conversation")
    assert [s.get("extra") for s in document["steps"]] == [
        None,
        {"atifold": {"answer": "edited one again"}},
        None,
        None,
    ]
    assert document["extra"]["atifold"]["answer"] == "edited two again"


@pytest.mark.parametrize(("answer", "kept"), [("both agree", "both agree"), ("yes", None)])
def test_a_workflows_answer_is_kept_where_no_member_gave_it(trace: Any, answer: str, kept: str | None) -> None:
    """It is the workflow's document that holds it."""
    flow = trace.agent("Duo", 0, 100, workflow=True, output=(trace.said(answer),))
    for at, text in ((1, "yes"), (2, "no")):
        trace.model(at, at + 9, [trace.user(f"{at}?")], trace.said(text), parent=flow)
    assert trace.one()["extra"]["atifold"].get("answer") == kept


def test_an_answer_of_nothing_makes_no_step(trace: Any) -> None:
    """An agent that only delegated and said nothing."""
    agent = trace.agent("main", 0, 99, input=(trace.user("q"),), output=(Message("assistant"),))
    inner = trace.agent("sub", 5, 9, parent=agent, delegated=True)
    trace.model(6, 7, [trace.user("go")], trace.said("x"), parent=inner)
    assert trace.outline(trace.one()) == [("user", "q"), ("system", "")]


# ---- copied context ------------------------------------------------------------------------------


def test_copied_steps_count_in_no_total_and_as_no_inference(trace: Any) -> None:
    """What the model did before is in an earlier document; how many calls that took is not known here."""
    agent = trace.agent("a", 0, 99, input=(trace.user("two"),))
    asked = trace.said("", trace.ask("c1", "look"))
    history = [trace.user("one"), asked, trace.gave("c1", "r"), trace.said("ONE"), trace.user("two")]
    trace.model(5, 6, history, trace.said("TWO"), parent=agent, usage=Usage(10, 2), cost_usd=0.5)
    document = trace.one()
    copied = [step for step in document["steps"] if step.get("is_copied_context")]
    assert [step["message"] for step in copied] == ["one", "", "ONE"]
    assert trace.results(copied[1]) == {"c1": "r"}
    assert not any({"llm_call_count", "metrics"} & step.keys() for step in copied)
    assert document["final_metrics"] == {
        "total_prompt_tokens": 10,
        "total_completion_tokens": 2,
        "total_cost_usd": 0.5,
        "total_steps": 5,
    }
