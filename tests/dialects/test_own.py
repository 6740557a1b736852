"""The facts that our own emitter writes beside the conventions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from atifold import dialects, otlp
from atifold.calls import AgentCall, Attempt, Message, ModelCall, Text, ToolCall
from atifold.spans import Span, SpanEvent

MakeSpan = Callable[..., Span]
ReadOne = Callable[[Span], Any]


def test_an_agent_span_of_ours_tells_run_pause_and_order(span: MakeSpan, read_one: ReadOne) -> None:
    """Run id, pause, the tie to the leg before, reasons of incompleteness and the sequence have fields."""
    call = read_one(
        span(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "a",
                "agentfootprint.run.id": "run-1",
                "agentfootprint.paused": True,
                "atifold.resumes.trace_id": "1" * 32,
                "atifold.resumes.span_id": "2" * 16,
                "atifold.incomplete": ("run open",),
                "atifold.sequence": 4,
                "agentfootprint.agent.iteration_count": 2,
            }
        )
    )
    assert isinstance(call, AgentCall)
    assert (call.run_id, call.paused, call.sequence) == ("run-1", True, 4)
    assert (call.resumes, call.incomplete) == (("1" * 32, "2" * 16), ("run open",))
    assert call.extra == {"agentfootprint.agent.iteration_count": 2}


@pytest.mark.parametrize("name", ["atifold.inferred", "atifold.omitted", "atifold.withheld"])
def test_a_list_that_a_server_made_text_of_is_a_list(span: MakeSpan, read_one: ReadOne, name: str) -> None:
    """As MLflow and Jaeger's older API do; other texts stay."""
    for value, kept in ((["a"], ["a"]), ('["a"]', ["a"]), ("a", "a"), ('{"a": 1}', '{"a": 1}')):
        assert read_one(span({"gen_ai.operation.name": "invoke_agent", name: value})).extra == {name: kept}


@pytest.mark.parametrize("half", ["atifold.resumes.trace_id", "atifold.resumes.span_id"])
def test_half_a_tie_is_none(span: MakeSpan, read_one: ReadOne, half: str) -> None:
    """A tie needs a trace and a span."""
    assert read_one(span({"gen_ai.operation.name": "invoke_agent", half: "1"})).resumes is None


def test_a_chat_span_of_ours_tells_cost_and_raw_figures(chat: MakeSpan, read_one: ReadOne) -> None:
    """Cost (0 is a price), its source and the history's base have fields; raw figures stand in the usage."""
    call = read_one(
        chat(
            {
                "gen_ai.usage.input_tokens": 12,
                "agentfootprint.stream.usage.input": 10,
                "agentfootprint.cost.usd": 0.0,
                "agentfootprint.cost.source": "table",
                "agentfootprint.stream.provider": "claude",
                "atifold.input.base": 3,
                "gen_ai.input.messages": [{"role": "user", "parts": [], "atifold.origin": "framework"}],
            }
        )
    )
    assert isinstance(call, ModelCall)
    assert (call.cost_usd, call.cost_source, call.input_base) == (0.0, "table", 3)
    assert call.input == (Message("user", (), None, "framework"),)
    assert call.usage is not None
    assert call.usage.raw == {"agentfootprint.stream.usage.input": 10, "gen_ai.usage.input_tokens": 12}
    assert call.extra == {"agentfootprint.stream.provider": "claude"}


def test_retries_are_attempts_and_other_events_are_kept(chat: MakeSpan, read_one: ReadOne) -> None:
    """A retry has a number and a time; what else happened stands in `extra`, times at whole microseconds."""
    moment = 1_700_000_000_123_456_789
    retried = {"agentfootprint.error.attempt": 1, "agentfootprint.error.reason": "429"}
    call = read_one(
        chat(
            events=(
                SpanEvent("agentfootprint.error.retried", moment, retried),
                SpanEvent("agentfootprint.fallback.triggered", moment, {"kind": "model", "at": (1,)}),
                SpanEvent("someone.elses", 1),
            )
        )
    )
    assert call.attempts == (Attempt(moment, 1, {"reason": "429"}),)
    assert call.extra == {
        "events": [
            {
                "name": "agentfootprint.fallback.triggered",
                "timestamp": "2023-11-14T22:13:20.123456Z",
                "attributes": {"at": [1], "kind": "model"},
            }
        ]
    }


@pytest.mark.parametrize(
    ("value", "wanted"), [("refused", "refused"), ("not_dispatched", "not_dispatched"), ("x", None)]
)
def test_a_tool_that_did_not_run_says_so(span: MakeSpan, read_one: ReadOne, value: str, wanted: str | None) -> None:
    """Only the two known reasons are reasons."""
    call = read_one(span({"gen_ai.operation.name": "execute_tool", "atifold.dispatch": value}))
    assert isinstance(call, ToolCall)
    assert call.dispatch == wanted


@pytest.mark.parametrize(("facts", "wanted"), [({"atifold.delegated": True}, True), ({}, False)])
def test_an_agent_that_returns_to_its_caller_says_so(
    span: MakeSpan, read_one: ReadOne, facts: dict[str, bool], wanted: bool
) -> None:
    """Without the mark it is not known."""
    call = read_one(span({"gen_ai.operation.name": "invoke_agent", **facts}))
    assert isinstance(call, AgentCall)
    assert call.delegated is wanted


def test_our_facts_alone_make_no_call(span: MakeSpan) -> None:
    """They add to a call of the conventions, and are none by themselves."""
    reading = dialects.read([span({"agentfootprint.paused": True})])
    assert reading.calls == ()
    assert reading.ignored == {"no call": 1}


def test_a_live_span_reads_as_the_one_in_a_file(chat: MakeSpan) -> None:
    """Tuples, bytes, NaN and structured messages of a live program give the call that their file gives."""
    live = chat(
        {
            "gen_ai.request.stop_sequences": ("a", "b"),
            "gen_ai.request.top_p": float("nan"),
            "gen_ai.input.messages": ({"role": "user", "parts": ({"type": "text", "content": "hi"},)},),
            "agentfootprint.x": b"\x01",
            "agentfootprint.y": {"deep": (1, 2.0, None)},
            "agentfootprint.empty": (),
        },
        events=(SpanEvent("agentfootprint.error.retried", 5, {"attempt": 2, "list": ("a",)}),),
    )
    (from_file,) = otlp.parse(otlp.encode_lines([live]), "x").spans
    assert dialects.read([live]) == dialects.read([replace(from_file)])
    (call,) = dialects.read([live]).calls
    assert isinstance(call, ModelCall)
    assert call.input == (Message("user", (Text("hi"),)),)
    assert call.extra == {
        "gen_ai.request.stop_sequences": ["a", "b"],
        "agentfootprint.x": "AQ==",
        "agentfootprint.y": {"deep": [1, 2.0, None]},
        "agentfootprint.empty": [],
    }


def test_the_order_in_which_a_server_gives_events_and_attributes_does_not_matter(
    chat: MakeSpan, read_one: ReadOne
) -> None:
    """Jaeger sorts both by name; what is kept is in the order of time."""
    early = SpanEvent("agentfootprint.z.early", 1_000, {"agentfootprint.z.b": 1, "agentfootprint.z.a": 2})
    late = SpanEvent("agentfootprint.a.late", 2_000)
    retried = SpanEvent("agentfootprint.error.retried", 3_000, {"x": 1, "a": 2})
    call = chat({})
    sorted_out = replace(retried, attributes={"a": 2, "x": 1})
    calls = [read_one(replace(call, events=events)) for events in ((early, late, retried), (late, sorted_out, early))]
    assert repr(calls[0]) == repr(calls[1])
    assert [event["name"] for event in calls[0].extra["events"]] == [early.name, late.name]
