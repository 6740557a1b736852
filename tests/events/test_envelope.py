"""Events are read from the wire without loss, whatever stands in them, and written back equal."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atifold.errors import AtifoldError
from atifold.events import EVENTS, Event, Meta, NotAnEventError, UnknownEvent, build, model_of, parse, validate
from atifold.events.catalogue import UNTYPED
from atifold.events.envelope import builder
from atifold.events.payload import Payload
from atifold.events.stream import LLMEnd, LLMUsage, ToolStart

META = {
    "wallClockMs": 1796035692448,
    "runOffsetMs": 3,
    "runId": "run-1796035692448-35",
    "runtimeStageId": "sf/call-llm#4",
    "subflowPath": ["sf"],
    "compositionPath": ["Sequence:pipeline"],
}
LLM_END = {
    "iteration": 1,
    "content": "Hello",
    "toolCallCount": 0,
    "usage": {"input": 42, "output": 9},
    "stopReason": "stop",
    "durationMs": 12,
}
NAME = "agentfootprint.stream.llm_end"


def _wire(payload: Any = None, **parts: Any) -> dict[str, Any]:
    return {"type": NAME, "payload": LLM_END if payload is None else payload, "meta": META, **parts}


def _same(one: Any, other: Any) -> bool:
    """Say whether two values are the same JSON, 1 and 1.0 and true told apart."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


# ---- typed events --------------------------------------------------------------------------------


def test_a_wire_event_becomes_its_model() -> None:
    """Wire names are read by Python names, nested objects too."""
    event = parse(_wire())
    assert isinstance(event.payload, LLMEnd)
    assert event.payload.tool_call_count == 0
    assert event.payload.usage is not None
    assert (event.payload.usage.input, event.payload.usage.cache_read) == (42, None)
    assert (event.name, event.domain, event.lacking) == ("stream.llm_end", "stream", ())


def test_every_recorded_event_is_read_and_written_back_equal(shared: Path) -> None:
    """All lines of the recordings, the file sink's included, survive, and all are typed."""
    files = sorted((shared / "recordings").glob("*.*json*"))
    lines = [line for f in files if f.suffix in {".jsonl", ".ndjson"} for line in f.read_text("utf-8").splitlines()]
    assert len(lines) == 670
    for line in lines:
        wire = json.loads(line)
        event = parse(wire)
        assert _same(event.to_wire(), wire)
        assert isinstance(event.payload, Payload)
        assert event.lacking == ()


def test_an_unknown_field_is_kept() -> None:
    """A field of a newer producer comes back as it was, at any depth."""
    wire = _wire({**LLM_END, "mood": {"x": [1]}, "usage": {"input": 1, "odd": True}})
    event = parse(wire)
    assert isinstance(event.payload, LLMEnd)
    assert event.payload.model_extra == {"mood": {"x": [1]}}
    assert _same(event.to_wire(), wire)


def test_an_extension_field_is_kept_and_readable() -> None:
    """A field `atifold.*` stands in the payload's extra under its own name."""
    event = parse(_wire({**LLM_END, "atifold.responseModel": "m-2"}))
    assert (event.payload.model_extra or {})["atifold.responseModel"] == "m-2"


def test_a_promised_field_that_lacks_costs_nothing_and_is_named() -> None:
    """The event is typed, the field None, and the wire form does not invent it."""
    payload = {key: value for key, value in LLM_END.items() if key not in {"content", "stopReason"}}
    event = parse(_wire(payload))
    assert isinstance(event.payload, LLMEnd)
    assert event.payload.content is None
    assert event.lacking == ("content", "stopReason")
    assert _same(event.to_wire(), _wire(payload))


def test_a_null_is_not_the_same_as_nothing() -> None:
    """An explicit null is written back, and does not count as lacking."""
    wire = _wire({**LLM_END, "content": None, "providerResponseRef": None})
    event = parse(wire)
    assert event.lacking == ()
    assert _same(event.to_wire(), wire)


def test_a_member_that_no_enumeration_has_is_read() -> None:
    """A newer producer's word stays a word."""
    payload = {"toolName": "t", "toolCallId": "c", "args": {}, "protocol": "carrier-pigeon"}
    assert validate("agentfootprint.stream.tool_start", payload).protocol == "carrier-pigeon"


@pytest.mark.parametrize("value", [42, 42.0, 0.25, 10**30])
def test_numbers_stay_what_they_are(value: float) -> None:
    """Whole numbers do not become floats, nor floats whole numbers, where both are allowed."""
    wire = _wire({**LLM_END, "durationMs": value})
    assert _same(parse(wire).to_wire(), wire)


def test_a_whole_float_counts_as_the_integer_that_it_is() -> None:
    """Serialisers that know floats alone do not cost the event."""
    event = parse(_wire({**LLM_END, "iteration": 1.0, "usage": {"input": 42.0, "output": 9}}))
    assert isinstance(event.payload, LLMEnd)
    assert type(event.payload.iteration) is int
    assert event.payload.usage is not None
    assert type(event.payload.usage.input) is int


def test_keywords_of_python_have_their_own_spelling() -> None:
    """`from` on the wire is `from_` in Python."""
    wire = {"iteration": 1, "cursorMove": {"from": "a", "to": "b", "by": "route"}}
    payload = validate("agentfootprint.context.evaluated", wire)
    assert payload.cursor_move.from_ == "a"
    assert payload.to_wire() == wire


def test_an_exception_to_camel_case_is_read_by_its_real_name() -> None:
    """`tellLLM` is what the producer writes."""
    payload = validate("agentfootprint.permission.halt", {"tellLLM": "stop"})
    assert (payload.tell_llm, payload.to_wire()) == ("stop", {"tellLLM": "stop"})


# ---- what is no typed event ----------------------------------------------------------------------


def test_an_unknown_event_is_kept() -> None:
    """A name that the catalogue has not keeps its payload, and says why it is raw."""
    wire = {"type": "agentfootprint.stream.sung", "payload": {"song": "la"}, "meta": META}
    event = parse(wire)
    assert isinstance(event.payload, UnknownEvent)
    assert (event.payload.reason, event.payload.get("song"), event.payload.get("x", 1)) == ("unknown", "la", 1)
    assert event.to_wire() == wire


def test_an_event_that_nobody_described_is_kept() -> None:
    """Its fields are read by their wire names."""
    (name,) = UNTYPED
    event = parse({"type": name, "payload": {"toolName": "t"}, "meta": META})
    assert isinstance(event.payload, UnknownEvent)
    assert (event.payload.reason, event.payload.get("toolName")) == ("untyped", "t")


@pytest.mark.parametrize("usage", ["many", [1], {"input": "42"}, {"input": True}, {"input": 1.5}])
def test_a_payload_that_cannot_be_read_is_kept_raw(usage: Any) -> None:
    """A known field of another type makes the payload unreadable; nothing of it is lost or changed."""
    wire = _wire({**LLM_END, "usage": usage})
    event = parse(wire)
    assert isinstance(event.payload, UnknownEvent)
    assert event.payload.reason == "unreadable"
    assert event.payload.problem.startswith("usage")
    assert _same(event.to_wire(), wire)


def test_the_problem_of_an_unreadable_payload_does_not_quote_it() -> None:
    """What may be said of it in a log holds none of its values."""
    event = parse(_wire({**LLM_END, "content": ["SECRET"], "usage": {"input": "SECRET"}}))
    assert isinstance(event.payload, UnknownEvent)
    assert "content" in event.payload.problem
    assert "SECRET" not in event.payload.problem
    with pytest.raises(ValueError, match="content") as caught:
        validate(NAME, {"content": ["SECRET"]})
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("payload", [None, [], "text", 3, True])
def test_a_payload_that_is_no_object_is_kept_raw(payload: Any) -> None:
    """It is an event all the same."""
    wire = {"type": NAME, "payload": payload, "meta": META}
    event = parse(wire)
    assert isinstance(event.payload, UnknownEvent)
    assert event.payload.reason == "unreadable"
    assert event.payload.get("content") is None
    assert _same(event.to_wire(), wire)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([], "found a list"),
        (None, "found null"),
        (3, "found a number"),
        ("x", "found a string"),
        ({}, 'found no "type"'),
        ({"type": 3}, 'found a "type" that is no string'),
    ],
)
def test_what_is_no_event_is_refused_in_one_line(value: Any, found: str) -> None:
    """The error says what was found and what was wanted, and can be caught as either kind."""
    with pytest.raises(NotAnEventError) as caught:
        parse(value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, AtifoldError)
    assert str(caught.value) == f'{found}, wanted an object with a string "type"'
    assert (caught.value.found, caught.value.wanted) == (found, 'wanted an object with a string "type"')


# ---- the envelope --------------------------------------------------------------------------------


def test_the_envelope_is_read_by_python_names() -> None:
    """Times are integers, paths tuples, what was not given None."""
    meta = Meta.from_wire({**META, "sessionId": "s", "principal": "alice", "tenant": "acme", "turnIndex": 2})
    assert (meta.wall_clock_ms, meta.run_offset_ms, meta.run_id) == (1796035692448, 3, "run-1796035692448-35")
    assert (meta.subflow_path, meta.composition_path) == (("sf",), ("Sequence:pipeline",))
    assert (meta.session_id, meta.principal, meta.tenant, meta.turn_index, meta.trace_id) == (
        "s",
        "alice",
        "acme",
        2,
        None,
    )
    assert meta.lacking == ()


def test_time_is_nanoseconds_of_the_finest_clock_given() -> None:
    """Our own field wins over the milliseconds; a value that is no integer does not."""
    assert Meta(wall_clock_ms=5).time_ns == 5_000_000
    assert Meta.from_wire({**META, "atifold.timeNs": 1796035692448123000}).time_ns == 1796035692448123000
    assert Meta.from_wire({**META, "atifold.timeNs": "soon"}).time_ns == META["wallClockMs"] * 1_000_000


@pytest.mark.parametrize(
    "odd",
    [
        {"wallClockMs": "now"},
        {"wallClockMs": None},
        {"wallClockMs": 1796035692448.75},
        {"wallClockMs": float("inf")},
        {"runOffsetMs": True},
        {"subflowPath": "sf"},
        {"subflowPath": ["sf", 3]},
        {"sessionId": None},
        {"sessionId": 7},
        {"newField": {"a": 1}},
        {"run_id": "snake"},
    ],
)
def test_an_odd_envelope_is_read_and_written_back_equal(odd: dict[str, Any]) -> None:
    """A value that its field cannot hold leaves the default and is not lost."""
    wire = _wire(meta={**META, **odd})
    event = parse(wire)
    assert _same(event.to_wire(), wire)
    assert type(event.meta.time_ns) is int
    assert event.lacking == ()


def test_a_clock_with_a_fraction_still_tells_the_time() -> None:
    """The milliseconds are floored."""
    assert Meta.from_wire({**META, "wallClockMs": 1796035692448.75}).wall_clock_ms == 1796035692448


def test_a_promised_key_of_the_envelope_that_lacks_is_named() -> None:
    """It is absent again when written."""
    wire = _wire(meta={key: value for key, value in META.items() if key not in {"runId", "subflowPath"}})
    event = parse(wire)
    assert event.lacking == ("meta.runId", "meta.subflowPath")
    assert (event.meta.run_id, event.meta.subflow_path) == ("", ())
    assert event.to_wire() == wire


@pytest.mark.parametrize("part", ["payload", "meta"])
def test_an_event_without_payload_or_envelope_is_still_an_event(part: str) -> None:
    """The part is named as a whole and not written."""
    wire = _wire()
    del wire[part]
    event = parse(wire)
    assert f"event.{part}" in event.lacking
    assert event.to_wire() == wire


def test_a_lacking_field_named_payload_is_not_the_payload() -> None:
    """`stream.tool_progress` has a field `payload` of its own."""
    wire = {"type": "agentfootprint.stream.tool_progress", "payload": {"toolName": "t"}, "meta": META}
    event = parse(wire)
    assert "payload" in event.lacking
    assert event.to_wire() == wire


@pytest.mark.parametrize("meta", [None, [], "meta", 3])
def test_an_envelope_that_is_no_object_is_kept(meta: Any) -> None:
    """It stands beside the defaults."""
    wire = _wire(meta=meta)
    event = parse(wire)
    assert event.meta.run_id == ""
    assert _same(event.to_wire(), wire)


def test_keys_beside_type_payload_and_meta_are_kept() -> None:
    """A later envelope may have an id."""
    wire = _wire(id="e1", version=2)
    assert parse(wire).extra == {"id": "e1", "version": 2}
    assert parse(wire).to_wire() == wire


# ---- events made in a program --------------------------------------------------------------------


def test_a_program_may_use_either_spelling() -> None:
    """Python names and wire names build the same event, written in wire form."""
    meta = Meta(wall_clock_ms=1, run_id="r")
    one = build("agentfootprint.stream.tool_start", {"tool_name": "t", "tool_call_id": "c", "args": {}}, meta)
    other = build("agentfootprint.stream.tool_start", {"toolName": "t", "toolCallId": "c", "args": {}}, meta)
    assert one == other
    assert one.to_wire()["payload"] == {"toolName": "t", "toolCallId": "c", "args": {}}


def test_of_both_spellings_the_wires_counts() -> None:
    """The other one is kept as an unknown field."""
    read = build("agentfootprint.stream.tool_start", {"tool_name": "python", "toolName": "wire"}, Meta()).payload
    assert isinstance(read, ToolStart)
    assert read.tool_name == "wire"


def test_a_program_may_give_a_model_or_any_mapping() -> None:
    """A model is taken as it is."""
    payload = ToolStart(tool_name="t", tool_call_id="c", args={})
    assert build("agentfootprint.stream.tool_start", payload, Meta()).payload is payload
    read = build(NAME, MappingProxyType({"usage": LLMUsage(input=1, output=2)}), Meta()).payload
    assert isinstance(read, LLMEnd)
    assert read.usage == LLMUsage(input=1, output=2)


def test_another_events_model_is_unreadable_and_kept_in_wire_form() -> None:
    """A mix-up costs nothing but the type."""
    event = build(NAME, ToolStart(tool_name="t"), Meta())
    assert isinstance(event.payload, UnknownEvent)
    assert (event.payload.reason, event.payload.raw) == ("unreadable", {"toolName": "t"})


def test_an_envelope_made_in_a_program_has_the_producers_form() -> None:
    """Only what is known is written; the paths always are."""
    meta = Meta(
        wall_clock_ms=1, run_offset_ms=0, run_id="r", runtime_stage_id="s#0", extra={"atifold.timeNs": 1_000_001}
    )
    assert meta.to_wire() == {
        "wallClockMs": 1,
        "runOffsetMs": 0,
        "runId": "r",
        "runtimeStageId": "s#0",
        "subflowPath": [],
        "compositionPath": [],
        "atifold.timeNs": 1_000_001,
    }
    assert Meta.from_wire(meta.to_wire()) == meta


def test_an_envelope_at_another_time_and_stage_is_a_copy() -> None:
    """The run's own envelope is not changed, and the copy says its own time in both clocks."""
    first = Meta(wall_clock_ms=5, run_id="r", session_id="s", extra={"atifold.timeNs": 5_000_001})
    later = first.at(7_000_000, 2, "call#1")
    assert (later.wall_clock_ms, later.time_ns, later.run_offset_ms) == (7, 7_000_000, 2)
    assert (later.runtime_stage_id, later.run_id, later.session_id) == ("call#1", "r", "s")
    assert Meta.from_wire(later.to_wire()).time_ns == 7_000_000
    assert (first.time_ns, first.runtime_stage_id) == (5_000_001, "")


@pytest.mark.parametrize("name", [NAME, *UNTYPED, "agentfootprint.no.such"])
@pytest.mark.parametrize("payload", [LLM_END, {"usage": "odd"}, {"iteration": 1.0}, {}])
def test_a_builder_makes_the_same_event_as_build(name: str, payload: dict[str, Any]) -> None:
    """Looking things up beforehand changes nothing."""
    assert builder(name)(payload, Meta(run_id="r")) == build(name, payload, Meta(run_id="r"))


# ---- any JSON at all -----------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
TYPED = sorted(set(EVENTS) - set(UNTYPED))


@st.composite
def _events(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an event whose known fields have values of any kind."""
    name = draw(st.sampled_from(TYPED))
    model = model_of(name)
    assert model is not None
    keys = st.sampled_from([info.alias or key for key, info in model.model_fields.items()])
    payload = draw(st.dictionaries(keys | st.text(max_size=8), JSON, max_size=6))
    meta = draw(st.dictionaries(st.sampled_from(sorted(META)) | st.text(max_size=8), JSON, max_size=6))
    return {"type": name, "payload": payload, "meta": meta}


@settings(max_examples=300, deadline=None)
@given(_events())
def test_whatever_stands_in_an_event_comes_back_equal(wire: dict[str, Any]) -> None:
    """Reading never raises for an event, and writing gives back what was read."""
    event = parse(wire)
    assert isinstance(event, Event)
    assert event.to_wire() == wire


def test_a_problem_names_no_key_of_a_map() -> None:
    """A key may be a text of somebody; names of fields are the catalogue's."""
    payload = {"sourceBreakdown": {"somebody's words": {"chars": "x"}}}
    read = parse({"type": "agentfootprint.context.slot_composed", "payload": payload, "meta": {}}).payload
    assert isinstance(read, UnknownEvent)
    assert read.problem.startswith("sourceBreakdown.*.chars")
