"""Which traces are one conversation, and what is said of it."""

from __future__ import annotations

from typing import Any

from atifold.calls import Message, Usage
from atifold.fold.groups import DOUBTFUL, JOINED, group_by_conversation
from atifold.spans import Link

NAMES = [f"{n:032x}" for n in range(1, 9)]


def turn(trace: Any, number: int, at: float, said: list[tuple[str, str]], answer: str, **more: Any) -> None:
    """Add a trace of one agent's one call: `said` are (question, answer) pairs, the last one's answer open."""
    name = NAMES[number]
    sent: list[Message] = []
    for question, answered in said:
        sent += [trace.user(question), *([trace.said(answered)] if answered else [])]
    agent = trace.agent("a", at, at + 9, trace=name, **more)
    trace.model(at + 1, at + 8, sent, trace.said(answer), parent=agent, trace=name, system="S", **more)


def traces_of(folded: Any) -> list[list[str]]:
    """Return the traces of each document, in their order."""
    return [[str(NAMES.index(i)) for i in document.trace_ids] for document in folded.documents]


def words(folded: Any, heading: str) -> list[str]:
    """Return all words of the documents' reports under a heading."""
    return [word for document in folded.documents for word in document.report.get(heading, ())]


def test_turns_that_name_nothing_are_joined_by_their_messages(trace: Any) -> None:
    """One after the other, though the model says the same each time; the report says that it was concluded."""
    turn(trace, 0, 0, [("one", "")], "ok")
    turn(trace, 1, 100, [("one", "ok"), ("two", "")], "ok")
    turn(trace, 2, 200, [("one", "ok"), ("two", "ok"), ("three", "")], "ok")
    folded = trace.fold(group="conversation")
    assert traces_of(folded) == [["0", "1", "2"]]
    assert words(folded, "inferred") == [f"{JOINED} (2 times)"]
    document = folded.documents[0].trajectory
    assert [message for source, message in trace.outline(document) if source == "user"] == ["one", "two", "three"]
    assert not any(step.get("is_copied_context") for step in document["steps"])


def test_a_trace_that_could_carry_on_two_others_stays_alone(trace: Any) -> None:
    """And the report says so, of that one only."""
    turn(trace, 0, 0, [("one", "")], "ok")
    turn(trace, 1, 50, [("one", "")], "ok")
    turn(trace, 2, 100, [("one", "ok"), ("two", "")], "fine")
    folded = trace.fold(group="conversation")
    assert traces_of(folded) == [["0"], ["1"], ["2"]]
    assert [document.report.get("unsure") for document in folded.documents] == [None, None, [DOUBTFUL]]


def test_two_traces_that_carry_on_one_stay_apart(trace: Any) -> None:
    """A question was asked again: no history holds both answers."""
    turn(trace, 0, 0, [("one", "")], "ok")
    turn(trace, 1, 100, [("one", "ok"), ("two", "")], "fine")
    turn(trace, 2, 200, [("one", "ok"), ("two!", "")], "good")
    folded = trace.fold(group="conversation")
    assert traces_of(folded) == [["0"], ["1"], ["2"]]
    assert words(folded, "unsure") == [DOUBTFUL, DOUBTFUL]


def test_other_instructions_or_another_question_are_another_conversation(trace: Any) -> None:
    """An equal answer proves nothing."""
    turn(trace, 0, 0, [("one", "")], "ok")
    turn(trace, 1, 100, [("won", "ok"), ("two", "")], "fine")
    folded = trace.fold(group="conversation")
    assert traces_of(folded) == [["0"], ["1"]]
    assert words(folded, "unsure") == []


def test_a_trace_that_began_before_the_other_s_end_does_not_carry_it_on(trace: Any) -> None:
    """Whatever it says."""
    turn(trace, 0, 100, [("one", "")], "ok")
    turn(trace, 1, 0, [("one", "ok"), ("two", "")], "fine")
    assert len(trace.fold(group="conversation").documents) == 2


def test_a_turn_without_an_id_goes_to_the_conversation_that_it_carries_on(trace: Any) -> None:
    """Before or after the turns that name it."""
    turn(trace, 0, 0, [("one", "")], "ok")
    turn(trace, 1, 100, [("one", "ok"), ("two", "")], "fine", conversation="c")
    turn(trace, 2, 200, [("one", "ok"), ("two", "fine"), ("three", "")], "good")
    folded = trace.fold(group="conversation")
    assert traces_of(folded) == [["0", "1", "2"]]
    assert folded.documents[0].trajectory["session_id"] == "c"


def test_two_conversations_that_are_named_stay_apart(trace: Any) -> None:
    """Though the second repeats the first: somebody took the history along into a session of its own."""
    turn(trace, 0, 0, [("one", "")], "ok", conversation="c")
    turn(trace, 1, 100, [("one", "ok"), ("two", "")], "fine", conversation="d")
    folded = trace.fold(group="conversation")
    assert traces_of(folded) == [["0"], ["1"]]
    assert words(folded, "unsure") == []


def test_a_result_that_comes_with_the_next_request_stands_on_the_call(trace: Any) -> None:
    """Nothing names a conversation; each model call is a trace of its own."""
    asked = trace.said("", trace.ask("c1", "look", at="x"))
    trace.model(0, 5, [trace.user("q")], asked, trace=NAMES[0])
    trace.model(10, 15, [trace.user("q"), asked, trace.gave("c1", "seen")], trace.said("done"), trace=NAMES[1])
    document = trace.one(group="conversation")
    assert trace.outline(document) == [("user", "q"), ("agent", ""), ("agent", "done")]
    assert trace.results(document["steps"][1]) == {"c1": "seen"}


def test_agents_of_two_conversations_in_one_trace_go_to_their_own(trace: Any) -> None:
    """A batch serves two sessions; by trace they are documents of their own too."""
    turn(trace, 0, 0, [("one", "")], "ok", conversation="c")
    turn(trace, 1, 20, [("one", "")], "ok", conversation="d")
    turn(trace, 2, 100, [("one", "ok"), ("two", "")], "fine", conversation="c")
    turn(trace, 2, 105, [("one", "ok"), ("three", "")], "good", conversation="d")
    assert traces_of(trace.fold(group="conversation")) == [["0", "2"], ["1", "2"]]
    assert traces_of(trace.fold()) == [["0"], ["1"], ["2"], ["2"]]


def test_by_trace_a_document_names_the_file_that_carries_it_on(trace: Any) -> None:
    """Where documents lie in a folder: in the chain of one conversation only."""
    turn(trace, 0, 0, [("one", "")], "ok", conversation="c")
    turn(trace, 1, 50, [("uno", "")], "ok", conversation="d")
    turn(trace, 2, 100, [("one", "ok"), ("two", "")], "fine", conversation="c")
    turn(trace, 3, 200, [("one", "ok"), ("two", "fine"), ("three", "")], "good", conversation="c")
    found = trace.fold(files=True).documents
    names = [f"{document.name}.json" for document in found]
    assert [d.trajectory.get("continued_trajectory_ref") for d in found] == [names[2], None, names[3], None]
    assert not any("continued_trajectory_ref" in d.trajectory for d in trace.fold().documents)
    assert not any(
        "continued_trajectory_ref" in d.trajectory for d in trace.fold(files=True, group="conversation").documents
    )


def test_runs_of_one_session_at_one_time_do_not_carry_each_other_on(trace: Any) -> None:
    """They share an id and no history."""
    turn(trace, 0, 0, [("one", "")], "ok", conversation="c")
    turn(trace, 1, 5, [("uno", "")], "bien", conversation="c")
    assert not any("continued_trajectory_ref" in d.trajectory for d in trace.fold(files=True).documents)


def test_very_many_runs_that_say_the_same_stay_apart(trace: Any) -> None:
    """None of those that go on is plain; looking at two candidates is enough to tell."""
    for n in range(4000):
        sent = [trace.user("hi"), *([trace.said("ok"), trace.user("go on")] if n % 2 else [])]
        trace.model(n, n + 0.5, sent, trace.said("ok"), trace=f"{n:032x}")
    groups = group_by_conversation(trace.calls)
    assert not groups.join
    assert set(groups.words.values()) == {("unsure", DOUBTFUL)}
    assert len(groups.words) == 2000


def test_a_stray_tool_goes_to_the_group_that_ran_at_its_time(trace: Any) -> None:
    """Two sessions asked under one id; a tool that ran at neither's time stays alone."""
    for number, at in ((0, 0), (1, 100)):
        asked = trace.said("", trace.ask("c", "x"))
        trace.model(at, at + 2, [trace.user("go")], asked, trace=NAMES[number], conversation=f"s{number}")
        sent = [trace.user("go"), asked, trace.gave("c", None)]
        trace.model(at + 8, at + 9, sent, trace.said("done"), trace=NAMES[number], conversation=f"s{number}")
    trace.tool("x", 104, 105, id="c", result="second", trace=NAMES[2])
    first, second = trace.fold(group="conversation").documents
    assert trace.results(second.trajectory["steps"][1]) == {"c": "second"}
    assert trace.results(first.trajectory["steps"][1]) != {"c": "second"}
    trace.tool("x", 300, 301, id="c", result="late", trace=NAMES[3])
    assert len(trace.fold(group="conversation").documents) == 3


def linked_trace(trace: Any, at: float, until: float, **more: Any) -> Any:
    """Add a run whose tool starts another one, in a trace of its own; return what its agent is linked to."""
    agent = trace.agent("boss", 0, 99)
    asked = trace.said("", trace.ask("c", "run", q="deep?"))
    trace.model(1, 9, [trace.user("go")], asked, parent=agent)
    tool = trace.tool("run", 10, 50, id="c", result="deep!", parent=agent)
    trace.model(60, 70, [trace.user("go"), asked, trace.gave("c", "deep!")], trace.said("done"), parent=agent)
    link = Link(tool.key[0], tool.key[1])
    inner = trace.agent("helper", at, until, trace=NAMES[1], links=(link,), **more)
    trace.model(at, until, [trace.user("deep?")], trace.said("deep!"), parent=inner, trace=NAMES[1])
    return trace


def test_a_trace_that_ran_within_the_call_it_is_linked_to_is_below_it(trace: Any) -> None:
    """A subprocess knows its caller by a link alone; by trace it stays apart, and a later turn is no subagent."""
    folded = linked_trace(trace, 20, 40).fold(group="conversation")
    (document,) = [each.trajectory for each in folded.documents]
    assert [inner["agent"]["name"] for inner in document["subagent_trajectories"]] == ["helper"]
    assert len(trace.fold().documents) == 2
    trace.calls.clear()
    later = linked_trace(trace, 200, 240).fold(group="conversation").documents
    assert not any("subagent_trajectories" in each.trajectory for each in later)


def test_a_gateway_that_tells_of_a_call_again_adds_none(trace: Any) -> None:
    """Its trace is linked to the client's call: the same answer and the same usage. Another answer is another call."""
    for text, calls in (("ho", 1), ("else", 2)):
        usage = Usage(prompt=10, completion=5)
        client = trace.model(1, 9, [trace.user("hi")], trace.said("ho"), usage=usage)
        link = Link(client.key[0], client.key[1])
        trace.model(2, 8, [trace.user("hi")], trace.said(text), usage=usage, trace=NAMES[1], links=(link,))
        steps = [s for d in trace.fold(group="conversation").documents for s in d.trajectory["steps"]]
        assert sum(step["source"] == "agent" for step in steps) == calls
        trace.calls.clear()
