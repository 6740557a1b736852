"""Tell runs that hold every event of the catalogue, each where it has something to stand on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from specimens import payloads
from story import START_MS, Story, Wire

from atifold.emit.places import PLACES
from atifold.events import full_name

SESSION = "s-1"
SECRET = "secret"
"""The key of the scene's argument that some payloads say was changed."""


class Take(NamedTuple):
    """Runs around one event: `events` in order, `at` where the event stands in them."""

    event: str
    run_id: str
    events: list[Wire]
    at: int

    @property
    def wire(self) -> Wire:
        """Return the event itself."""
        return self.events[self.at]

    @property
    def time_ns(self) -> int:
        """Return when it happened."""
        return int(self.wire["meta"]["wallClockMs"]) * 1_000_000

    @property
    def secret(self) -> str:
        """Return the value of the argument that `SECRET` names, another one in each take."""
        return f"secret-of-{self.run_id}-"


# ---- where an event comes ------------------------------------------------------------------------

BEFORE: dict[str, tuple[str, ...]] = {
    "agent.turn_start": ("skill.graph_declared",),
    "tools.discovery_completed": ("tools.mcp_client",),
    "stream.llm_start": (
        "agent.grounding_nudged",
        "agent.thinking_omitted",
        "context.budget_pressure",
        "context.evaluated",
        "context.evicted",
        "context.injected",
        "context.slot_composed",
        "embedding.generated",
        "memory.attached",
        "memory.written",
        "tool_choice.failed",
        "tool_choice.picked",
        "tools.offered",
    ),
    "stream.llm_end": (
        "error.circuit_changed",
        "error.recovered",
        "error.retried",
        "ontology.served",
        "reliability.recovered",
        "reliability.retried",
        "stream.thinking_delta",
        "stream.token",
    ),
    "stream.tool_start": (
        "agent.route_decided",
        "agent.thinking_parse_failed",
        "cost.tick",
        "findings.declared",
        "stream.thinking_end",
        "tool_choice.outcome",
    ),
    "composition.exit": (
        "composition.branch_complete",
        "composition.fork_start",
        "composition.iteration_exit",
        "composition.iteration_start",
        "composition.merge_end",
        "composition.route_decided",
    ),
    "": (
        "artifacts.expired",
        "artifacts.hand_over_failed",
        "resilience.output_canned_used",
        "resilience.output_fallback_triggered",
        "tools.session_close_failed",
        "tools.session_closed",
    ),
}
"""Event of the scene, "" for its end, to those that come right before it; all others come while the tool runs."""

INSTEAD = {"tools.discovery_failed": "tools.discovery_completed"}
"""Event to the one of the scene whose place it takes."""

COMPOSED = frozenset({"composition.enter", "composition.exit", *BEFORE["composition.exit"]})
"""Events of a scene with a composition around the agent."""

LAST = frozenset({"error.fatal", "reliability.fail_fast", "permission.halt"})
"""Events after which nothing of a run comes."""

OF_WHOLE_RUNS = frozenset({"agent.run_configured", "integrity.disposition"})
"""Events that no agent inside a composition has."""

PAUSING = frozenset({"pause.request", "pause.resume"})
"""Events of a scene in two legs."""

OF_THE_CHAT = frozenset({*BEFORE["stream.llm_end"], "cost.tick", "stream.thinking_end", "agent.thinking_parse_failed"})
"""Events with the stage of the inference."""

TIES: dict[str, Any] = {
    "conditionalId": "all",
    "id": "all",
    "iterIndex": 1,
    "iteration": 1,
    "loopId": "all",
    "parentId": "all",
    "providerId": "hub",
    "tool": "look_up",
    "toolCallId": "c",
    "toolName": "look_up",
}
"""Fields that name something of the scene."""

OWN_TIES: dict[str, dict[str, Any]] = {
    "agent.run_configured": {"agentId": "teller"},
    "composition.enter": {"name": "all"},
    "context.injected": {"position": 0},
    "eval.score": {"targetRef": "c"},
    "memory.retrieved": {"k": 3},
    "pause.request": {"questionPayload": {"toolCallId": "c"}},
    "stream.llm_end": {"toolCallCount": 1},
    "stream.llm_start": {"messagesCount": 1, "model": "m-1"},
    "stream.tool_end": {"changedArgKeys": [SECRET]},
    "ontology.served": {"id": "ontology"},
}

TARGETS = {"iteration": "1", "toolCall": "c"}
"""What a score is of, to its reference; all else is a run."""

WITHOUT: dict[str, tuple[tuple[str, ...], ...]] = {
    "agent.output_schema_validation_failed": ((), ("draftWithheld",)),
    "agent.turn_end": ((), ("refused",)),
    "stream.llm_end": ((), ("contentWithheld",)),
    "stream.tool_end": (
        ("notExecuted", "error"),
        ("notDispatched", "error"),
        ("notDispatched", "notExecuted"),
        ("notDispatched", "notExecuted", "error", "changedArgKeys"),
        ("notDispatched", "notExecuted", "error", "modelResult"),
    ),
    "stream.tool_start": ((), ("notDispatched",)),
}
"""Event to the fields that are left out in each of its variants, since they exclude others."""


# ---- telling -------------------------------------------------------------------------------------


def recording() -> list[Take]:
    """Return runs, one after the other: for each event as many as show every field and alternative of it."""
    takes: list[Take] = []
    now_ms = START_MS
    for row in PLACES:
        for payload in variants(row.event):
            take = tell(row.event, payload, f"{row.event}-{len(takes):04d}", now_ms)
            takes.append(take)
            now_ms = take.events[-1]["meta"]["wallClockMs"] + 1_000
    return takes


@cache
def first_takes() -> list[Take]:
    """Return a take of each event, with every field."""
    return list({take.event: take for take in reversed(recording())}.values())


def variants(event: str) -> Iterator[Wire]:
    """Yield an event's payloads with what names something of the scene."""
    bodies = [{"severity": "high"}] if event == "risk.flagged" else payloads(full_name(event))
    for body in bodies:
        for left_out in WITHOUT.get(event, ((),)):
            tied = {key: tie(event, key, value) for key, value in body.items() if key not in left_out}
            if event == "eval.score" and "target" in tied:
                tied["targetRef"] = TARGETS.get(tied["target"], "")
            yield copy.deepcopy(tied)


def tie(event: str, key: str, value: Any) -> Any:
    """Return the value of a field, the scene's where it names something in it."""
    if value is None:
        return None
    return OWN_TIES.get(event, {}).get(key, TIES.get(key, value))


def tell(event: str, payload: Wire, run_id: str, now_ms: int) -> Take:
    """Return a run with the event in it."""
    story, at = Story(run_id, session=SESSION, start_ms=now_ms), -1
    if payload.get("targetRef") == "":
        payload["targetRef"] = run_id
    steps = list(scene(event, run_id, payload.get("kind") or "Sequence"))
    anchor = _ANCHORS.get(event, "stream.tool_end")
    for step in steps:
        if step.anchor == INSTEAD.get(event, event):
            at = len(story.events)
            story.tell(event, {**step.payload, **payload} if step.name == event else payload, **step.where)
            continue
        if step.anchor == anchor and not any(other.anchor == INSTEAD.get(event, event) for other in steps):
            at = len(story.events)
            story.tell(event, payload, **_own_place(event, step))
            if event in LAST:
                break
        if step.name:
            story.tell(step.name, step.payload, **step.where)
    return Take(event, run_id, story.events, at)


def _own_place(event: str, step: Step) -> dict[str, Any]:
    where = {**step.where, "stage": "call-llm#1" if event in OF_THE_CHAT else "beside#5"}
    return {**where, "path": []} if event.startswith("composition.") else where


# ---- the scene -----------------------------------------------------------------------------------


class Step(NamedTuple):
    """One event of the scene; others come before or instead of it by its anchor."""

    anchor: str
    name: str
    payload: Wire
    where: dict[str, Any]


def scene(event: str, run_id: str, kind: str) -> Iterator[Step]:
    """Yield the run around an event: a turn with two inferences and a tool; the last step is only an anchor."""
    if event not in COMPOSED:
        yield from _turn(event, run_id)
        yield Step("", "", {}, {})
        return
    above = {"compositionPath": ["Sequence:all"]}
    whole = {"kind": kind, "id": "all", "name": "all"}
    yield _step("composition.enter", whole, **above)
    for step in _turn(event, run_id):
        if step.name not in OF_WHOLE_RUNS:
            yield step._replace(where={"path": ["step-one"], **above, **step.where})
    yield _step("composition.exit", {**whole, "status": "ok"}, **above)


def _step(name: str, payload: Wire, anchor: str | None = None, **where: Any) -> Step:
    return Step(name if anchor is None else anchor, name, payload, where)


def _turn(event: str, run_id: str) -> Iterator[Step]:
    tool = "read_skill" if event == "skill.activated" else "look_up"
    args = {"q": "words", SECRET: f"secret-of-{run_id}-"}
    yield _step("agent.run_configured", {"agentId": "teller"}, stage="run-configured#0")
    yield _step("agent.turn_start", {"turnIndex": 0, "userPrompt": "What now?"}, stage="agent#0")
    yield _step("tools.discovery_started", {"providerId": "hub", "iteration": 1})
    yield _step("tools.discovery_completed", {"providerId": "hub", "iteration": 1, "toolCount": 2})
    yield _step("memory.retrieved", {"k": 3})
    yield _step("agent.iteration_start", {"turnIndex": 0, "iterIndex": 1})
    yield _step("stream.llm_start", {**_request(1, 1), "tools": [{"name": tool}]}, stage="call-llm#1")
    yield _step("stream.llm_end", _answer(1, "tool_use", toolCallCount=1), stage="call-llm#1")
    yield _step("stream.tool_start", {"toolName": tool, "toolCallId": "c", "args": args}, stage="tool-c#2")
    if event in PAUSING:
        yield from _second_leg({"run": f"{run_id}-b"})
        return
    yield _step("stream.tool_end", {"toolCallId": "c", "result": "found", "durationMs": 10}, stage="tool-c#2")
    call = {"id": "c", "name": tool, "args": args}
    history = [{"role": "user", "content": "What now?"}, {"role": "assistant", "content": "", "toolCalls": [call]}]
    yield _step("agent.iteration_end", {"turnIndex": 0, "iterIndex": 1, "history": history})
    known = 1 if event == "agent.iteration_end" else 3
    yield _step("stream.llm_start", _request(2, known), "second inference", stage="call-llm#4")
    yield _step("stream.llm_end", _answer(2, "stop"), "its end", stage="call-llm#4")
    yield _step("agent.turn_end", {"turnIndex": 0, "finalContent": "So.", "iterationCount": 2})
    yield _step("integrity.disposition", {"posture": "observe"})


def _request(number: int, messages: int) -> Wire:
    return {"iteration": number, "provider": "mock", "model": "m-1", "messagesCount": messages}


def _answer(number: int, reason: str, **more: Any) -> Wire:
    usage = {"input": 10, "output": 5}
    return {"iteration": number, "content": "So.", "usage": usage, "durationMs": 10, "stopReason": reason, **more}


def _second_leg(leg: dict[str, Any]) -> Iterator[Step]:
    yield _step("pause.request", {"questionPayload": {"toolCallId": "c"}})
    yield _step("pause.resume", {"resumeInput": {"yes": True}}, run="consumer-scope")
    yield _step("stream.tool_end", {"toolCallId": "c", "result": "found", "durationMs": 10}, stage="tool-c#1", **leg)
    yield _step("agent.turn_end", {"turnIndex": 0, "finalContent": "So.", "iterationCount": 2}, **leg)


_ANCHORS = {event: anchor for anchor, events in BEFORE.items() for event in events}
