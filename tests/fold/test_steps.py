"""Steps: one per inference, replayed history recognised, results where they were asked for."""

from __future__ import annotations

from typing import Any

import pytest

from atifold.calls import Attempt, Failure, Message, Reasoning, Text, ToolRequest, ToolResponse, Usage


def test_one_agent_step_per_model_call_and_no_step_for_replayed_history(loop: Any) -> None:
    """The second request repeats user, answer and result: none of them is a step again."""
    document = loop.one()
    assert loop.outline(document) == [("user", "weather?"), ("agent", "Looking."), ("agent", "18C.")]
    assert [step.get("llm_call_count") for step in document["steps"]] == [None, 1, 1]


def test_the_documents_keys_stand_in_the_formats_order(loop: Any) -> None:
    """Readers and diffs see head, steps, totals, subagents and extra in one order."""
    document = loop.one()
    assert list(document) == [
        "schema_version",
        "session_id",
        "trajectory_id",
        "agent",
        "steps",
        "final_metrics",
        "extra",
    ]
    assert document["schema_version"] == "ATIF-v1.7"
    assert document["agent"] == {"name": "helper", "version": "2", "model_name": "m-1"}


def test_a_tools_span_its_request_and_its_replay_are_one_call(loop: Any) -> None:
    """Three tellings of one call give one tool call with one result."""
    step = loop.one()["steps"][1]
    assert step["tool_calls"] == [
        {"tool_call_id": "c1", "function_name": "get_weather", "arguments": {"city": "Paris"}}
    ]
    assert step["observation"] == {"results": [{"source_call_id": "c1", "content": "18C"}]}


def test_a_model_name_stands_on_a_step_only_where_it_differs(trace: Any) -> None:
    """The agent's model is not repeated on its steps."""
    agent = trace.agent("a", 0, 9)
    trace.model(1, 2, [trace.user("q")], trace.said("x"), parent=agent, model="big")
    trace.model(3, 4, [trace.user("q"), trace.said("x"), trace.user("r")], trace.said("y"), parent=agent, model="small")
    steps = trace.one()["steps"]
    assert [step.get("model_name") for step in steps] == [None, None, None, "small"]


def test_results_stand_in_the_order_of_the_calls_not_of_their_ends(trace: Any) -> None:
    """A quick second tool does not come before a slow first one."""
    asked = trace.said("", trace.ask("p1", "slow"), trace.ask("p2", "fast"))
    trace.model(0, 1, [trace.user("go")], asked)
    trace.tool("fast", 2, 3, id="p2", result="F")
    trace.tool("slow", 2, 9, id="p1", result="S")
    step = trace.one()["steps"][-1]
    assert list(trace.results(step).items()) == [("p1", "S"), ("p2", "F")]


def test_ids_that_come_back_in_a_later_step_are_matched_inside_their_step(trace: Any) -> None:
    """Every step asks `c1`; each keeps its own result."""
    history = [trace.user("go")]
    for turn in range(3):
        asked = trace.said(f"try {turn}", trace.ask("c1", "look", n=1))
        trace.model(10 * turn, 10 * turn + 1, history, asked)
        trace.tool("look", 10 * turn + 2, 10 * turn + 3, id="c1", arguments={"n": 1}, result=f"r{turn}")
        history = [*history, asked, trace.gave("c1", f"r{turn}")]
    steps = trace.one()["steps"][1:]
    assert [trace.results(step) for step in steps] == [{"c1": "r0"}, {"c1": "r1"}, {"c1": "r2"}]


def test_an_id_that_comes_back_after_a_pause_has_its_own_result(trace: Any) -> None:
    """The end of a call that waited comes in a later leg: it is no span of the next call of that id."""
    agent = trace.agent("a", 0, 10, paused=True)
    leg = trace.agent("a", 100, 110, trace="b" * 32, resumes=agent.key, paused=True)
    last = trace.agent("a", 200, 220, trace="c" * 32, resumes=leg.key)
    history, asked = [trace.user("go")], trace.said("", trace.ask("a1", "ask_boss", q="x"))
    trace.model(1, 2, list(history), asked, parent=agent)
    trace.tool("ask_boss", 3, 4, id="a1", arguments={"q": "x"}, parent=agent, paused=True)
    trace.tool("ask_boss", 100, 101, id="a1", result="y1", parent=leg, trace="b" * 32)
    history += [asked, trace.gave("a1", "y1")]
    trace.model(102, 103, list(history), asked, parent=leg, trace="b" * 32)
    trace.tool("ask_boss", 104, 105, id="a1", arguments={"q": "x"}, parent=leg, trace="b" * 32, paused=True)
    trace.tool("ask_boss", 200, 201, id="a1", result="y2", parent=last, trace="c" * 32)
    trace.model(202, 203, [*history, asked, trace.gave("a1", "y2")], trace.said("fin"), parent=last, trace="c" * 32)
    assert [trace.results(step) for step in trace.one()["steps"]] == [{}, {"a1": "y1"}, {"a1": "y2"}, {}]


@pytest.mark.parametrize("call_id", ["x", None], ids=["the same id", "no id"])
def test_calls_of_one_step_with_one_id_are_told_apart_by_their_arguments(trace: Any, call_id: str | None) -> None:
    """Whichever ran first: each has its own arguments and result, and there is no call beside them."""
    agent = trace.agent("a", 0, 99)
    asked = trace.said("", trace.ask(call_id, "look", c=1), trace.ask(call_id, "look", c=2))
    trace.model(1, 2, [trace.user("q")], asked, parent=agent)
    for at, c in ((3, 2), (5, 1)):
        trace.tool("look", at, at + 1, id=call_id, arguments={"c": c}, result=f"r{c}", parent=agent)
    step = trace.one()["steps"][1]
    assert [call["arguments"] for call in step["tool_calls"]] == [{"c": 1}, {"c": 2}]
    assert list(trace.results(step).values()) == ["r1", "r2"]


def test_two_parallel_calls_of_one_tool_are_not_swapped_when_no_span_has_an_id(trace: Any) -> None:
    """The spans come in the other order; arguments, or a lone argument's value, tell them apart."""
    asked = trace.said("", trace.ask("a", "weather", city="Paris"), trace.ask("b", "weather", city="Berlin"))
    trace.model(0, 1, [trace.user("go")], asked)
    trace.tool("weather", 2, 3, arguments="Berlin", result="12C")
    trace.tool("weather", 4, 5, arguments={"city": "Paris"}, result="18C")
    assert trace.results(trace.one()["steps"][-1]) == {"a": "18C", "b": "12C"}


def test_a_span_without_id_and_arguments_is_known_by_the_result_that_the_next_request_shows(trace: Any) -> None:
    """Its own result equals the replayed result of the second call."""
    asked = trace.said("", trace.ask("a", "weather", city="Paris"), trace.ask("b", "weather", city="Berlin"))
    first = [trace.user("go")]
    trace.model(0, 1, first, asked)
    trace.tool("weather", 2, 3, result="12C", failure=Failure("Late"))
    trace.tool("weather", 4, 5, result="18C")
    trace.model(6, 7, [*first, asked, trace.gave("a", "18C"), trace.gave("b", "12C")], trace.said("done"))
    results = trace.one()["steps"][1]["observation"]["results"]
    assert [(r["content"], "extra" in r) for r in results] == [("18C", False), ("12C", True)]


def test_ids_that_differ_on_both_sides_do_not_make_two_calls(trace: Any) -> None:
    """The message's id and the span's id are made by different layers; name and arguments agree."""
    trace.model(0, 1, [trace.user("go")], trace.said("", trace.ask("find_0", "find", id=7)))
    trace.tool("find", 2, 3, id="adk-123", arguments={"id": 7}, result="packed")
    step = trace.one()["steps"][-1]
    assert [call["tool_call_id"] for call in step["tool_calls"]] == ["find_0"]
    assert trace.results(step) == {"find_0": "packed"}


@pytest.mark.parametrize("span_id", ["fc_call_9", "call_9", "fc_9"])
def test_prefixes_of_an_id_do_not_make_another_call(trace: Any, span_id: str) -> None:
    """`fc_call_9` and `call_9` are the same id."""
    trace.model(0, 1, [trace.user("go")], trace.said("", ToolRequest("call_9", "find")))
    trace.tool("find", 2, 3, id=span_id, arguments={"id": 7}, result="packed")
    step = trace.one()["steps"][-1]
    assert step["tool_calls"] == [{"tool_call_id": "call_9", "function_name": "find", "arguments": {"id": 7}}]


def test_a_call_without_any_id_gets_one_from_its_place_and_the_report_says_so(trace: Any) -> None:
    """The made-up id is the same whenever the trace is folded."""
    first, asked = [trace.user("go")], trace.said("", trace.ask(None, "find"), trace.ask(None, "find"))
    trace.model(0, 1, first, asked)
    trace.model(2, 3, [*first, asked, trace.gave(None, "x"), trace.gave(None, "y")], trace.said("done"))
    folded = trace.fold()
    assert trace.results(folded.documents[0].trajectory["steps"][1]) == {"call_2_1": "x", "call_2_2": "y"}
    assert "the id of a tool call is made up" in repr(folded.documents[0].report["inferred"])


def test_a_call_that_was_asked_and_never_ran_has_no_result(trace: Any) -> None:
    """No empty result is invented."""
    trace.model(0, 1, [trace.user("go")], trace.said("", trace.ask("a", "x"), trace.ask("b", "y")))
    trace.tool("x", 2, 3, id="a", result="ok")
    assert trace.results(trace.one()["steps"][-1]) == {"a": "ok"}


def test_a_placeholder_loses_against_the_result_that_the_model_was_shown(trace: Any) -> None:
    """The span could not write the result; the next request has it."""
    first, asked = [trace.user("go")], trace.said("", trace.ask("a", "x"))
    trace.model(0, 1, first, asked)
    trace.tool("x", 2, 3, id="a", result="<not serializable>")
    trace.model(4, 5, [*first, asked, trace.gave("a", "true result")], trace.said("done"))
    assert trace.results(trace.one()["steps"][1]) == {"a": "true result"}


def test_a_tools_own_result_wins_over_what_the_model_was_shown(trace: Any) -> None:
    """Frameworks wrap and cut results for the model."""
    first, asked = [trace.user("go")], trace.said("", trace.ask("a", "x"))
    trace.model(0, 1, first, asked)
    trace.tool("x", 2, 3, id="a", result={"b": 1, "a": [2]})
    trace.model(4, 5, [*first, asked, trace.gave("a", "{'b': 1}")], trace.said("done"))
    assert trace.results(trace.one()["steps"][1]) == {"a": '{"b":1,"a":[2]}'}


def test_a_failed_tool_keeps_its_text_and_is_marked(trace: Any) -> None:
    """The error's text is what the model saw; the mark stands beside it."""
    trace.model(0, 1, [trace.user("go")], trace.said("", trace.ask("a", "db"), trace.ask("b", "db2")))
    trace.tool("db", 2, 3, id="a", result="refused", failure=Failure("ConnectionError", "refused"))
    trace.tool("db2", 4, 5, id="b", failure=Failure("TimeoutError", "too late"))
    results = trace.one()["steps"][-1]["observation"]["results"]
    assert results == [
        {"source_call_id": "a", "content": "refused", "extra": {"is_error": True, "error_type": "ConnectionError"}},
        {"source_call_id": "b", "content": "too late", "extra": {"is_error": True, "error_type": "TimeoutError"}},
    ]


def test_a_failed_tool_without_any_text_is_marked_on_the_call(trace: Any) -> None:
    """Without captured content there is no result to mark."""
    trace.model(0, 1)
    trace.tool("db", 2, 3, id="a", failure=Failure("ConnectionError"))
    step = trace.one()["steps"][-1]
    assert step["tool_calls"][0]["extra"] == {"is_error": True, "error_type": "ConnectionError"}
    assert "observation" not in step


def test_a_failed_inference_asks_for_nothing_that_its_history_repeats(trace: Any) -> None:
    """A retry sends the same history, whose calls stay those of the step that asked."""
    agent = trace.agent("a", 0, 100)
    sent = [trace.user("go")]
    asked = trace.said("", trace.ask("c1", "f", n=1))
    trace.model(1, 2, sent, asked, parent=agent)
    later = [*sent, asked, trace.gave("c1", "r")]
    trace.model(3, 4, later, parent=agent, failure=Failure("timeout"))
    trace.model(5, 6, later, trace.said("done"), parent=agent)
    document = trace.one()
    assert [len(step.get("tool_calls", ())) for step in document["steps"]] == [0, 1, 0, 0]
    assert trace.results(document["steps"][1]) == {"c1": "r"}


@pytest.mark.parametrize("dispatch", ["refused", "not_dispatched"])
def test_a_call_that_was_not_run_is_no_failure(trace: Any, dispatch: str) -> None:
    """What kept it from running stands in `extra`."""
    trace.model(0, 1, [trace.user("go")], trace.said("", trace.ask("a", "rm")))
    trace.tool("rm", 2, 3, id="a", dispatch=dispatch, failure=Failure("Refused"))
    assert trace.one()["steps"][-1]["tool_calls"][0]["extra"] == {"atifold": {"dispatch": dispatch}}


def test_a_tool_that_no_model_asked_for_is_a_step_without_inference(trace: Any) -> None:
    """The captured output shows that it did not ask."""
    trace.model(0, 1, [trace.user("go")], trace.said("I will not call."))
    trace.tool("cron", 5, 6, arguments={"x": 1}, result="ran")
    steps = trace.one()["steps"]
    assert [(s["source"], s.get("llm_call_count")) for s in steps] == [("user", None), ("agent", 1), ("agent", 0)]
    assert steps[2]["message"] == ""
    assert trace.results(steps[2]) == {"call_3_1": "ran"}


def test_without_content_tools_belong_to_the_model_call_before_them(trace: Any) -> None:
    """Nothing shows what the model asked for, and the report says that content is missing."""
    trace.model(0, 1, usage=Usage(10, 2))
    trace.tool("x", 2, 3, id="a")
    trace.model(4, 5, usage=Usage(20, 3))
    folded = trace.fold()
    steps = folded.documents[0].trajectory["steps"]
    assert [(s["message"], len(s.get("tool_calls", ()))) for s in steps] == [("", 1), ("", 0)]
    assert steps[0]["tool_calls"] == [{"tool_call_id": "a", "function_name": "x", "arguments": {}}]
    assert "content was not captured: model call (2 times)" in folded.documents[0].report["missing"]


def test_content_that_is_not_read_is_not_called_uncaptured(trace: Any) -> None:
    """Whoever traced it did capture it: the report sends nobody to a setting that is not at fault."""
    trace.model(0, 1, usage=Usage(10, 2), content_unread=True)
    missing = trace.fold().documents[0].report["missing"]
    assert "content is under names that are not read: model call" in missing
    assert not any("captured" in word for word in missing)


def test_an_uncaptured_answer_is_taken_from_its_replay(trace: Any) -> None:
    """The first call's output was lost; the second request repeats it."""
    first = [trace.user("go")]
    trace.model(0, 1, first)
    replay = trace.said("Looking.", trace.ask("c", "look"))
    trace.model(4, 5, [*first, replay, trace.gave("c", "seen")], trace.said("done"))
    step = trace.one()["steps"][1]
    assert (step["message"], trace.results(step)) == ("Looking.", {"c": "seen"})


def test_one_answer_split_into_several_messages_is_one_step(trace: Any) -> None:
    """Text and calls come as two output messages, and are replayed as two."""
    first, parts = [trace.user("go")], (trace.said("Looking."), trace.said("", trace.ask("c", "look")))
    trace.model(0, 1, first, parts)
    trace.model(4, 5, [*first, *parts, trace.gave("c", "seen")], trace.said("done"))
    document = trace.one()
    assert trace.outline(document) == [("user", "go"), ("agent", "Looking."), ("agent", "done")]
    assert trace.results(document["steps"][1]) == {"c": "seen"}


def test_a_retry_of_the_same_request_repeats_no_user_step(trace: Any) -> None:
    """The failed call is kept with its error; the same request again brings nothing new."""
    agent = trace.agent("a", 0, 9)
    trace.model(1, 2, [trace.user("go")], parent=agent, failure=Failure("APIError", "overloaded"))
    trace.model(3, 4, [trace.user("go")], trace.said("ok"), parent=agent)
    document = trace.one()
    assert trace.outline(document) == [("user", "go"), ("agent", ""), ("agent", "ok")]
    assert document["steps"][1]["extra"]["error"] == {"type": "APIError", "message": "overloaded"}


def test_attempts_inside_one_call_are_kept_on_its_step(trace: Any) -> None:
    """Retries are facts of one inference, no steps."""
    attempts = (Attempt(1_780_000_000_001_000_999, 1, {"reason": "503"}), Attempt(None, 2))
    trace.model(0, 5, [trace.user("go")], trace.said("ok"), attempts=attempts)
    step = trace.one()["steps"][-1]
    assert step["extra"]["attempts"] == [
        {"attempt": 1, "timestamp": "2026-05-28T20:26:40.001000Z", "reason": "503"},
        {"attempt": 2},
    ]


def test_the_system_prompt_is_a_step_and_again_when_it_changes(trace: Any) -> None:
    """Given apart or as the first message makes no difference; unchanged it is no step again."""
    agent, history = trace.agent("a", 0, 99), [trace.user("one")]
    trace.model(1, 2, history, trace.said("1"), parent=agent, system="Be kind.")
    history += [trace.said("1"), trace.user("two")]
    trace.model(3, 4, [Message("system", (Text("Be kind."),)), *history], trace.said("2"), parent=agent)
    history += [trace.said("2"), trace.user("three")]
    trace.model(5, 6, history, trace.said("3"), parent=agent, system="Be short.")
    told = [text for source, text in trace.outline(trace.one()) if source == "system"]
    assert told == ["Be kind.", "Be short."]


def test_history_from_before_the_first_call_is_copied_context(trace: Any) -> None:
    """Earlier turns are steps with their results, marked, and in no total; the last message is new."""
    earlier = [trace.user("old"), trace.said("", trace.ask("c", "x")), trace.gave("c", "r"), trace.said("answer")]
    trace.model(0, 1, [*earlier, trace.user("new")], trace.said("fine"), usage=Usage(50, 5))
    document = trace.one()
    marked = [(s["source"], s["message"], s.get("is_copied_context", False)) for s in document["steps"]]
    assert marked == [
        ("user", "old", True),
        ("agent", "", True),
        ("agent", "answer", True),
        ("user", "new", False),
        ("agent", "fine", False),
    ]
    assert trace.results(document["steps"][1]) == {"c": "r"}
    assert document["final_metrics"]["total_prompt_tokens"] == 50


def test_requests_that_hold_only_the_news_are_followed(trace: Any) -> None:
    """No request repeats what came before: results, then the next user's message."""
    agent = trace.agent("a", 0, 99)
    trace.model(1, 2, [trace.user("go")], trace.said("", trace.ask("c", "x")), parent=agent)
    trace.model(3, 4, [trace.gave("c", "r")], trace.said("done"), parent=agent)
    trace.model(5, 6, [trace.user("more")], trace.said("again"), parent=agent)
    document = trace.one()
    assert [text for _, text in trace.outline(document)] == ["go", "", "done", "more", "again"]
    assert trace.results(document["steps"][1]) == {"c": "r"}


def test_a_base_says_how_much_of_the_history_is_not_repeated(trace: Any) -> None:
    """A delta after a base brings its messages; a retry of the delta brings none."""
    agent = trace.agent("a", 0, 99)
    trace.model(1, 2, [trace.user("go")], trace.said("", trace.ask("c", "x")), parent=agent)
    delta = [trace.said("", trace.ask("c", "x")), trace.gave("c", "r"), trace.user("hurry", origin="framework")]
    trace.model(3, 4, delta, parent=agent, input_base=1, failure=Failure("APIError"))
    trace.model(5, 6, delta, trace.said("done"), parent=agent, input_base=1)
    document = trace.one()
    assert [text for _, text in trace.outline(document)] == ["go", "", "hurry", "", "done"]
    assert document["steps"][2]["extra"] == {"atifold": {"origin": "framework"}}


def test_a_shortened_history_is_not_told_again(trace: Any) -> None:
    """Compaction: a summary takes the place of the head, the rest is known."""
    agent, turns = trace.agent("a", 0, 99), [trace.user("one"), trace.said("1"), trace.user("two"), trace.said("2")]
    trace.model(1, 2, turns[:1], turns[1], parent=agent)
    trace.model(3, 4, turns[:3], turns[3], parent=agent)
    kept = [trace.user("Summary: one."), *turns[2:], trace.user("three")]
    trace.model(5, 6, kept, trace.said("3"), parent=agent)
    assert [t for _, t in trace.outline(trace.one())] == ["one", "1", "two", "2", "Summary: one.", "three", "3"]


def test_reasoning_and_counts_have_their_places(trace: Any) -> None:
    """Cached counts are hits; writes and reasoning stand in `extra`; unknown counts are absent."""
    usage = Usage(prompt=111, completion=20, cached=40, cache_write=11, reasoning=8, raw={"in": 60})
    output = Message("assistant", (Reasoning("Hm."), Text("Yes.")))
    trace.model(0, 1, [trace.user("go")], output, usage=usage, cost_usd=0.5, reasoning_effort="high")
    step = trace.one()["steps"][-1]
    assert (step["message"], step["reasoning_content"], step["reasoning_effort"]) == ("Yes.", "Hm.", "high")
    assert step["metrics"] == {
        "prompt_tokens": 111,
        "completion_tokens": 20,
        "cached_tokens": 40,
        "cost_usd": 0.5,
        "extra": {"reasoning_tokens": 8, "cache_creation_input_tokens": 11, "raw": {"in": 60}},
    }


def test_a_usage_of_zeros_is_unknown(trace: Any) -> None:
    """A streamed call that reports nothing but zeros has no metrics, and there are no totals."""
    trace.model(0, 1, [trace.user("go")], trace.said("Yes."), usage=Usage(0, 0, 0))
    document = trace.one()
    assert "metrics" not in document["steps"][-1]
    assert document["final_metrics"] == {"total_steps": 2}


@pytest.mark.parametrize(
    ("given", "kept"), [("ls -l", {"input": "ls -l"}), (["a"], {"input": ["a"]}), ("", {}), (None, {})]
)
def test_arguments_become_an_object(trace: Any, given: Any, kept: dict[str, Any]) -> None:
    """A value that is no object stands under `input`; nothing gives an empty object."""
    trace.model(0, 1, [trace.user("go")], trace.said("", ToolRequest("a", "sh", given)))
    assert trace.one()["steps"][-1]["tool_calls"][0]["arguments"] == kept


def test_a_late_result_is_folded_back_into_the_calling_step(trace: Any) -> None:
    """A result two steps later belongs to the step that asked."""
    agent, first = trace.agent("a", 0, 99), [trace.user("go")]
    asked, meanwhile = trace.said("", trace.ask("slow", "x")), trace.said("Still waiting.")
    trace.model(1, 2, first, asked, parent=agent)
    trace.model(3, 4, [*first, asked, trace.user("and?")], meanwhile, parent=agent)
    history = [*first, asked, trace.user("and?"), meanwhile, trace.gave("slow", "here")]
    trace.model(5, 6, history, trace.said("done"), parent=agent)
    assert trace.results(trace.one()["steps"][1]) == {"slow": "here"}


def test_a_message_with_results_and_text_is_results_and_a_user_step(trace: Any) -> None:
    """Anthropic's user messages carry results and words at once."""
    first, asked = [trace.user("go")], trace.said("", trace.ask("c", "x"))
    both = Message("user", (ToolResponse("c", "r"), Text("and hurry")))
    trace.model(0, 1, first, asked)
    trace.model(2, 3, [*first, asked, both], trace.said("done"))
    document = trace.one()
    assert trace.outline(document) == [("user", "go"), ("agent", ""), ("user", "and hurry"), ("agent", "done")]
    assert trace.results(document["steps"][1]) == {"c": "r"}


def test_the_same_request_sent_twice_at_once_is_one_question_with_two_answers(trace: Any) -> None:
    """A hedged chat: the user's step is not repeated, the answer that was kept is found in the next request."""
    first = [trace.user("go")]
    kept = trace.said("B", trace.ask("b", "x"))
    trace.model(0, 5, first, trace.said("A"))
    trace.model(1, 4, first, kept)
    trace.model(8, 9, [*first, kept, trace.gave("b", "r")], trace.said("done"))
    document = trace.one()
    assert [text for _, text in trace.outline(document)] == ["go", "A", "B", "done"]
    assert trace.results(document["steps"][2]) == {"b": "r"}


def test_one_span_that_stands_for_several_rounds_has_all_their_calls(trace: Any) -> None:
    """Automatic function calling: the rounds are seen only in the next request's history."""
    first = [trace.user("go")]
    trace.model(0, 9, first, trace.said("All done."))
    trace.tool("x", 2, 3, result="r1")
    rounds = [trace.said("", trace.ask("x_0", "x", n=1)), trace.gave("x_1", "r1"), trace.said("All done.")]
    trace.model(10, 11, [*first, *rounds, trace.user("thanks")], trace.said("Welcome."))
    folded = trace.fold()
    document = folded.documents[0].trajectory
    assert [text for _, text in trace.outline(document)] == ["go", "All done.", "thanks", "Welcome."]
    assert trace.results(document["steps"][1]) == {"x_0": "r1"}
    assert "one model span stands for several rounds of the model" in folded.documents[0].report["unsure"]


def test_a_replay_restores_a_text_that_the_output_lost_beside_its_calls(trace: Any) -> None:
    """The output holds the calls only; the replay shows the calls and the text."""
    first = [trace.user("go")]
    trace.model(0, 1, first, trace.said("", trace.ask("c", "x")))
    replay = trace.said("I look.", trace.ask("c", "x"))
    trace.model(2, 3, [*first, replay, trace.gave("c", "r")], trace.said("done"))
    assert [text for _, text in trace.outline(trace.one())] == ["go", "I look.", "done"]


def test_a_replay_that_tells_calls_as_text_does_not_become_the_message(trace: Any) -> None:
    """A framework's own wording of the calls is not what the model said."""
    first = [trace.user("go")]
    trace.model(0, 1, first, trace.said("", trace.ask("c", "x")))
    trace.tool("x", 1, 2, id="c", result="r")
    trace.model(2, 3, [*first, trace.said("Calling tools: x"), trace.user("Observation: r")], trace.said("done"))
    assert [text for _, text in trace.outline(trace.one())] == ["go", "", "Observation: r", "done"]


def test_an_answer_whose_call_was_not_traced_is_copied_context_and_reported(trace: Any) -> None:
    """Two answers stand in the history, one call is among the spans."""
    agent, first = trace.agent("a", 0, 99), [trace.user("one")]
    trace.model(1, 2, first, trace.said("1"), parent=agent)
    history = [*first, trace.said("1"), trace.user("two"), trace.said("untraced"), trace.user("three")]
    trace.model(5, 6, history, trace.said("3"), parent=agent)
    folded = trace.fold()
    steps = folded.documents[0].trajectory["steps"]
    assert [(s["message"], s.get("is_copied_context", False)) for s in steps] == [
        ("one", False),
        ("1", False),
        ("two", False),
        ("untraced", True),
        ("three", False),
        ("3", False),
    ]
    assert "whose model call is not in the trace" in repr(folded.documents[0].report["unsure"])


def test_a_result_that_nobody_asked_for_is_kept_without_a_call(trace: Any) -> None:
    """Neither the asking nor a name is known: no call is invented."""
    first = [trace.user("go")]
    trace.model(0, 1, first, trace.said("Hm."))
    trace.model(2, 3, [*first, trace.said("Hm."), trace.gave(None, "odd")], trace.said("done"))
    step = trace.one()["steps"][1]
    assert "tool_calls" not in step
    assert trace.results(step) == {"": "odd"}


def test_another_history_inside_one_agent_does_not_repeat_the_first(trace: Any) -> None:
    """A title is asked for in between; the conversation goes on where it was."""
    agent, first = trace.agent("a", 0, 99), [trace.user("trip")]
    trace.model(1, 2, first, trace.said("Where?"), parent=agent, system="Help.")
    trace.model(3, 4, [trace.user("Title for: trip")], trace.said("Trip"), parent=agent, system="Titles.")
    trace.model(
        5, 6, [*first, trace.said("Where?"), trace.user("Rome")], trace.said("Ok."), parent=agent, system="Help."
    )
    told = [text for _, text in trace.outline(trace.one())]
    assert told == ["Help.", "trip", "Where?", "Titles.", "Title for: trip", "Trip", "Rome", "Ok."]


def test_a_role_that_the_format_does_not_have_is_a_users_step_that_says_so(trace: Any) -> None:
    """The word stands in `extra`, beside the name that the message had."""
    trace.model(0, 1, [Message("critic", (Text("Hm."),), name="carl")], trace.said("ok"))
    step = trace.one()["steps"][0]
    assert (step["source"], step["message"], step["extra"]) == ("user", "Hm.", {"name": "carl", "role": "critic"})


@pytest.mark.parametrize("width", [5, 6, 7])
def test_a_window_that_slides_over_the_history_brings_only_its_news(trace: Any, width: int) -> None:
    """Each request holds the last few messages; it may begin with any turn."""
    agent, history = trace.agent("a", 0, 9999), [trace.user("go")]
    for turn in range(30):
        asked = trace.said(f"s{turn}", trace.ask(f"c{turn}", "x", n=turn))
        trace.model(2 * turn, 2 * turn + 1, history[-width:], asked, parent=agent)
        history += [asked, trace.gave(f"c{turn}", f"r{turn}"), trace.user(f"more {turn}")]
    document = trace.one()
    told = [text for _, text in trace.outline(document)]
    assert told == ["go", *(text for n in range(29) for text in (f"s{n}", f"more {n}")), "s29"]
    assert [trace.results(s) for s in document["steps"] if s["source"] == "agent"][:29] == [
        {f"c{n}": f"r{n}"} for n in range(29)
    ]


@pytest.mark.parametrize("lost", ["[object Object]", {"result": "<not serializable>"}, '{"result": "N/A"}'])
def test_a_result_that_was_lost_in_its_wrapper_is_told_by_the_next_request(trace: Any, lost: Any) -> None:
    """What stands in its place says nothing."""
    agent, first = trace.agent("a", 0, 99), [trace.user("go")]
    asked = trace.said("", trace.ask("c1", "look", n=1))
    trace.model(1, 2, first, asked, parent=agent)
    trace.tool("look", 3, 4, parent=agent, id="c1", result=lost)
    trace.model(5, 6, [*first, asked, trace.gave("c1", "found")], trace.said("ok"), parent=agent)
    assert trace.results(trace.one()["steps"][1]) == {"c1": "found"}


def test_a_span_that_tells_nothing_but_another_name_is_the_call_that_was_asked_for(trace: Any) -> None:
    """Some layers name every tool alike."""
    agent, first = trace.agent("a", 0, 99), [trace.user("go")]
    asked = trace.said("", trace.ask("c1", "look", n=1))
    trace.model(1, 2, first, asked, parent=agent)
    trace.tool("tool", 3, 4, parent=agent)
    trace.model(5, 6, [*first, asked, trace.gave("c1", "found")], trace.said("ok"), parent=agent)
    calls = [call for step in trace.one()["steps"] for call in step.get("tool_calls", ())]
    assert [call["function_name"] for call in calls] == ["look"]
