"""Threads: whose call it is, who ran for whom, and what is one history."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atifold.calls import AgentCall, Message, Text, Usage
from atifold.fold.continuity import Piece, crowded

OTHER = "b" * 32


def subagents(document: dict[str, Any]) -> list[str]:
    """Return the names of a document's embedded agents."""
    return [sub["agent"]["name"] for sub in document.get("subagent_trajectories", ())]


# ---- subagents -----------------------------------------------------------------------------------


def test_an_agent_below_a_tool_call_is_its_subagent(trace: Any) -> None:
    """The reference stands on the result of the call that it ran for; the answer stays beside it."""
    boss = trace.agent("boss", 0, 100)
    trace.model(1, 2, [trace.user("do")], trace.said("", trace.ask("d", "delegate", task="t")), parent=boss)
    tool = trace.tool("delegate", 3, 50, parent=boss, id="d", result="answer")
    inner = trace.agent("worker", 4, 49, parent=tool)
    trace.model(5, 6, [trace.user("t")], trace.said("answer"), parent=inner)
    document = trace.one()
    sub = document["subagent_trajectories"][0]
    assert sub["agent"]["name"] == "worker"
    assert document["steps"][1]["observation"]["results"] == [
        {
            "source_call_id": "d",
            "content": "answer",
            "subagent_trajectory_ref": [{"trajectory_id": sub["trajectory_id"]}],
        }
    ]
    assert trace.outline(sub) == [("user", "t"), ("agent", "answer")]


def test_an_agent_beside_its_caller_is_known_by_time_and_text(trace: Any) -> None:
    """It ran within the tool's time and was asked with the tool's argument."""
    boss = trace.agent("boss", 0, 100)
    trace.model(1, 2, [trace.user("do")], trace.said("", trace.ask("d", "delegate", task="find it")), parent=boss)
    trace.tool("delegate", 3, 50, parent=boss, id="d", arguments={"task": "find it"}, result="found")
    inner = trace.agent("worker", 4, 49, parent=boss)
    trace.model(5, 6, [trace.user("find it")], trace.said("found"), parent=inner)
    trace.model(60, 70, [trace.user("do")], trace.said("Done."), parent=boss)
    document = trace.one()
    assert subagents(document) == ["worker"]
    assert "subagent_trajectory_ref" in document["steps"][1]["observation"]["results"][0]


def test_an_agent_that_ran_at_the_same_time_for_somebody_else_is_no_subagent(trace: Any) -> None:
    """Containment in time alone joins independent runs: these stay two documents."""
    boss = trace.agent("boss", 0, 100)
    trace.model(1, 2, [trace.user("do")], trace.said("", trace.ask("d", "delegate", task="find it")), parent=boss)
    trace.tool("delegate", 3, 50, parent=boss, id="d", arguments={"task": "find it"}, result="found")
    other = trace.agent("stranger", 4, 49)
    trace.model(5, 6, [trace.user("unrelated")], trace.said("ok"), parent=other)
    assert [d.trajectory["agent"]["name"] for d in trace.fold().documents] == ["boss", "stranger"]


def test_agents_beside_their_callers_nest_as_deep_as_they_called(trace: Any) -> None:
    """Three roots in one trace: the third ran for the second's tool, the second for the first's."""
    for level, (at, until) in enumerate([(0, 100), (5, 90), (10, 80)]):
        agent = trace.agent(f"a{level}", at, until)
        asked = trace.said("", trace.ask("d", "delegate", task=f"task {level + 1}"))
        trace.model(at + 1, at + 2, [trace.user(f"task {level}")], asked, parent=agent)
        trace.tool("delegate", at + 3, until, parent=agent, id="d", arguments={"task": f"task {level + 1}"})
    document = trace.one()
    assert subagents(document) == ["a1"]
    assert subagents(document["subagent_trajectories"][0]) == ["a2"]


def test_model_calls_below_a_tool_without_an_agent_are_a_subagent_named_after_the_tool(trace: Any) -> None:
    """They have a fresh history of their own; the parent's parallel calls stay on the parent's step."""
    boss = trace.agent("boss", 0, 100)
    asked = trace.said("", trace.ask("d", "research"), trace.ask("e", "look"))
    trace.model(1, 2, [trace.user("do")], asked, parent=boss)
    tool = trace.tool("research", 3, 50, parent=boss, id="d", result="r")
    trace.model(5, 6, [trace.user("inner")], trace.said("r"), parent=tool)
    trace.tool("look", 7, 8, parent=boss, id="e", result="s")
    document = trace.one()
    assert subagents(document) == ["research"]
    assert trace.results(document["steps"][1]) == {"d": "r", "e": "s"}


def test_a_nested_agent_that_returns_is_referred_to_from_a_system_step(trace: Any) -> None:
    """No tool called it; the outer agent goes on afterwards."""
    boss = trace.agent("boss", 0, 100)
    trace.model(1, 2, [trace.user("do")], trace.said("Wait."), parent=boss)
    inner = trace.agent("worker", 4, 49, parent=boss)
    trace.model(5, 6, [trace.user("other")], trace.said("x"), parent=inner)
    trace.model(60, 70, [trace.user("do"), trace.said("Wait."), trace.user("go on")], trace.said("Done."), parent=boss)
    document = trace.one()
    assert trace.outline(document) == [
        ("user", "do"),
        ("agent", "Wait."),
        ("system", ""),
        ("user", "go on"),
        ("agent", "Done."),
    ]
    assert subagents(document) == ["worker"]


def nested(trace: Any, *, asked: Any = None, sent: Any = None, **more: Any) -> dict[str, Any]:
    """Return the document of an agent in which another one ran, and nothing after it."""
    boss = trace.agent("boss", 0, 100)
    trace.model(1, 2, [trace.user("do")], asked or trace.said("Plan."), parent=boss)
    inner = trace.agent("worker", 10, 50, parent=boss, **more)
    trace.model(11, 12, sent or [trace.user("other")], trace.said("x"), parent=inner)
    return trace.one()  # type: ignore[no-any-return]


def test_a_nested_agent_is_a_subagent_though_nothing_comes_after_it(trace: Any) -> None:
    """No sign of a transfer, and a history of its own."""
    assert subagents(nested(trace)) == ["worker"]


def test_a_nested_agent_that_goes_on_with_the_history_has_taken_over(trace: Any) -> None:
    """Its request holds what the outer agent said."""
    document = nested(trace, sent=[trace.user("do"), trace.said("Plan."), trace.user("go on")])
    assert subagents(document) == []
    assert [text for _, text in trace.outline(document)] == ["do", "Plan.", "go on", "x"]


def test_an_agent_that_returns_by_its_own_word_is_a_subagent_whatever_it_was_sent(trace: Any) -> None:
    """Neither a tool's name nor the history speaks against the mark."""
    asked = trace.said("Plan.", trace.ask("t", "transfer_to_worker"))
    document = nested(trace, asked=asked, sent=[trace.user("do"), asked, trace.user("go on")], delegated=True)
    assert subagents(document) == ["worker"]


def test_a_history_that_was_lent_to_a_nested_agent_does_not_make_it_the_outer_one(trace: Any) -> None:
    """The outer agent went on after it."""
    boss = trace.agent("boss", 0, 100)
    history = [trace.user("do"), trace.said("Plan.")]
    trace.model(1, 2, history[:1], history[1], parent=boss)
    inner = trace.agent("critic", 10, 50, parent=boss)
    trace.model(11, 12, [*history, trace.user("What is wrong?")], trace.said("Nothing."), parent=inner)
    trace.model(60, 70, [*history, trace.user("Nothing. Go on")], trace.said("Done."), parent=boss)
    document = trace.one()
    assert subagents(document) == ["critic"]
    assert [text for _, text in trace.outline(document)] == ["do", "Plan.", "", "Nothing. Go on", "Done."]


@pytest.mark.parametrize("count", [1, 2])
def test_an_agent_that_only_delegates_is_no_wrapper(trace: Any, count: int) -> None:
    """Its prompt, its subagents in their order, its answer."""
    boss = trace.agent("boss", 0, 100, input=(trace.user("q"),), output=(trace.said("answer"),))
    for number in range(count):
        at = 10 + 10 * number
        inner = trace.agent(f"worker{number}", at, at + 5, parent=boss, delegated=True)
        trace.model(at + 1, at + 2, [trace.user("go")], trace.said("x"), parent=inner)
    document = trace.one()
    assert document["agent"]["name"] == "boss"
    assert trace.outline(document) == [("user", "q"), *[("system", "")] * count, ("agent", "answer")]
    assert subagents(document) == ["worker0", "worker1"][:count]


def test_a_subagent_whose_caller_is_in_another_trace_does_not_carry_on_the_session(trace: Any) -> None:
    """Grouped by conversation it stays a document of its own."""
    agent = trace.agent("boss", 0, 10, conversation="s")
    trace.model(1, 2, [trace.user("a")], trace.said("A"), parent=agent)
    inner = trace.agent("worker", 20, 30, conversation="s", trace=OTHER, delegated=True)
    trace.model(21, 22, [trace.user("b")], trace.said("B"), parent=inner, trace=OTHER)
    after = trace.agent("boss", 40, 50, conversation="s", trace="c" * 32)
    trace.model(41, 42, [trace.user("c")], trace.said("C"), parent=after, trace="c" * 32)
    documents = [d.trajectory for d in trace.fold(group="conversation").documents]
    assert [[text for _, text in trace.outline(d)] for d in documents] == [["a", "A", "c", "C"], ["b", "B"]]


def test_a_hand_off_to_a_nested_agent_goes_on_in_the_same_trajectory(trace: Any) -> None:
    """Control does not come back; later steps name their agent."""
    triage = trace.agent("triage", 0, 100)
    first, asked = [trace.user("help")], trace.said("", trace.ask("h", "transfer_to_desk"))
    call = trace.model(1, 90, first, asked, parent=triage)
    trace.tool("transfer_to_desk", 2, 3, parent=call, id="h", result="desk")
    desk = trace.agent("desk", 4, 80, parent=call)
    trace.model(5, 6, [trace.user("help"), trace.user("For context: …")], trace.said("Shipped."), parent=desk)
    document = trace.one()
    assert "subagent_trajectories" not in document
    assert document["agent"]["name"] == "triage"
    assert [step.get("extra", {}).get("agent") for step in document["steps"] if step["source"] == "agent"] == [
        None,
        "desk",
    ]
    assert trace.results(document["steps"][1]) == {"h": "desk"}


def test_a_hand_off_to_a_sibling_goes_on_in_the_same_trajectory(trace: Any) -> None:
    """The sibling's first request holds the first agent's answer and the transfer's result."""
    flow = trace.agent("run", 0, 100, workflow=True)
    triage = trace.agent("triage", 1, 10, parent=flow)
    first, asked = [trace.user("help")], trace.said("", trace.ask("h", "transfer_to_desk"))
    trace.model(2, 3, first, asked, parent=triage)
    desk = trace.agent("desk", 11, 20, parent=flow)
    trace.model(12, 13, [*first, asked, trace.gave("h", "desk")], trace.said("Shipped."), parent=desk)
    document = trace.one()
    assert trace.outline(document) == [("user", "help"), ("agent", ""), ("agent", "Shipped.")]
    assert trace.results(document["steps"][1]) == {"h": "desk"}


def test_a_hand_off_without_content_is_known_by_its_mark(trace: Any) -> None:
    """The dialect says that control passed on; without the mark the agents would be two members."""
    flow = trace.agent("run", 0, 100, workflow=True)
    trace.model(2, 3, parent=trace.agent("triage", 1, 10, parent=flow))
    trace.model(12, 13, parent=trace.agent("desk", 11, 20, parent=flow, handoff=True))
    assert len(trace.one()["steps"]) == 2


# ---- workflows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bare", [True, False])
def test_a_workflow_of_one_member_is_transparent(trace: Any, bare: bool) -> None:
    """The member's document is the only one; the workflow names it where no agent does."""
    flow = trace.agent("Refine", 0, 100, workflow=True, extra={"kind": "loop"})
    owner = flow if bare else trace.agent("worker", 1, 90, parent=flow)
    trace.model(2, 3, [trace.user("q")], trace.said("a"), parent=owner)
    document = trace.one()
    assert document["agent"]["name"] == ("Refine" if bare else "worker")
    assert document["extra"]["kind"] == "loop"
    assert document["trajectory_id"].endswith(flow.key[1])


def test_a_workflow_of_several_members_is_a_document_with_each_as_subagent(trace: Any) -> None:
    """One system step a member, in order of their start."""
    flow = trace.agent("Duo", 0, 100, workflow=True, input=(Message("user", (Text("both"),)),))
    for name, at in (("beta", 3), ("alpha", 2)):
        agent = trace.agent(name, at, 50, parent=flow)
        trace.model(at + 1, at + 2, [trace.user("both")], trace.said(name), parent=agent, usage=Usage(5, 1))
    document = trace.one()
    assert trace.outline(document) == [("user", "both"), ("system", ""), ("system", "")]
    assert [step["extra"]["atifold"] for step in document["steps"][1:]] == [{"member": "alpha"}, {"member": "beta"}]
    assert subagents(document) == ["alpha", "beta"]
    assert document["agent"]["name"] == "Duo"
    assert document["final_metrics"] == {"total_steps": 3}


def test_members_that_carry_on_one_history_share_a_document(trace: Any) -> None:
    """Two turns of one agent inside one run."""
    flow = trace.agent("run", 0, 100, workflow=True)
    history = [trace.user("one")]
    trace.model(2, 3, history, trace.said("1"), parent=trace.agent("a", 1, 10, parent=flow))
    history = [*history, trace.said("1"), trace.user("two")]
    trace.model(12, 13, history, trace.said("2"), parent=trace.agent("a", 11, 20, parent=flow))
    assert [text for _, text in trace.outline(trace.one())] == ["one", "1", "two", "2"]


@pytest.mark.parametrize("content", [True, False], ids=["the same prompt", "no content"])
def test_bare_calls_of_a_workflow_that_name_different_members_are_different_members(trace: Any, content: bool) -> None:
    """One after the other, with the same prompt and instructions or with nothing captured."""
    flow = trace.agent("Duo", 0, 100, workflow=True)
    for at, name in ((1, "legal"), (20, "ethics")):
        sent, got = ([trace.user("ok?")], trace.said(f"{name} ok")) if content else (None, None)
        trace.model(at, at + 9, sent, got, parent=flow, agent_name=name)
    document = trace.one()
    assert subagents(document) == ["legal", "ethics"]
    assert document["agent"]["name"] == "Duo"


def test_answers_that_members_have_in_common_do_not_join_them(trace: Any) -> None:
    """Each goes on with its own history, though both said the same."""
    flow = trace.agent("Duo", 0, 100, workflow=True)
    for at in (1, 20):
        for name in ("legal", "ethics"):
            sent = [trace.user(f"{name}?")]
            sent += [trace.said("ok"), trace.user("sure?")] if at == 20 else []
            trace.model(at, at + 9, sent, trace.said("ok"), parent=flow, agent_name=name)
    subs = trace.one()["subagent_trajectories"]
    assert [[text for _, text in trace.outline(sub)] for sub in subs] == [
        ["legal?", "ok", "sure?", "ok"],
        ["ethics?", "ok", "sure?", "ok"],
    ]


def test_outside_a_workflow_a_history_goes_on_whatever_its_calls_are_named(trace: Any) -> None:
    """Bare calls that name their agents hand over to each other."""
    first = [trace.user("help"), trace.said("Wait.")]
    trace.model(1, 9, first[:1], first[1], agent_name="triage")
    trace.model(20, 29, [*first, trace.user("go on")], trace.said("Done."), agent_name="desk")
    assert [text for _, text in trace.outline(trace.one())] == ["help", "Wait.", "go on", "Done."]


def test_nested_workflows_are_documents_inside_documents(trace: Any) -> None:
    """A committee of two bare calls is one member of the pipeline, the agent after it the other."""
    outer = trace.agent("Pipeline", 0, 100, workflow=True)
    inner = trace.agent("Committee", 1, 20, workflow=True, parent=outer)
    trace.model(2, 9, [trace.user("legal?")], trace.said("legal ok"), parent=inner)
    trace.model(2, 9, [trace.user("ethics?")], trace.said("ethics ok"), parent=inner)
    trace.model(31, 32, [trace.user("both ok")], trace.said("go"), parent=trace.agent("worker", 30, 40, parent=outer))
    document = trace.one()
    assert subagents(document) == ["Committee", "worker"]
    assert subagents(document["subagent_trajectories"][0]) == ["Committee", "Committee"]
    assert [trace.outline(sub)[-1][1] for sub in document["subagent_trajectories"][0]["subagent_trajectories"]] == [
        "legal ok",
        "ethics ok",
    ]


def test_a_wrapper_agent_without_calls_of_its_own_is_transparent(trace: Any) -> None:
    """A gateway's agent span around the real one is no second agent."""
    wrapper = trace.agent("gateway", 0, 100)
    trace.model(2, 3, [trace.user("q")], trace.said("a"), parent=trace.agent("real", 1, 90, parent=wrapper))
    document = trace.one()
    assert (document["agent"]["name"], subagents(document)) == ("real", [])


# ---- calls without an agent ----------------------------------------------------------------------


def test_unrelated_histories_of_one_trace_are_separate_trajectories(trace: Any) -> None:
    """A title call shares nothing with the conversation; its tokens are not lost."""
    first = [trace.user("plan a trip")]
    trace.model(0, 1, first, trace.said("Where?"), usage=Usage(10, 1))
    trace.model(2, 3, [trace.user("Write a title for: plan a trip")], trace.said("Trip"), usage=Usage(3, 1))
    trace.model(4, 5, [*first, trace.said("Where?"), trace.user("Rome")], trace.said("Fine."), usage=Usage(20, 1))
    documents = [d.trajectory for d in trace.fold().documents]
    assert [[text for _, text in trace.outline(d)] for d in documents] == [
        ["plan a trip", "Where?", "Rome", "Fine."],
        ["Write a title for: plan a trip", "Trip"],
    ]
    assert [d["final_metrics"]["total_prompt_tokens"] for d in documents] == [30, 3]


def test_a_model_call_below_a_model_call_is_not_owned_by_it(trace: Any) -> None:
    """Some emitters nest call 2 under call 1: both are the agent's."""
    agent = trace.agent("a", 0, 99)
    first = trace.model(1, 9, [trace.user("go")], trace.said("1"), parent=agent)
    trace.model(2, 8, [trace.user("go"), trace.said("1"), trace.user("on")], trace.said("2"), parent=first)
    assert [text for _, text in trace.outline(trace.one())] == ["go", "1", "on", "2"]


def test_orphans_are_one_trajectory_when_their_messages_continue(trace: Any) -> None:
    """The parents were never exported; the report says so."""
    lost_one, lost_two = (OTHER, "1" * 16), (OTHER, "2" * 16)
    first, asked = [trace.user("go")], trace.said("", trace.ask("c", "x"))
    trace.model(0, 1, first, asked, parent=lost_one, orphan=True)
    trace.tool("x", 2, 3, id="c", result="r", parent=lost_two, orphan=True)
    trace.model(4, 5, [*first, asked, trace.gave("c", "r")], trace.said("done"), parent=lost_two, orphan=True)
    folded = trace.fold()
    assert len(folded.documents) == 1
    assert trace.results(folded.documents[0].trajectory["steps"][1]) == {"c": "r"}
    assert "the parent of a call is not among the spans (3 times)" in folded.documents[0].report["unsure"]


def test_two_agents_of_one_trace_are_two_documents_even_with_the_same_question(trace: Any) -> None:
    """Nothing of one is in the other."""
    for name, at in (("alpha", 0), ("beta", 1)):
        agent = trace.agent(name, at, 50)
        asked = trace.said("", trace.ask("c1", "look", q="x"))
        trace.model(at + 2, at + 3, [trace.user("q")], asked, parent=agent)
        trace.tool("look", at + 5, at + 6, id="c1", result=name, parent=agent)
    documents = [d.trajectory for d in trace.fold().documents]
    assert [(d["agent"]["name"], trace.results(d["steps"][1])) for d in documents] == [
        ("alpha", {"c1": "alpha"}),
        ("beta", {"c1": "beta"}),
    ]


# ---- agents whose model calls were not traced ----------------------------------------------------


def test_an_agent_without_model_spans_has_its_tool_calls_as_steps_without_inference(trace: Any) -> None:
    """One step a tool call, in order of start; no token and no text is invented; the report says it."""
    agent = trace.agent("a", 0, 99)
    trace.tool("x", 5, 9, id="1", result="r1", parent=agent)
    trace.tool("x", 4, 9, id="2", result="r2", parent=agent)
    folded = trace.fold()
    document = folded.documents[0].trajectory
    assert [(s["llm_call_count"], s["message"], trace.results(s)) for s in document["steps"]] == [
        (0, "", {"2": "r2"}),
        (0, "", {"1": "r1"}),
    ]
    assert document["final_metrics"] == {"total_steps": 2}
    assert "no model call was traced" in repr(folded.documents[0].report["missing"])


def test_what_only_the_agents_span_tells_becomes_first_and_last_step(trace: Any) -> None:
    """Its input is the user's step, its output and usage the last step, which counts no inference."""
    agent = trace.agent(
        "a",
        0,
        99,
        system="Be kind.",
        input=(trace.user("q"),),
        output=(trace.said("final"),),
        usage=Usage(100, 7),
        cost_usd=0.25,
    )
    trace.tool("x", 5, 9, id="1", result="r1", parent=agent)
    folded = trace.fold()
    document = folded.documents[0].trajectory
    assert trace.outline(document) == [("system", "Be kind."), ("user", "q"), ("agent", ""), ("agent", "final")]
    last = document["steps"][-1]
    assert "llm_call_count" not in last
    assert last["metrics"]["extra"]["covers"] == "agent run"
    assert document["final_metrics"]["total_prompt_tokens"] == 100
    assert "usage only on the container" in repr(folded.documents[0].report["unsure"])


def test_instructions_that_only_the_agents_span_tells_are_a_system_step(trace: Any) -> None:
    """The requests hold the history without them; a request that tells its own wins."""
    told = trace.agent("a", 0, 9, system="Be kind.", input=(trace.user("not this"),))
    trace.model(1, 2, [trace.user("q")], trace.said("a"), parent=told)
    own = trace.agent("b", 10, 19, system="Not this.")
    trace.model(11, 12, [trace.user("r")], trace.said("b"), parent=own, system="Be short.")
    documents = [document.trajectory for document in trace.fold().documents]
    assert [[text for _, text in trace.outline(d)] for d in documents] == [
        ["Be kind.", "q", "a"],
        ["Be short.", "r", "b"],
    ]


def test_a_containers_usage_does_not_count_where_a_model_call_has_its_own(trace: Any) -> None:
    """The sum on the agent's span would count everything twice."""
    agent = trace.agent("a", 0, 99, usage=Usage(130, 15))
    trace.model(1, 2, [trace.user("q")], trace.said("a"), parent=agent, usage=Usage(60, 7))
    assert trace.one()["final_metrics"]["total_prompt_tokens"] == 60


def test_an_agent_that_left_no_step_gives_no_document_and_a_word(trace: Any) -> None:
    """An empty span is not a trajectory."""
    trace.agent("silent", 0, 99)
    folded = trace.fold()
    assert folded.documents == ()
    assert folded.report["left_out"] == ["no step: agent silent"]


# ---- pauses --------------------------------------------------------------------------------------


def paused_pair(trace: Any, *, with_first_leg: bool = True) -> Any:
    """Make a paused run and the leg, in a trace of its own, that resumes it."""
    first, asked = [trace.user("refund")], trace.said("", trace.ask("q1", "ask_operator"), trace.ask("q2", "weather"))
    leg = trace.agent("desk", 0, 10, run_id="run-1", paused=True)
    trace.model(1, 2, first, asked, parent=leg, usage=Usage(50, 8))
    trace.tool("ask_operator", 3, 10, parent=leg, id="q1", paused=True)
    if not with_first_leg:
        trace.calls.clear()
    later = trace.agent("desk", 50, 90, run_id="run-2", resumes=leg.key, trace=OTHER)
    trace.tool("ask_operator", 50, 51, parent=later, id="q1", result="approved", trace=OTHER)
    history = [*first, asked, trace.gave("q1", "approved")]
    trace.model(60, 70, history, trace.said("Done."), parent=later, trace=OTHER, usage=Usage(100, 14))
    return leg


def test_a_resumed_leg_joins_the_paused_agents_document_across_traces(trace: Any) -> None:
    """The late result stands on the step that asked; the unstarted call has none."""
    paused_pair(trace)
    folded = trace.fold()
    document = folded.documents[0].trajectory
    assert len(folded.documents) == 1
    assert trace.outline(document) == [("user", "refund"), ("agent", ""), ("agent", "Done.")]
    assert trace.results(document["steps"][1]) == {"q1": "approved"}
    assert len(document["steps"][1]["tool_calls"]) == 2
    assert document["final_metrics"]["total_prompt_tokens"] == 150
    assert document["trajectory_id"] == "run-1-0af76519"
    assert document["extra"]["atifold"]["trace_ids"] == sorted(["0af7651916cd43dd8448eb211c80319c", OTHER])
    assert "state" not in document["extra"]["atifold"]


def test_a_paused_call_and_its_end_are_one_call_without_content_too(trace: Any) -> None:
    """Two spans of one id in one step: the second is not another call."""
    leg = trace.agent("desk", 0, 10, paused=True)
    trace.model(1, 2, parent=leg)
    trace.tool("ask_operator", 3, 10, parent=leg, id="q1", paused=True)
    later = trace.agent("desk", 50, 90, resumes=leg.key, trace=OTHER)
    trace.tool("ask_operator", 50, 51, parent=later, id="q1", trace=OTHER)
    folded = trace.fold()
    assert len(folded.documents[0].trajectory["steps"][0]["tool_calls"]) == 1
    assert folded.documents[0].report["merged"] == ["a tool call told by two spans is one call"]


def test_a_leg_whose_paused_agent_is_not_here_names_what_it_resumes(trace: Any) -> None:
    """It is a document of its own, the earlier turn copied context."""
    leg = paused_pair(trace, with_first_leg=False)
    document = trace.one()
    assert document["extra"]["atifold"]["resumes"] == {"trace_id": leg.key[0], "span_id": leg.key[1]}
    own = [s["message"] for s in document["steps"] if not s.get("is_copied_context")]
    assert own == ["Done."]


def test_a_run_that_waits_says_that_it_is_paused(trace: Any) -> None:
    """The document is there and is not finished."""
    leg = trace.agent("desk", 0, 10, paused=True)
    trace.model(1, 2, [trace.user("refund")], trace.said("", trace.ask("q1", "ask_operator")), parent=leg)
    document = trace.fold().documents[0]
    assert document.incomplete
    assert document.trajectory["extra"]["atifold"]["state"] == "paused"


def test_an_unfinished_call_makes_its_document_incomplete_with_the_reason(trace: Any) -> None:
    """A span that never ended, or a reason that the emitter gave."""
    agent = trace.agent("a", 0, None, incomplete=("the events ended",))
    trace.model(1, 2, [trace.user("q")], trace.said("a"), parent=agent)
    document = trace.fold().documents[0]
    reasons = ["never ended: invoke_agent a", "the events ended"]
    assert document.incomplete
    assert document.trajectory["extra"]["atifold"]["incomplete"] == reasons
    assert document.report["incomplete"] == reasons


# ---- traces and conversations --------------------------------------------------------------------


def two_turns(trace: Any) -> None:
    """Make two traces of one conversation, the second repeating the first's history."""
    first = trace.agent("a", 0, 10, conversation="c-1")
    trace.model(1, 2, [trace.user("one")], trace.said("1"), parent=first)
    second = trace.agent("a", 20, 30, conversation="c-1", trace=OTHER)
    history = [trace.user("one"), trace.said("1"), trace.user("two")]
    trace.model(21, 22, history, trace.said("2"), parent=second, trace=OTHER)


def test_traces_are_folded_apart_and_repeat_earlier_turns_as_copied_context(trace: Any) -> None:
    """The second document holds the first turn, marked."""
    two_turns(trace)
    second = trace.fold().documents[1].trajectory
    assert [(s["message"], s.get("is_copied_context", False)) for s in second["steps"]] == [
        ("one", True),
        ("1", True),
        ("two", False),
        ("2", False),
    ]
    assert second["session_id"] == "c-1"


def test_traces_of_one_conversation_are_folded_together_when_asked(trace: Any) -> None:
    """Nothing is told twice."""
    two_turns(trace)
    document = trace.one(group="conversation")
    assert [text for _, text in trace.outline(document)] == ["one", "1", "two", "2"]
    assert not any("is_copied_context" in step for step in document["steps"])


def test_turns_of_one_conversation_without_content_are_joined_in_order(trace: Any) -> None:
    """The session's id is all that ties them."""
    trace.model(1, 2, parent=trace.agent("a", 0, 10, conversation="c-1"))
    trace.model(21, 22, parent=trace.agent("a", 20, 30, conversation="c-1", trace=OTHER), trace=OTHER)
    assert len(trace.one(group="conversation")["steps"]) == 2


def test_a_stray_tool_trace_is_absorbed_by_the_conversation_that_asked_for_it(trace: Any) -> None:
    """Worker threads start traces of their own; the call's id ties them."""
    trace.model(0, 1, [trace.user("go")], trace.said("", trace.ask("c9", "x")), conversation="c-1")
    trace.tool("x", 2, 3, id="c9", result="r", trace=OTHER)
    assert trace.results(trace.one(group="conversation")["steps"][-1]) == {"c9": "r"}


def test_a_tool_beside_the_only_agent_of_a_run_is_its_own(trace: Any) -> None:
    """Its parent is the workflow; it ran in the agent's time."""
    flow = trace.agent("run", 0, 100, workflow=True)
    trace.model(2, 3, parent=trace.agent("a", 1, 90, parent=flow))
    trace.tool("x", 5, 6, id="c", parent=flow)
    document = trace.one()
    assert [len(step.get("tool_calls", ())) for step in document["steps"]] == [1]


def test_two_nested_spans_of_one_tool_call_are_one_call_with_what_both_tell(trace: Any) -> None:
    """A framework's span has the arguments, the protocol's span inside it the result."""
    agent = trace.agent("a", 0, 99)
    trace.model(1, 2, [trace.user("q")], trace.said("", trace.ask("c", "x", n=1)), parent=agent)
    outer = trace.tool("x", 3, 9, id="c", arguments={"n": 1}, parent=agent, extra={"k": "v"})
    trace.tool("x", 4, 8, arguments={"n": 1}, result="r", parent=outer)
    folded = trace.fold()
    step = folded.documents[0].trajectory["steps"][1]
    assert trace.results(step) == {"c": "r"}
    assert step["tool_calls"][0]["extra"] == {"k": "v"}
    assert folded.documents[0].report["merged"] == ["a tool call told by two spans is one call"]


def test_a_tool_inside_another_tool_is_a_call_of_its_own(trace: Any) -> None:
    """Another name: the model did not ask for it."""
    agent = trace.agent("a", 0, 99)
    trace.model(1, 2, [trace.user("q")], trace.said("", trace.ask("c", "x")), parent=agent)
    outer = trace.tool("x", 3, 9, id="c", result="r", parent=agent)
    trace.tool("y", 4, 8, result="s", parent=outer)
    steps = trace.one()["steps"]
    assert [(s.get("llm_call_count"), trace.results(s)) for s in steps[1:]] == [(1, {"c": "r"}), (0, {"call_3_1": "s"})]


# ---- broken structure ----------------------------------------------------------------------------


def test_agents_nested_without_end_are_cut_into_trajectories_beside_each_other(trace: Any) -> None:
    """A chain of 400 agents below each other's tools neither fails nor is lost."""
    parent = None
    for level in range(400):
        agent = trace.agent(f"a{level}", level, 9999, parent=parent)
        trace.model(level, level + 1, [trace.user(f"q{level}")], trace.said("", trace.ask("c", "x")), parent=agent)
        parent = trace.tool("x", level + 1, 9999, id="c", parent=agent)
    folded = trace.fold()
    assert folded.report["totals"]["calls"] == {"agent": 400, "model": 400, "tool": 400}
    assert len(folded.documents) > 1


def test_a_subagent_of_a_tool_span_without_a_name_keeps_its_reference(trace: Any) -> None:
    """The span's name stands in for the tool's."""
    tool = trace.tool("", 1, 9, span_name="odd span")
    trace.model(2, 3, [trace.user("q")], trace.said("a"), parent=trace.agent("in", 2, 8, parent=tool))
    step = trace.one()["steps"][0]
    assert step["tool_calls"][0]["function_name"] == "odd span"


SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), max_size=8)


@given(SPANS)
@settings(deadline=None, database=None)
def test_a_piece_is_in_a_crowd_when_another_one_ran_at_its_time(times: list[tuple[int, int]]) -> None:
    """As comparing each with each tells; touching ends share no time."""
    pieces = [
        Piece((), agents=(AgentCall(("t", str(at)), None, "a", start, start + lasted, "test"),))
        for at, (start, lasted) in enumerate(times)
    ]
    wanted = {
        at
        for at, one in enumerate(pieces)
        for to, two in enumerate(pieces)
        if at != to and one.start_ns < two.end_ns and two.start_ns < one.end_ns
    }
    assert crowded(pieces) == wanted


def test_a_node_that_runs_what_another_node_asked_for_is_no_agent_of_its_own(trace: Any) -> None:
    """A graph's nodes are marked as agents: the tools belong to the model that asked for them, by their ids."""
    workflow = trace.agent("graph", 0, 99, workflow=True)
    first = trace.agent("agent", 1, 10, parent=workflow)
    asked = trace.said("", trace.ask("c", "x"))
    trace.model(2, 9, [trace.user("go")], asked, parent=first)
    node = trace.agent("tools", 11, 20, parent=workflow)
    trace.tool("x", 12, 19, id="c", result="r", parent=node)
    again = trace.agent("agent", 21, 30, parent=workflow)
    trace.model(22, 29, [trace.user("go"), asked, trace.gave("c", "r")], trace.said("done"), parent=again)
    document = trace.one()
    assert [text for _, text in trace.outline(document)] == ["go", "", "done"]
    assert trace.results(document["steps"][1]) == {"c": "r"}


def test_tools_that_tell_nothing_are_two_though_a_clock_of_milliseconds_gives_them_one_time(trace: Any) -> None:
    """With what they were given told, equal ones at one time are one span, exported twice."""
    agent = trace.agent("a", 0, 99)
    trace.tool("x", 2, 3, parent=agent)
    trace.tool("x", 2, 3, parent=agent)
    trace.tool("y", 4, 5, arguments={"a": 1}, parent=agent)
    trace.tool("y", 4, 5, arguments={"a": 1}, parent=agent)
    calls = [call["function_name"] for step in trace.one()["steps"] for call in step.get("tool_calls", ())]
    assert calls == ["x", "x", "y"]


def test_calls_beside_the_empty_span_of_their_agent_are_named_after_it(trace: Any) -> None:
    """Both stand below the tool that called the agent; the tool's name is for calls that no agent is told of."""
    boss = trace.agent("boss", 0, 99)
    asked = trace.said("", trace.ask("c", "ask", q="deep?"))
    trace.model(1, 9, [trace.user("go")], asked, parent=boss)
    tool = trace.tool("ask", 10, 50, id="c", result="deep!", parent=boss)
    trace.agent("helper", 11, 49, parent=tool)
    trace.model(12, 48, [trace.user("deep?")], trace.said("deep!"), parent=tool)
    trace.model(60, 70, [trace.user("go"), asked, trace.gave("c", "deep!")], trace.said("done"), parent=boss)
    assert [inner["agent"]["name"] for inner in trace.one()["subagent_trajectories"]] == ["helper"]


def test_a_tool_told_of_by_two_dialects_beside_each_other_is_one_call(trace: Any) -> None:
    """Within the other's time, of the same arguments; of one dialect, or with another result, they are two calls."""
    for more, calls in (({"dialect": "other"}, 2), ({}, 4), ({"dialect": "other", "result": "else"}, 4)):
        agent = trace.agent("a", 0, 99)
        asked = trace.said("", trace.ask("c1", "x", n=1), trace.ask("c2", "x", n=2))
        trace.model(1, 9, [trace.user("go")], asked, parent=agent)
        for n in (1, 2):
            trace.tool("x", 10 + n, 30 + n, id=f"c{n}", arguments={"n": n}, result="r", parent=agent)
            trace.tool("x", 15 + n, 25 + n, parent=agent, **{"arguments": {"n": n}, "result": '"r"', **more})
        steps = trace.one()["steps"]
        assert sum(len(step.get("tool_calls", ())) for step in steps) == calls
        trace.calls.clear()


@pytest.mark.parametrize("workflow", [False, True])
def test_a_title_is_asked_for_beside_the_conversation(trace: Any, workflow: bool) -> None:
    """By another model, of no history in common: a trajectory of its own, and no step of the conversation."""
    owner = trace.agent("a", 0, 99, workflow=workflow)
    trace.model(1, 3, [trace.user("A title for: go")], trace.said("Going"), parent=owner, model="small", system="T")
    asked = trace.said("", trace.ask("c", "x"))
    trace.model(2, 9, [trace.user("go")], asked, parent=owner, model="m", system="S")
    trace.tool("x", 10, 19, id="c", result="r", parent=owner)
    sent = [trace.user("go"), asked, trace.gave("c", "r")]
    trace.model(20, 29, sent, trace.said("done"), parent=owner, model="m", system="S")
    title, document = sorted((one.trajectory for one in trace.fold().documents), key=lambda found: len(found["steps"]))
    assert [text for source, text in trace.outline(document) if source in ("user", "agent")] == ["go", "", "done"]
    assert [text for source, text in trace.outline(title) if source == "agent"] == ["Going"]


@pytest.mark.parametrize("why", ["the same model", "what it said is sent on", "it asks for a tool", "no conversation"])
def test_a_call_of_another_prompt_may_be_a_step_of_the_work(trace: Any, why: str) -> None:
    """Then it stays where it is."""
    owner = trace.agent("a", 0, 99)
    plan = trace.said("the plan", *([trace.ask("p", "x")] if why == "it asks for a tool" else []))
    small = "m" if why == "the same model" else "small"
    trace.model(1, 3, [trace.user("plan it")], plan, parent=owner, model=small)
    go = trace.user("do the plan" if why == "what it said is sent on" else "go")
    trace.model(4, 9, [go], trace.said("one"), parent=owner, model="m")
    if why != "no conversation":
        trace.model(10, 19, [go, trace.said("one"), trace.user("on")], trace.said("two"), parent=owner, model="m")
    assert "subagent_trajectories" not in trace.one()


def test_one_id_of_two_histories_goes_with_its_arguments(trace: Any) -> None:
    """Two programs count their calls alike; each result goes to the call that has the span's arguments."""
    for at, order in ((0, 7), (1, 8)):
        first = [trace.user(f"Order {order}?")]
        asked = trace.said("", trace.ask("c1", "find", order=order))
        trace.model(at, at + 10, first, asked)
        trace.tool("find", at + 20, at + 30, id="c1", arguments={"order": order}, result=f"{order} found")
        trace.model(at + 40, at + 50, [*first, asked, trace.gave("c1", f"{order} found")], trace.said("Here."))
    documents = [one.trajectory for one in trace.fold().documents]
    assert [trace.results(one["steps"][1]) for one in documents] == [{"c1": "7 found"}, {"c1": "8 found"}]
