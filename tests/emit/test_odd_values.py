"""One value that nobody can write costs neither its span nor another one."""

from __future__ import annotations

import json
import math
import time
from contextvars import copy_context
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from atifold import semconv
from atifold.emit.machine import Machine
from atifold.events import parse
from atifold.events.envelope import Event
from atifold.events.marks import MAX_DEPTH, leaves
from atifold.events.rewriting import rewritten
from atifold.jsontext import CUT_OFF, DEEPEST, sorted_json, to_json_text, words
from atifold.testing import Harness

DAY_MS = 86_400_000


def deep(levels: int) -> Any:
    """Return a number in a list in a list, so many times."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def depth_of(value: Any) -> int:
    """Return how many lists lie around what is innermost."""
    levels = 0
    while isinstance(value, list):
        value, levels = value[0], levels + 1
    return levels


def meta(run_id: str, clock_ms: Any, stage_id: str = "") -> dict[str, Any]:
    """Return an envelope on the wire."""
    path = {"subflowPath": [], "compositionPath": ["Agent:a"]}
    return {"runId": run_id, "wallClockMs": clock_ms, "runOffsetMs": 0, "runtimeStageId": stage_id, **path}


@pytest.mark.parametrize("levels", [100, 300, 500, 5000])
def test_deep_values_are_cut_off_not_refused(levels: int) -> None:
    """With the keys in order or not; what is not that deep is whole."""
    for text in (to_json_text(deep(levels)), sorted_json(deep(levels)).decode()):
        found = depth_of(json.loads(text))
        assert found == min(levels, DEEPEST)
        assert (CUT_OFF in text) is (levels > DEEPEST)


def test_what_cannot_be_written_is_named() -> None:
    """Numbers too long for Python, objects that cannot say what they are."""

    class Mute:
        def __str__(self) -> str:
            raise RuntimeError

    assert words(Mute()) == "(Mute)"
    assert json.loads(to_json_text({"a": Mute(), "b": 10**5000, "c": 2**70})) == {
        "a": "(Mute)",
        "b": "(a whole number of 16610 bits)",
        "c": 2**70,
    }


@pytest.mark.parametrize("levels", [500, 5000])
def test_one_deep_value_costs_no_span(levels: int) -> None:
    """Not of its run and not of another; nothing is raised out of the shutdown."""
    harness = Harness(capture_content=True)

    def leave_open(name: str, value: Any) -> None:
        run = harness.bus.run(name, "p").__enter__()
        with run.llm("m", provider="p") as call:
            call.respond("x", tool_calls=[{"id": "1", "name": "t", "arguments": {"a": value}}])
        with run.tool("t", {"a": value}, id="1") as tool:
            tool.result(value)

    for name, value in (("deep", deep(levels)), ("plain", 1)):
        copy_context().run(leave_open, name, value)
    harness.tracer_provider.shutdown()
    names = sorted(span.name for span in harness.spans)
    assert names == sorted(["chat m", "execute_tool t"] * 2 + ["invoke_agent deep", "invoke_agent plain"])


def test_a_prompt_is_not_sought_in_what_is_too_deep() -> None:
    """A call whose arguments are so does not cost the turn that another run starts."""
    with Harness() as harness:
        harness.bus.emit("stream.tool_start", {"toolName": "t", "toolCallId": "1", "args": {"a": deep(5000)}})
        harness.bus.emit("agent.turn_start", {"userPrompt": "q"}, meta=meta("r", int(time.time() * 1000)))
        harness.bus.emit("agent.turn_end", {"finalContent": "x"}, meta=meta("r", int(time.time() * 1000)))
        assert "invoke_agent a" in {span.name for span in harness.spans}


def test_a_run_that_cannot_be_closed_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its spans end as they are, and say so."""
    closes = Machine.close_run

    def fails(machine: Machine, run: Any, end_ns: int, **how: Any) -> None:
        if run.run_id == "bad":
            raise RecursionError
        closes(machine, run, end_ns, **how)

    monkeypatch.setattr(Machine, "close_run", fails)
    harness = Harness()
    for run_id in ("bad", "good"):
        run = harness.bus.run(run_id, run_id=run_id)
        copy_context().run(lambda run=run: run.__enter__().llm("m", provider="p").__enter__())
    harness.tracer_provider.shutdown()
    spans = {span.name: span for span in harness.spans}
    assert set(spans) == {"chat m", "invoke_agent bad", "invoke_agent good"}
    assert len(harness.spans) == 4
    assert (spans["invoke_agent bad"].attributes or {})[semconv.INCOMPLETE] == ("never ended",)


def test_a_redaction_walks_no_deeper_than_its_paths() -> None:
    """Also where records are expected and lists in lists come."""
    payload = {"turnIndex": 0, "iterIndex": 1, "history": deep(5000)}
    event: Event[Any] = parse({"type": "agentfootprint.agent.iteration_end", "payload": payload, "meta": {}})
    asked: list[str] = []

    def ask(path: str, value: Any) -> Any:
        asked.append(path)
        return value

    assert rewritten(event, ask, asked.append) is event
    assert "history" + "[]" * MAX_DEPTH in asked
    assert "history" + "[]" * MAX_DEPTH in [path for path, _, _ in leaves(event)]


@pytest.mark.parametrize("clock", [1_800_000_000_000_000_000, -5, 10**30, -0.5, 1e300, math.nan, "x"])
def test_a_time_that_is_none_is_the_last_good_one(clock: Any) -> None:
    """Of its run; else the present. The figure stays in the envelope, and each is counted."""
    seen: list[Event[Any]] = []
    begun_ms = 10_000 * DAY_MS
    harness = Harness()
    harness.bus.subscribe("*", seen.append)
    before_ns = time.time_ns() - 1_000_000
    harness.bus.emit("agent.turn_start", {"turnIndex": 0}, meta=meta("good", begun_ms))
    harness.bus.emit("agent.turn_end", {"turnIndex": 0}, meta=meta("good", clock))
    harness.bus.emit("agent.turn_start", {"turnIndex": 0}, meta=meta("bad", clock))
    harness.bus.emit("agent.turn_end", {"turnIndex": 0}, meta=meta("bad", clock))
    harness.bus.emit("eval.score", {"metricId": "m", "value": 1, "target": "run"}, meta=meta("other", clock))
    harness.tracer_provider.shutdown()
    assert seen[1].meta.to_wire()["wallClockMs"] is clock
    good, bad = harness.spans
    assert (good.start_time, good.end_time) == (begun_ms * 1_000_000, begun_ms * 1_000_000)
    assert before_ns <= (bad.start_time or 0) <= (bad.end_time or 0) <= time.time_ns()
    assert all(before_ns <= (log.log_record.timestamp or 0) <= time.time_ns() for log in harness.logs)
    encode_spans(harness.spans)


@pytest.mark.parametrize("usd", [math.nan, math.inf, -1, 10**400])
def test_a_price_that_is_none_is_on_no_span(usd: Any) -> None:
    """Neither of the inference nor in what its agent spent."""
    with Harness() as harness:
        with harness.bus.run("a") as run, run.llm("m", provider="p"):
            pass
        with harness.bus.run("b") as run:
            run.emit("cost.tick", {"estimatedUsd": usd, "cumulative": {"estimatedUsd": usd}})
        assert len(harness.spans) == 3
        for span in harness.spans:
            assert not [name for name in span.attributes or {} if "cost" in name]


def test_counts_that_are_none_are_on_no_span() -> None:
    """What an adapter reports wrong is unknown; the rest is kept."""
    with Harness() as harness:
        with harness.bus.run("a") as run:
            run.emit("stream.llm_start", {"iteration": 10**30, "provider": "p", "model": "m", "temperature": 10**400})
            run.emit("stream.llm_end", {"iteration": 1, "usage": {"input": -5, "output": 2**63, "cacheRead": 3}})
        chat = next(span.attributes or {} for span in harness.spans if span.name == "chat m")
        figures = {name: value for name, value in chat.items() if ".usage." in name}
        assert figures == {semconv.USAGE_CACHE_READ: 3}
        assert chat["agentfootprint.stream.iteration"] == str(10**30)
        assert semconv.TEMPERATURE not in chat


def test_every_text_is_one_that_utf8_holds() -> None:
    """One that is not would cost an exporter its whole batch."""
    bad = "a\ud800"
    with Harness(capture_content=True) as harness:
        run = harness.bus.run(bad, bad, session_id=bad, tenant=bad, run_id=bad, version=bad).__enter__()
        with run.llm(bad, provider=bad, system=bad) as call:
            call.respond(bad, id=bad, model=bad, finish_reason=bad, reasoning=bad)
        with run.tool("t", {bad: bad}, id=bad) as tool:
            tool.fail(bad, type=bad)
        run.__exit__(ValueError, ValueError(bad), None)
        assert len(harness.spans) == 3
        for span in harness.spans:
            said = [span.name, span.status.description or "", *(span.attributes or {}).values()]
            assert "\ud800" not in "".join(map(str, said))
        encode_spans(harness.spans)


def test_hashed_sessions_hash_people_too() -> None:
    """Who asked is no less private than which conversation it was."""
    with Harness(session_id="hashed") as harness:
        with harness.bus.run("a", session_id="s", principal="p", tenant="t"):
            pass
        (agent,) = harness.spans
        names = (semconv.CONVERSATION, "agentfootprint.principal", "agentfootprint.tenant")
        assert {len(str((agent.attributes or {})[name])) for name in names} == {64}
