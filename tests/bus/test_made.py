"""The events that blocks make are the events that reading their payloads gives, whatever a program passes in."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from atifold import EventBus
from atifold.events import Event, UnknownEvent
from atifold.events.envelope import build
from atifold.jsontext import words


class Name(str):
    """A text of a class of its own."""

    __slots__ = ()


ODD = st.sampled_from([Name("m"), b"bytes", 3, 0.5, True, ["list"], {"a": 1}, object()])
TEXT = st.one_of(st.text(), st.sampled_from(["\ud800", "gpt-4o"]))
MAYBE_TEXT = st.one_of(st.none(), TEXT, ODD)
_KEPT = (0, 2**63 - 1)
_READ = {3.0: 3, "7": 7}
_REFUSED = (None, 2**70, -1, True, 0.5, "x")
COUNT = st.sampled_from([*zip(_KEPT, _KEPT, strict=True), *_READ.items(), *((given, None) for given in _REFUSED)])
"""A count as it is given, and what is left of it: whole numbers of 64 bits, however written."""

NUMBER = st.one_of(st.none(), st.integers(), st.floats(), ODD)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)
CALLS = st.lists(st.fixed_dictionaries({"id": MAYBE_TEXT, "name": MAYBE_TEXT, "arguments": JSON}), max_size=3)


def _held(value: Any) -> object:
    """Return all that an object holds, at any depth: types, values, what was given, the order of it."""
    if hasattr(value, "model_fields_set"):
        fields = [(key, _held(item)) for key, item in vars(value).items()]
        return type(value), fields, sorted(value.model_fields_set), _held(value.model_extra)
    if isinstance(value, UnknownEvent):
        return value.reason, value.problem, sorted(map(repr, value.raw.items()))
    if isinstance(value, dict):
        return [(key, _held(item)) for key, item in value.items()]
    if isinstance(value, list):
        return list(map(_held, value))
    return type(value), repr(value)


def _is_as_read(event: Event, wire: dict[str, Any]) -> None:
    """Compare an event with that of a program which emits the payload `wire`."""
    read = build(event.type, wire, event.meta)
    assert _held(event.payload) == _held(read.payload)
    assert (event.lacking, event.extra) == (read.lacking, read.extra)
    assert _held(event.to_wire()["payload"]) == _held(read.to_wire()["payload"]) or isinstance(
        read.payload, UnknownEvent
    )


def _figure(value: Any) -> Any:
    """Return a number that is finite, None for anything else."""
    return value if type(value) in (int, float) and math.isfinite(value) else None


def _given(**fields: Any) -> dict[str, Any]:
    return {name.replace("__", "."): value for name, value in fields.items() if value is not None}


def _listening() -> tuple[EventBus, list[Event]]:
    bus, seen = EventBus(), list[Event]()
    bus.subscribe("stream.*", seen.append)
    return bus, seen


@given(
    model=TEXT | ODD,
    provider=TEXT | ODD,
    system=st.one_of(st.none(), TEXT, st.sampled_from([Name("s"), b"bytes", ["list"]])),
    temperature=NUMBER,
    max_tokens=NUMBER,
    messages=st.one_of(st.none(), st.lists(st.fixed_dictionaries({"role": TEXT, "content": JSON}), max_size=3)),
)
def test_a_request_is_as_read(
    model: Any, provider: Any, system: Any, temperature: Any, max_tokens: Any, messages: Any
) -> None:
    """What is asked of whom, with which settings."""
    bus, seen = _listening()
    settings = {"temperature": temperature, "max_tokens": max_tokens, "messages": messages}
    with bus.run("a") as run, run.llm(model, provider=provider, system=system, **settings):
        pass
    system = {str: system, bytes: "", list: "list"}.get(type(system), None if system is None else "s")
    system = None if system is None else words(system)
    temperature, max_tokens = _figure(temperature), _figure(max_tokens)
    is_count = max_tokens is not None and 0 <= max_tokens < 2**63 and max_tokens == int(max_tokens)
    max_tokens = int(max_tokens) if is_count else None
    wire = {"iteration": 1, "provider": words(provider), "model": words(model), "systemPromptChars": len(system or "")}
    wire |= {"messagesCount": len(messages or ()), "toolsCount": 0}
    wire |= _given(systemPromptText=system, temperature=temperature)
    wire |= _given(atifold__maxTokens=max_tokens, atifold__messages=messages)
    _is_as_read(seen[0], wire)


@given(
    content=TEXT | st.just(Name("said")),
    calls=CALLS,
    model=MAYBE_TEXT,
    id=MAYBE_TEXT,
    finish_reason=MAYBE_TEXT,
    counts=st.tuples(COUNT, COUNT, COUNT, COUNT, COUNT),
    fails=st.booleans(),
)
def test_an_answer_is_as_read(
    content: Any,
    calls: Any,
    model: Any,
    id: Any,  # noqa: A002 - the field's own word
    finish_reason: Any,
    counts: Any,
    fails: bool,
) -> None:
    """What the model answered, what it counted, and what became of the block."""
    bus, seen = _listening()
    names = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
    figures = dict(zip(names, (given for given, _ in counts), strict=True))
    with bus.run("a") as run:
        block = run.llm("m", provider="p")
        block.__enter__()
        block.respond(content, tool_calls=calls, model=model, id=id, finish_reason=finish_reason, **figures)
        error = ValueError("no") if fails else None
        block.__exit__(type(error) if error else None, error, None)
    event = seen[1]
    told = event.payload.raw if isinstance(event.payload, UnknownEvent) else event.payload.to_wire()
    asked = told.get("atifold.toolCalls")
    assert [call["name"] for call in asked or ()] == [call["name"] for call in calls]
    wire: dict[str, Any] = {"iteration": 1, "durationMs": told["durationMs"], "content": content}
    answer_id, model, finish_reason = (None if given is None else words(given) for given in (id, model, finish_reason))
    wire |= {"toolCallCount": len(calls), "stopReason": finish_reason or ("tool_calls" if calls else "stop")}
    usage = dict(
        zip(("input", "output", "cacheRead", "cacheWrite", "thinking"), (count for _, count in counts), strict=True)
    )
    if usage := _given(**usage):
        cached = usage.get("cacheRead", 0) + usage.get("cacheWrite", 0)
        if "input" in usage and usage["input"] < cached < 2**63 - usage["input"]:
            usage["input"] += cached  # counted apart
        wire["usage"] = {**usage, "atifold.inclusive": True}
    wire |= _given(providerResponseRef=answer_id, atifold__responseModel=model, atifold__toolCalls=asked)
    if fails:
        wire |= {"atifold.errorType": "ValueError", "atifold.error": "no"}
    _is_as_read(event, wire | ({"atifold.last": True} if calls else {}))


@given(
    name=TEXT | ODD,
    arguments=st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    id=TEXT,
    result=JSON,
    error=st.one_of(st.none(), TEXT),
)
def test_a_tool_is_as_read(name: Any, arguments: Any, id: str, result: Any, error: str | None) -> None:  # noqa: A002
    """How a tool was called, and what it gave or why not."""
    bus, seen = _listening()
    with bus.run("a") as run, run.tool(name, arguments, id=id) as tool:
        tool.result(result)
        if error is not None:
            tool.fail(error, type="Refused")
    _is_as_read(seen[0], {"toolName": name, "toolCallId": tool.id, "args": arguments})
    wire = {"toolCallId": tool.id, "durationMs": seen[1].payload.to_wire()["durationMs"], "atifold.last": True}
    wire |= {"result": result} if error is None else {"result": error, "error": True, "atifold.errorType": "Refused"}
    _is_as_read(seen[1], wire)


@given(content=TEXT | ODD)
def test_a_chunk_is_as_read(content: Any) -> None:
    """Also one that is no text."""
    bus, seen = _listening()
    with bus.run("a") as run, run.llm("m", provider="p") as call:
        call.token(content)
    _is_as_read(seen[1], {"iteration": 1, "tokenIndex": 0, "content": content})


def test_a_block_without_an_answer_says_what_is_lacking() -> None:
    """As an event that somebody else emits does."""
    bus, seen = _listening()
    with bus.run("a") as run, run.llm("m", provider="p"):
        pass
    assert seen[1].lacking == ("content", "toolCallCount", "usage", "stopReason")


def test_an_event_is_its_handlers_own() -> None:
    """What one handler does to a payload is not in the next event."""
    bus, seen = _listening()
    with bus.run("a") as run:
        for _ in range(2):
            with run.llm("m", provider="p", top_p=1) as call:
                call.respond("x", input_tokens=1)
                seen[-1].payload.model_extra.clear()
            seen[-1].payload.usage.model_extra.clear()
            seen[-1].payload.brain = None
    assert seen[2].payload.model_extra == {}
    assert "brain" not in seen[0].payload.model_fields_set
