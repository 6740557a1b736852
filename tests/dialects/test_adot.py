"""What AgentCore's records tell, beside the spans that they belong to and without them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atifold import dialects
from atifold.calls import AgentCall, Call, ModelCall, Text, ToolCall
from atifold.spans import LogRecord, Span

TRACE = "a" * 32
ASKED = json.dumps([{"toolUse": {"toolUseId": "t1", "name": "find", "input": {"order": 7}}}])
FOUND = json.dumps([{"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": "door"}]}}])


def text(value: str) -> str:
    """Return a text as a list of blocks, in JSON."""
    return json.dumps([{"text": value}])


def record(asked: list[Any], said: list[Any], number: int = 1, **more: Any) -> LogRecord:
    """Return what a span left."""
    body = {"input": {"messages": asked}, "output": {"messages": said}}
    about = {"trace_id": TRACE, "span_id": f"{number:016x}", "body": body}
    return LogRecord("scope.of.it", number, **{**about, **more})


def message(role: str, **content: Any) -> dict[str, Any]:
    """Return a message whose content is an object."""
    return {"role": role, "content": content}


def calls(*records: LogRecord) -> tuple[Call, ...]:
    """Return what records without spans tell of."""
    return dialects.read([], records).calls


def told(call: ModelCall) -> list[tuple[str, str]]:
    """Return who said what in the request, calls and results as `-`."""
    return [
        (m.role, "".join(part.text if isinstance(part, Text) else "-" for part in m.parts)) for m in call.input or ()
    ]


ANSWER = message("assistant", message=text("At the door."), finish_reason="end_turn")
BEFORE = message("assistant", content=ASKED)
PERSON = message("user", content=text("Where is 7?"))
RESULT = message("tool", content=FOUND)


@pytest.mark.parametrize(
    ("asked", "said", "wanted"),
    [
        ([PERSON], [ANSWER], ModelCall),
        ([PERSON], [message("assistant", message="At the door.", finish_reason="end_turn")], AgentCall),
        ([message("tool", content="{}", id="t1")], [message("assistant", message=text("door"))], ToolCall),
        ([PERSON], [message("assistant", message=ASKED, **{"tool.result": FOUND})], None),
        ([PERSON], [BEFORE], None),
        ([{"role": "user", "content": "Where?"}], [{"role": "assistant", "content": "Here."}], ModelCall),
        ([{"role": "user", "content": '{"inputs": {"messages": []}}'}], [{"content": '{"outputs": {}}'}], None),
        ([{"role": "user", "content": "Where?"}], [], None),
    ],
)
def test_the_shape_of_a_record_says_what_its_span_was(asked: list[Any], said: list[Any], wanted: type | None) -> None:
    """Of a model, a tool, an agent; those around them are no calls."""
    assert [type(call) for call in calls(record(asked, said))] == ([] if wanted is None else [wanted])


def test_an_agents_record_counts_where_no_model_is_told() -> None:
    """Else it repeats what the last call says."""
    agent = record([PERSON], [message("assistant", message="At the door.", finish_reason="end_turn")], 2)
    assert [type(call) for call in calls(record([PERSON], [ANSWER]), agent)] == [ModelCall]


def test_what_a_span_around_a_call_repeats_is_no_call() -> None:
    """Of equal answers that are not marked the first to end counts; those of other traces are their own."""
    first = record([{"role": "user", "content": "Where?"}], [{"role": "assistant", "content": "Here."}])
    again = record([{"role": "user", "content": "Where?"}], [{"role": "assistant", "content": "Here."}], 2)
    assert [call.key[1] for call in calls(again, first)] == [f"{1:016x}"]
    other = record([{"role": "user", "content": "Where?"}], [{"content": "Here."}], 3, trace_id="b" * 32)
    assert len(calls(first, other)) == 2


def test_calls_that_the_client_tells_are_not_told_again() -> None:
    """Bedrock's own instrumentation writes a record for each message; tools it does not know."""
    choice = {"message": {"content": [{"text": "At the door."}]}, "finish_reason": "end_turn", "index": 0}
    client = LogRecord("gen_ai.choice", 1, trace_id=TRACE, span_id="c" * 16, body=choice)
    tool = record([message("tool", content="{}", id="t1")], [message("assistant", message=text("door"))], 2)
    found = calls(record([PERSON], [ANSWER]), client, tool)
    assert [(type(call), call.key[1]) for call in found] == [(ModelCall, "c" * 16), (ToolCall, f"{2:016x}")]


def test_a_tool_of_langchain_is_known_by_its_input() -> None:
    """Its output names it."""
    given = {"input_str": "{}", "inputs": {"order": 7}, "kwargs": {"tool_call_id": "t1"}}
    came = {"output": "door", "kwargs": {"name": "find"}}
    (call,) = calls(record([{"role": "user", "content": json.dumps(given)}], [{"content": json.dumps(came)}]))
    assert isinstance(call, ToolCall)
    assert (call.tool, call.id, call.arguments, call.result) == ("find", "t1", {"order": 7}, "door")


def test_a_tool_has_the_name_under_which_a_model_asked_for_it() -> None:
    """By the id of the call; the record of the tool itself does not say it."""
    model = record([PERSON], [message("assistant", message=ASKED, finish_reason="tool_use")])
    tool = record([message("tool", content="{}", id="t1")], [message("assistant", message=text("door"))], 2)
    assert [call.tool for call in calls(model, tool) if isinstance(call, ToolCall)] == ["find"]


@pytest.mark.parametrize("with_span", [True, False])
@pytest.mark.parametrize(
    ("asked", "before", "wanted"),
    [
        ([PERSON, RESULT], BEFORE, [("user", "Where is 7?"), ("assistant", "-"), ("tool", "-")]),
        ([PERSON], BEFORE, [("assistant", "-"), ("user", "Where is 7?")]),
        (
            [PERSON, RESULT],
            message("assistant", content=text("Yes.")),
            [("assistant", "Yes."), ("user", "Where is 7?")],
        ),
        ([RESULT], message("assistant", content=text("Yes.")), [("assistant", "Yes.")]),
    ],
)
def test_what_the_model_said_before_is_no_answer(
    asked: list[Any], before: Any, wanted: list[tuple[str, str]], *, with_span: bool
) -> None:
    """It stands before the results of its calls, else before what the person says next."""
    span = Span(TRACE, f"{1:016x}", None, "chat", 1, 2, attributes={"gen_ai.operation.name": "chat"})
    reading = dialects.read([span] if with_span else [], [record(asked, [before, ANSWER])])
    (call,) = reading.calls
    assert isinstance(call, ModelCall)
    assert told(call) == wanted
    assert [part for m in call.output or () for part in m.parts] == [Text("At the door.")]
