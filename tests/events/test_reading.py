"""A payload's reader does what pydantic's own validator of the model does, without building the model."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from specimens import payloads

from atifold.events import EVENTS
from atifold.events.catalogue import UNTYPED
from atifold.events.payload import Payload
from atifold.events.reading import reader

TYPED = sorted(set(EVENTS) - set(UNTYPED))

SURPRISES = st.sampled_from(
    [
        None,
        True,
        0,
        1.0,
        0.5,
        float("nan"),
        2**70,
        "",
        "text",
        "3",
        b"x",
        [],
        [None],
        ["a", 1],
        {},
        {"name": 3},
        {"a": {}},
    ]
)

FIRST_EVENTS = """
import sys
from atifold import EventBus
seen = []
bus = EventBus()
bus.subscribe("*", seen.append)
for name in ("stream.llm_start", "stream.llm_end", "stream.tool_start", "stream.tool_end", "cost.tick"):
    bus.emit(name, {"toolCallId": "call_1", "usage": {"input": 1}, "cumulative": {"tokensInput": 1}})
print(*(type(event.payload).__name__ for event in seen))
print("importlib.metadata" in sys.modules)
seen[1].to_wire()
print("importlib.metadata" in sys.modules)
"""


def _model(name: str) -> type[Payload]:
    model = EVENTS[name]
    assert model is not None
    return model


def _outcome(read: Any, payload: Any) -> object:
    """Return all that a validator makes of a payload: the model's fields at any depth, or what it complains of."""
    try:
        found = read(payload)
    except ValidationError as error:
        return str(error), error.errors(include_url=False)
    return _held(found)


def _held(value: Any) -> object:
    if hasattr(value, "model_fields_set"):
        fields = [(key, _held(item)) for key, item in vars(value).items()]
        return type(value), fields, sorted(value.model_fields_set), _held(value.model_extra)
    if isinstance(value, dict):
        return [(key, _held(item)) for key, item in value.items()]
    if isinstance(value, list):
        return list(map(_held, value))
    return type(value), repr(value)


@pytest.mark.parametrize("name", TYPED)
def test_a_reader_reads_a_full_event_as_pydantic_does(name: str) -> None:
    """Every field and every alternative: the same fields, set and extra, in the same order."""
    model = _model(name)
    for payload in payloads(name):
        assert _outcome(reader(model), payload) == _outcome(model.model_validate, payload)


@settings(deadline=None)
@given(st.data())
def test_a_reader_reads_and_refuses_surprises_as_pydantic_does(data: st.DataObject) -> None:
    """Another value anywhere in a payload: the same reading, or the same complaint, word for word."""
    name = data.draw(st.sampled_from(TYPED))
    model = _model(name)
    payload = _with_surprise(data, next(payloads(name)))
    assert _outcome(reader(model), payload) == _outcome(model.model_validate, payload)


def _with_surprise(data: st.DataObject, value: Any) -> Any:
    if not value or not isinstance(value, (dict, list)) or data.draw(st.integers(0, 3)) == 0:
        return data.draw(SURPRISES)
    if isinstance(value, list):
        return [_with_surprise(data, value[0]), *value]
    key = data.draw(st.sampled_from(sorted(value)))
    return {**value, key: _with_surprise(data, value[key])}


def test_a_reader_takes_an_instance_and_python_names() -> None:
    """As pydantic does: an instance is the very one, and of two names the wire's counts."""
    model = _model("agentfootprint.stream.tool_end")
    read = reader(model)
    payload = read({"tool_call_id": "a", "toolCallId": "b", "result": 1})
    assert read(payload) is payload
    assert payload == model.model_validate({"tool_call_id": "a", "toolCallId": "b", "result": 1})


def test_a_reader_of_an_annotation_that_payloads_do_not_have_is_refused() -> None:
    """Rather than read by guess."""

    class Odd(Payload):
        """Hold what no payload holds."""

        odd: set[str]

    with pytest.raises(TypeError, match="set"):
        reader(Odd)


def test_the_first_events_look_for_no_plugins() -> None:
    """What pydantic loads to build a model is loaded when somebody asks for more than reading."""
    command = [sys.executable, "-c", FIRST_EVENTS]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines == ["LLMStart LLMEnd ToolStart ToolEnd CostTick", "False", "True"]
