"""Say as data what the words of a row in the emitter's table mean, and hold a played take against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from catalogue import Take

from atifold import semconv
from atifold.emit.names import attribute_name
from atifold.events import full_name
from atifold.events.envelope import parse
from atifold.events.marks import Mark, leaves

WORKFLOW, AGENT, CHAT, TOOL = "invoke_workflow", "invoke_agent", "chat", "execute_tool"
DISCOVERY = "tools.discovery"
FOUND = "retrieval"


class Check(NamedTuple):
    """One thing that is to be seen: what, and on the span of which operation."""

    what: str
    on: str = ""


class By(NamedTuple):
    """A choice by a field of the event."""

    field: str
    choices: Mapping[Any, tuple[Check, ...]]
    otherwise: tuple[Check, ...]


def opens(on: str) -> Check:
    """Want a span that starts with the event."""
    return Check("starts", on)


def ends(on: str) -> Check:
    """Want a span that ends with the event."""
    return Check("ends", on)


def has(on: str) -> Check:
    """Want the event's fields as attributes."""
    return Check("attributes", on)


def noted(on: str) -> Check:
    """Want a span event, or a log event in its place where the user wants that."""
    return Check("noted", on)


def sealed(*operations: str) -> tuple[Check, ...]:
    """Want spans to be exported when the event has come."""
    return tuple(Check("sealed", on) for on in operations)


ALL_FAILED = (*sealed(CHAT, TOOL, AGENT), Check("failed", TOOL), Check("failed", AGENT), has(AGENT))
LOGGED = Check("logged")
NOTHING = Check("nothing")

MEANINGS: dict[str, tuple[Check, ...] | By] = {
    "an embeddings span": (ends("embeddings"), has("embeddings")),
    "a retrieval or search_memory span": (opens(FOUND), ends(FOUND), has(FOUND)),
    "an upsert_memory span": (opens("upsert_memory"), ends("upsert_memory"), has("upsert_memory")),
    "attributes of and span event on the agent": (has(AGENT), noted(AGENT)),
    "attributes of and span event on the inference": (has(CHAT), noted(CHAT)),
    "attributes of and span event on the inference, the tool or the agent": By(
        "kind", {"tool": (has(TOOL), noted(TOOL)), "skill": (has(AGENT), noted(AGENT))}, (has(CHAT), noted(CHAT))
    ),
    "attributes of and span event on the next inference": (has(CHAT), noted(CHAT)),
    "attributes of and span event on the tool": (has(TOOL), noted(TOOL)),
    "attributes of and span event on the tool; a denied one is refused": By(
        "result", {"deny": (has(TOOL), noted(TOOL), Check("refused", TOOL))}, (has(TOOL), noted(TOOL))
    ),
    "attributes of the agent, held until it starts": (has(AGENT),),
    "attributes of the agent: counts": (has(AGENT),),
    "attributes of the agent; seals the run": (has(AGENT), *sealed(AGENT)),
    "attributes of the inference": (has(CHAT),),
    "attributes of the next inference": (has(CHAT),),
    "attributes of the next inference: counts": (has(CHAT),),
    "attributes of the next inference: sizes": By("slot", {"some text": (LOGGED,)}, (has(CHAT),)),
    "attributes of the tool": (has(TOOL),),
    "attributes of the tool, held until it starts": (has(TOOL),),
    "attributes of the tool, or span event on the discovery": By(
        "at", {"call": (has(TOOL),), "list": (noted(DISCOVERY),)}, (noted(TOOL),)
    ),
    "attributes of the workflow": (has(WORKFLOW),),
    "closes all of the run as failed": ALL_FAILED,
    "closes and seals invoke_workflow": (ends(WORKFLOW), has(WORKFLOW), *sealed(WORKFLOW)),
    "cost of the inference, running sum of the agent": (has(CHAT), has(AGENT)),
    "counted": (NOTHING,),
    "ends chat": (ends(CHAT), has(CHAT)),
    "ends execute_tool": (ends(TOOL), has(TOOL)),
    "ends invoke_agent": (ends(AGENT), has(AGENT)),
    "ends it": (ends(DISCOVERY), has(DISCOVERY)),
    "ends it as failed": (ends(DISCOVERY), has(DISCOVERY), Check("failed", DISCOVERY)),
    "iteration of the next inference": (has(CHAT),),
    "log event": (LOGGED,),
    "messages and system prompt of the next inference": (has(CHAT),),
    "opens a tools.discovery span of our own": (opens(DISCOVERY), has(DISCOVERY)),
    "opens chat": (opens(CHAT), has(CHAT)),
    "opens execute_tool": (opens(TOOL), has(TOOL)),
    "opens invoke_agent": (opens(AGENT),),
    "opens invoke_workflow": (opens(WORKFLOW), has(WORKFLOW)),
    "reasoning of the inference": (has(CHAT),),
    "seals the iteration's inference and tools": sealed(CHAT, TOOL),
    "seals the leg as paused": (has(AGENT), *sealed(CHAT, TOOL, AGENT), Check("paused", AGENT), Check("paused", TOOL)),
    "span event on the agent": (noted(AGENT),),
    "span event on the agent, once a name": (noted(AGENT),),
    "span event on the agent; names the skill on the call that loaded it": By(
        "reason", {"read_skill_result": (noted(AGENT), has(TOOL))}, (noted(AGENT),)
    ),
    "span event on the inference": (noted(CHAT),),
    "span event on the next inference": (noted(CHAT),),
    "span event on the next leg's agent": (noted(AGENT),),
    "span event on the retrieval or search": (noted(FOUND),),
    "span event on the tool": (noted(TOOL),),
    "span event on the tool, up to 16": (noted(TOOL),),
    "span event on the tool: counts": (noted(TOOL),),
    "span event on the tool; may open the next leg": (noted(TOOL),),
    "span event on the workflow": (noted(WORKFLOW),),
    "span event on what it scores; gen_ai.evaluation.result": By(
        "target",
        {"iteration": (noted(CHAT), LOGGED), "toolCall": (noted(TOOL), LOGGED)},
        (noted(AGENT), LOGGED),
    ),
    "span event on what it scores; log event": (noted(AGENT), LOGGED),
    "time to first chunk, count": (has(CHAT),),
}
"""What a place in `atifold.emit.places` is called, to what is to be seen of an event that goes there."""

OWN: dict[str, dict[tuple[str, str], str]] = {
    "agent.iteration_start": {(CHAT, "agentfootprint.stream.iteration"): "iterIndex"},
    "agent.turn_end": {(AGENT, "agentfootprint.agent.iteration_count"): "iterationCount"},
    "context.evaluated": {
        (CHAT, "agentfootprint.context.active_count"): "activeCount",
        (CHAT, "agentfootprint.context.skipped_count"): "skippedCount",
        (CHAT, "agentfootprint.context.evaluated_total"): "evaluatedTotal",
    },
    "cost.tick": {
        (CHAT, semconv.COST_USD): "estimatedUsd",
        (AGENT, semconv.COST_CUMULATIVE): "cumulative.estimatedUsd",
    },
    "embedding.generated": {
        ("embeddings", semconv.REQUEST_MODEL): "model",
        ("embeddings", semconv.DIMENSIONS): "dimension",
        ("embeddings", semconv.USAGE_INPUT): "tokensSpent",
    },
    "memory.retrieved": {
        (FOUND, semconv.RETRIEVAL_TOP_K): "k",
        (FOUND, "agentfootprint.memory.considered_count"): "consideredCount",
        (FOUND, "agentfootprint.memory.admitted_count"): "admittedCount",
        (FOUND, "agentfootprint.memory.rejected_count"): "rejectedCount",
        (FOUND, "agentfootprint.memory.threshold"): "threshold",
    },
    "memory.written": {
        ("upsert_memory", semconv.MEMORY_RECORD): "memoryId",
        ("upsert_memory", "agentfootprint.memory.source"): "source",
    },
    "stream.llm_end": {
        (CHAT, semconv.RESPONSE_ID): "providerResponseRef",
        (CHAT, "agentfootprint.stream.tool_call_count"): "toolCallCount",
        (CHAT, "agentfootprint.stream.content_withheld"): "contentWithheld",
    },
    "stream.llm_start": {
        (CHAT, semconv.REQUEST_MODEL): "model",
        (CHAT, semconv.TEMPERATURE): "temperature",
        (CHAT, "agentfootprint.stream.iteration"): "iteration",
    },
    "stream.thinking_end": {(CHAT, semconv.USAGE_REASONING): "tokens"},
    "stream.tool_end": {
        (TOOL, "agentfootprint.stream.status"): "status",
        (TOOL, "agentfootprint.stream.changed_arg_keys"): "changedArgKeys",
    },
    "stream.tool_start": {
        (TOOL, semconv.TOOL_NAME): "toolName",
        (TOOL, semconv.TOOL_CALL_ID): "toolCallId",
        (TOOL, "agentfootprint.stream.protocol"): "protocol",
    },
    "skill.activated": {(TOOL, semconv.SKILL_NAME): "skillId"},
    "tools.code_run": {(TOOL, semconv.EXIT_CODE): "exitCode"},
}
"""Event to attributes, by span, of names that are not its fields', each with the path of its value."""

FIXED: dict[str, tuple[str, ...]] = {
    "context.slot_composed": ("agentfootprint.context.{slot}.used", "agentfootprint.context.{slot}.cap"),
    "skill.graph_declared": ("agentfootprint.skill.graph.nodes_count", "agentfootprint.skill.graph.edges_count"),
    "stream.thinking_delta": (semconv.TIME_TO_FIRST_CHUNK, "agentfootprint.stream.chunks"),
    "stream.token": (semconv.TIME_TO_FIRST_CHUNK, "agentfootprint.stream.chunks"),
}
"""Event to attributes that are there, whatever their values."""

ONLY_OWN = frozenset({*OWN, *FIXED, "context.injected"}) - {"agent.turn_end", "tools.code_run"}
"""Events of which nothing goes on spans by the field's own name."""

SAID = frozenset({"toolName", "toolCallId", "iteration", "turnIndex", "iterIndex", "finalContent"})
"""Fields that the span has by another name."""

TOTALS = frozenset({"totalInputTokens", "totalOutputTokens", "durationMs", "iterationCount"})
UNTOLD: dict[str, frozenset[str]] = {
    "agent.turn_end": TOTALS,
    "composition.enter": frozenset({"name"}),
    "composition.exit": frozenset({"name", "durationMs"}),
    "tools.code_run": frozenset({"tool"}),
    "tools.discovery_completed": frozenset({"durationMs"}),
    "tools.discovery_failed": frozenset({"durationMs", "error", "errorName"}),
    "tools.offered": frozenset({"withheldReasons"}),
}
"""Event to fields that the span tells otherwise: its times, name and status, the sums of its calls."""


def checks(place: str, payload: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return what a place means for one event."""
    meaning = MEANINGS[place]
    if isinstance(meaning, By):
        return meaning.choices.get(payload.get(meaning.field), meaning.otherwise)
    return meaning


def wanted(take: Take, on: str, *, content: bool) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that an event gives a span; a value of None: any."""
    payload = take.wire["payload"]
    for (operation, name), path in OWN.get(take.event, {}).items():
        value = _at(payload, path)
        if operation == on and value is not None:
            yield name, tuple(value) if isinstance(value, list) else value
    for name in FIXED.get(take.event, ()):
        yield name.format(slot=str(payload.get("slot")).replace("-", "_")), None
    if take.event not in ONLY_OWN:
        yield from _by_name(take, content=content)


def _by_name(take: Take, *, content: bool) -> Iterator[tuple[str, Any]]:
    """Yield what stands in no list, by the fields' own names; of lists that they are there."""
    domain = full_name(take.event).rsplit(".", 1)[0]
    left_out = SAID | UNTOLD.get(take.event, frozenset())
    lists: dict[str, bool] = {}
    for path, mark, value in leaves(parse(take.wire)):
        if re.split(r"[.\[]", path)[0] in left_out or value in (None, {}, []):
            continue
        shown = content or mark is Mark.STRUCTURE
        if "[]" in path:
            head = path.split("[]")[0]
            lists[head] = lists.get(head, True) and shown
        elif shown:
            yield attribute_name(domain, path), value
    for path, shown in lists.items():
        if shown:
            yield attribute_name(domain, path), None


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
