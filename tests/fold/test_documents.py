"""Documents: names, ids, totals, and what the report says of them."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atifold.calls import Failure, Media, Message, Reading, Text, Usage
from atifold.fold import fold


def test_names_come_from_the_run_and_the_trace_or_from_trace_and_span(trace: Any) -> None:
    """No chance and no clock is in them; what a file system dislikes is replaced."""
    run = trace.agent("a", 0, 9, run_id="../run 1:x")
    trace.model(1, 2, [trace.user("q")], trace.said("a"), parent=run)
    bare = trace.model(10, 11, [trace.user("r")], trace.said("b"), trace="c" * 32)
    names = [document.name for document in trace.fold().documents]
    assert names == ["_run_1_x-0af76519-dc3afd3b", f"{'c' * 32}-{bare.key[1]}"]


def test_subagents_of_one_run_id_are_told_apart_by_their_spans(trace: Any) -> None:
    """Members of a composition share its run id; every id in the tree is unique."""
    flow = trace.agent("flow", 0, 99, workflow=True, run_id="r")
    members = [trace.agent(name, 1, 50, parent=flow, run_id="r") for name in ("a", "b")]
    for member in members:
        trace.model(2, 3, [trace.user("q")], trace.said("x"), parent=member)
    document = trace.one()
    assert document["trajectory_id"] == "r-0af76519"
    assert [sub["trajectory_id"] for sub in document["subagent_trajectories"]] == [
        f"{member.key[0]}-{member.key[1]}" for member in members
    ]


@pytest.mark.parametrize(
    ("more", "session"),
    [({"conversation": "s-1", "run_id": "r"}, "s-1"), ({"run_id": "r"}, "r"), ({}, "0af7651916cd43dd8448eb211c80319c")],
)
def test_the_session_is_the_conversation_else_the_run_else_the_trace(
    trace: Any, more: dict[str, str], session: str
) -> None:
    """A subagent without a conversation of its own is of its parent's session."""
    boss = trace.agent("boss", 0, 99, **more)
    trace.model(1, 2, [trace.user("q")], trace.said("", trace.ask("d", "x")), parent=boss)
    tool = trace.tool("x", 3, 9, id="d", parent=boss)
    trace.model(4, 5, [trace.user("i")], trace.said("a"), parent=trace.agent("in", 4, 8, parent=tool))
    document = trace.one()
    assert document["session_id"] == session
    assert document["subagent_trajectories"][0]["session_id"] == session


def test_a_name_and_a_version_that_nothing_tells_are_unknown_and_reported(trace: Any) -> None:
    """The service's name and version come before that."""
    trace.model(0, 1, [trace.user("q")], trace.said("a"))
    folded = trace.fold()
    assert folded.documents[0].trajectory["agent"] == {"name": "unknown", "version": "unknown"}
    assert folded.documents[0].report["missing"] == [
        "no model call tells its tokens",
        "no span gives the agent's version",
        "no span names the agent",
    ]


def test_the_service_names_an_agent_that_no_span_names(trace: Any) -> None:
    """The resource is the last to be asked."""
    trace.model(0, 1, [trace.user("q")], trace.said("a"), service="shop", service_version="3.1")
    assert trace.one()["agent"] == {"name": "shop", "version": "3.1"}


def delegated(trace: Any, *, inner_cost: float | None, outer_cost: float | None) -> dict[str, Any]:
    """Fold an agent and its subagent, each with one priced or unpriced call; return the totals."""
    boss = trace.agent("boss", 0, 99)
    asked = trace.said("", trace.ask("d", "x"))
    trace.model(1, 2, [trace.user("q")], asked, parent=boss, usage=Usage(10, 1), cost_usd=outer_cost)
    tool = trace.tool("x", 3, 9, id="d", parent=boss, result="r")
    inner = trace.agent("in", 4, 8, parent=tool)
    trace.model(4, 5, [trace.user("i")], trace.said("r"), parent=inner, usage=Usage(20, 2), cost_usd=inner_cost)
    return dict(trace.one()["final_metrics"])


def test_total_cost_includes_subagents_and_total_tokens_do_not(trace: Any) -> None:
    """Tokens are the document's own; money is what the whole cost."""
    totals = delegated(trace, inner_cost=0.0246, outer_cost=0.0123)
    assert totals["total_cost_usd"] == pytest.approx(0.0369)
    assert totals["total_prompt_tokens"] == 10


@pytest.mark.parametrize(("inner", "outer"), [(None, 0.1), (0.1, None)])
def test_no_partial_sum_of_cost(trace: Any, inner: float | None, outer: float | None) -> None:
    """One call with tokens and no cost leaves the total unknown, and the report says so."""
    totals = delegated(trace, inner_cost=inner, outer_cost=outer)
    assert "total_cost_usd" not in totals
    assert "total cost" in repr(trace.fold().report)


def test_tool_definitions_of_every_shape_become_functions_once(trace: Any) -> None:
    """OpenAI, Responses, Anthropic, Gemini, Bedrock and JSON text."""
    schema = {"type": "object", "properties": {}}
    tools = (
        {"type": "function", "function": {"name": "a", "description": "A", "parameters": schema}},
        {"type": "function", "name": "b", "parameters": schema, "strict": True},
        {"name": "c", "input_schema": schema},
        {"function_declarations": [{"name": "d"}]},
        {"toolSpec": {"name": "e", "inputSchema": {"json": schema}}},
        '{"name": "f"}',
        {"name": "a", "description": "again"},
        {"type": "web_search"},
    )
    trace.model(0, 1, [trace.user("q")], trace.said("a"), tools=tools)
    folded = trace.fold()
    functions = [t["function"] for t in folded.documents[0].trajectory["agent"]["tool_definitions"]]
    assert [f["name"] for f in functions] == ["a", "b", "c", "d", "e", "f"]
    assert functions[0] == {"name": "a", "description": "A", "parameters": schema}
    assert functions[4] == {"name": "e", "parameters": schema}
    assert folded.documents[0].report["left_out"] == ["a tool definition that has no name"]


def test_facts_of_the_agent_and_its_failure_stand_in_extra(trace: Any) -> None:
    """What the calls carry under `extra` is kept as it is."""
    agent = trace.agent("a", 0, 9, extra={"agentfootprint.turn.stopped_early": "cost"}, failure=Failure("Halt"))
    trace.model(1, 2, [trace.user("q")], trace.said("a"), parent=agent, extra={"k": 0}, provider="p")
    document = trace.one()
    assert document["extra"]["agentfootprint.turn.stopped_early"] == "cost"
    assert document["extra"]["error"] == {"type": "Halt"}
    assert document["steps"][-1]["extra"] == {"provider": "p", "k": 0}


def test_an_image_with_an_address_is_a_part_and_inline_data_is_named_and_reported(trace: Any) -> None:
    """ATIF holds files and addresses only; the text stays the text."""
    picture = Media("image", "image/png", uri="https://x.example/a.png")
    inline = Media("image", "image/png", data="aGk=")
    first = Message("user", (Text("Look:"), picture))
    trace.model(0, 1, [first], trace.said("a"))
    trace.model(2, 3, [first, trace.said("a"), Message("user", (Text("And?"), inline))], trace.said("b"))
    folded = trace.fold()
    steps = folded.documents[0].trajectory["steps"]
    assert steps[0]["message"] == [
        {"type": "text", "text": "Look:"},
        {"type": "image", "source": {"media_type": "image/png", "path": "https://x.example/a.png"}},
    ]
    assert (steps[2]["message"], steps[2]["extra"]) == (
        "And?",
        {"media": [{"modality": "image", "mime_type": "image/png"}]},
    )
    assert "image data" in repr(folded.documents[0].report["left_out"])


def test_a_step_never_goes_back_behind_the_one_before_it(trace: Any) -> None:
    """History says which call came first, the clock says otherwise: its own time is kept in `extra`."""
    agent, first = trace.agent("a", 0, 99), [trace.user("q")]
    trace.model(20, 21, first, trace.said("1"), parent=agent)
    trace.model(10, 11, [*first, trace.said("1"), trace.user("r")], trace.said("2"), parent=agent)
    steps = trace.one()["steps"]
    assert [s["message"] for s in steps] == ["q", "1", "r", "2"]
    assert steps[3]["timestamp"] == steps[1]["timestamp"]
    assert steps[3]["extra"]["atifold"]["time"] == "2026-05-28T20:26:40.010000Z"


def test_times_are_floored_to_the_microsecond(trace: Any) -> None:
    """So that nanosecond and microsecond containers give the same bytes."""
    trace.model(0.000999, 1, [trace.user("q")], trace.said("a"))
    assert trace.one()["steps"][0]["timestamp"] == "2026-05-28T20:26:40.000000Z"


def test_calls_that_start_together_are_ordered_by_history_then_by_sequence(trace: Any) -> None:
    """All spans share one time; the answer in the request tells which came first."""
    agent, first = trace.agent("a", 0, 0), [trace.user("q")]
    trace.model(0, 0, [*first, trace.said("1"), trace.user("r")], trace.said("2"), parent=agent)
    trace.model(0, 0, first, trace.said("1"), parent=agent)
    trace.agent("b", 0, 0, trace="d" * 32)
    other = trace.calls[-1]
    trace.model(0, 0, parent=other, trace="d" * 32, sequence=2, model="late")
    trace.model(0, 0, parent=other, trace="d" * 32, sequence=1, model="early")
    documents = [document.trajectory for document in trace.fold().documents]
    assert [s["message"] for s in documents[0]["steps"]] == ["q", "1", "r", "2"]
    assert documents[1]["agent"]["model_name"] == "early"


def test_a_lone_surrogate_becomes_the_replacement_character(trace: Any) -> None:
    """Every document can be written as UTF-8."""
    trace.model(0, 1, [trace.user("q\ud83d")], trace.said("a"))
    assert orjson.loads(orjson.dumps(trace.one()))["steps"][0]["message"] == "q\ufffd"


def test_the_whole_report_counts_what_was_read_and_what_was_not(loop: Any) -> None:
    """Documents' reports stand inside it, with what the reading itself had to say."""
    reading = Reading(tuple(loop.calls), {"http span": 3}, {"test": 4}, ("a note",), {"odd.key": 2})
    report = fold(reading).report
    assert report["totals"] == {"documents": 1, "calls": {"agent": 1, "model": 2, "tool": 1}, "ignored_spans": 3}
    assert (report["ignored"], report["notes"]) == ({"http span": 3}, ["a note"])
    assert report["unknown_keys"] == {"odd.key": 2}
    assert report["documents"][0]["dialects"] == {"test": 4}
    assert orjson.loads(orjson.dumps(report)) == report


def test_no_report_holds_content(trace: Any) -> None:
    """A marker in every text of a trace is in the document and not in the report."""
    marker = "ZQ7"
    agent = trace.agent("a", 0, 99)
    asked = trace.said(marker, trace.ask(None, "x", q=marker))
    trace.model(1, 2, [trace.user(marker)], asked, parent=agent, failure=Failure("E", marker))
    trace.tool("x", 3, 4, arguments={"q": marker}, result=marker, failure=Failure("E", marker), parent=agent)
    folded = trace.fold()
    assert marker in repr(folded.documents[0].trajectory)
    assert marker not in repr(folded.report)


def test_bad_structure_never_fails(trace: Any) -> None:
    """Parents in a ring, an agent that resumes itself, a call below itself: folded all the same."""
    one, two = ("e" * 32, "1" * 16), ("e" * 32, "2" * 16)
    trace.agent("a", 0, 9, trace=one[0], span=one[1], parent=two, resumes=one)
    trace.agent("b", 0, 9, trace=two[0], span=two[1], parent=one, resumes=two)
    trace.model(1, 2, [trace.user("q")], trace.said("a"), trace=one[0], span="3" * 16, parent=(one[0], "3" * 16))
    trace.model(3, 4, [trace.user("z")], trace.said("b"), trace=one[0], span="4" * 16, parent=one)
    messages = sorted(s["message"] for d in trace.fold().documents for s in _all_steps(d.trajectory))
    assert [m for m in messages if m] == ["a", "b", "q", "z"]


def _all_steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a document and of all that it embeds."""
    below = [step for sub in document.get("subagent_trajectories", ()) for step in _all_steps(sub)]
    return [*document["steps"], *below]


# ---- order and duplication -----------------------------------------------------------------------


def busy(trace: Any) -> None:
    """Make a trace with parallel tools, a subagent, a hand-off, orphans and equal times."""
    boss = trace.agent("boss", 0, 100, run_id="r")
    first = [trace.user("do")]
    asked = trace.said("", trace.ask("d", "delegate", task="t"), trace.ask(None, "look", n=1), trace.ask(None, "look"))
    trace.model(1, 2, first, asked, parent=boss, usage=Usage(5, 1), cost_usd=0.1)
    tool = trace.tool("delegate", 3, 50, parent=boss, id="d", result="answer")
    trace.tool("look", 3, 50, parent=boss, arguments={"n": 1}, result="one")
    trace.tool("look", 3, 50, parent=boss, result="two")
    inner = trace.agent("worker", 4, 49, parent=tool)
    trace.model(4, 4, [trace.user("t")], trace.said("answer"), parent=inner)
    trace.model(4, 4, [trace.user("t"), trace.said("answer"), trace.user("u")], trace.said("v"), parent=inner)
    history = [*first, asked, trace.gave("d", "answer"), trace.gave(None, "one"), trace.gave(None, "two")]
    trace.model(60, 61, history, trace.said("Done."), parent=boss)
    trace.tool("cron", 70, 71, parent=boss, result="ran")
    trace.model(5, 6, [trace.user("title?")], trace.said("T"), orphan=True)
    trace.model(5, 6, orphan=True)


def canonical(calls: Any) -> bytes:
    """Return everything that a fold gives, as bytes."""
    folded = fold(Reading(tuple(calls)))
    return orjson.dumps([[d.name, d.trajectory, d.report] for d in folded.documents] + [folded.report])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.randoms(use_true_random=False), twice=st.booleans())
def test_order_and_repetition_of_the_input_change_nothing(trace: Any, seed: random.Random, twice: bool) -> None:
    """Shuffled or doubled calls give the same bytes."""
    trace.calls.clear()
    trace._spans = 0
    busy(trace)
    expected = canonical(trace.calls)
    shuffled = list(trace.calls) * (2 if twice else 1)
    seed.shuffle(shuffled)
    assert canonical(shuffled) == expected
    trace.fold()


def test_changing_a_documents_arguments_does_not_change_the_next_fold(loop: Any) -> None:
    """A call's arguments are copied, not lent."""
    first = loop.one()
    first["steps"][1]["tool_calls"][0]["arguments"]["city"] = "Rome"
    assert loop.one()["steps"][1]["tool_calls"][0]["arguments"] == {"city": "Paris"}


def test_a_run_of_many_steps_costs_what_its_news_cost(trace: Any) -> None:
    """Histories of 400 turns are recognised without comparing them whole: few messages are looked at."""
    looked = 0

    class Counted(Message):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal looked
            looked += 1
            return Message.__eq__(self, other)

        __hash__ = None  # type: ignore[assignment]

    agent, history = trace.agent("a", 0, 9999), []
    for turn in range(400):
        history += [Counted("user", (Text(f"q{turn}"),))]
        trace.model(2 * turn, 2 * turn + 1, history, trace.said(f"a{turn}"), parent=agent)
        history += [Counted("assistant", (Text(f"a{turn}"),))]
    assert len(trace.one()["steps"]) == 800
    assert looked < 4000
