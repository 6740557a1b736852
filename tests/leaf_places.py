"""Say as data which content leaves of the catalogue stand in no signal, each with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from story import Wire

UNHEARD_OF = "unheardOf"
"""A field that no model has."""


class Row(NamedTuple):
    """Leaves that stand nowhere: a pattern of paths, the reason, and in which payloads it holds."""

    path: str
    why: str
    when: Callable[[Wire], Any] = bool


def _role(payload: Wire) -> Any:
    return payload["history"][0]["role"]


OFF_SPANS: dict[str, tuple[Row, ...]] = {
    "agent.iteration_end": (
        Row(r"history\[\]\.toolCallId", "names the call of a result only", lambda p: _role(p) != "tool"),
        Row(r"history\[\]\.toolCalls.*", "a result asks for no calls", lambda p: _role(p) == "tool"),
        Row(r"history\[\]\.toolCalls\[\]\.providerMeta.*", "a provider's own bookkeeping"),
        Row(r"history\[\]\.toolName", "the conventions' tool_call_response has no name"),
        Row(r"history\[\]\.thinkingBlocks.*", "thinking_end has the same blocks"),
        Row(r"history\[\]\.injectedBy.*", "context.injected tells it"),
        Row(r"history\[\]\.notDispatched.*", "tool_start tells it, as a flag"),
    ),
    "agent.turn_end": (Row("finalContent", "a refused answer is kept back", lambda p: "refused" in p),),
    "context.evaluated": (Row(f"(?!{UNHEARD_OF}).*", "only the counts are told: why each was chosen has no end"),),
    "context.injected": (
        Row("contentSummary", "a shortened copy of rawContent"),
        Row("reason", "the composer's own words on why a fragment is in the request"),
        Row(
            "rawContent",
            "tools are told as definitions; of an unknown slot nobody knows where it goes",
            lambda p: p["slot"] not in ("system-prompt", "messages"),
        ),
    ),
    "context.slot_composed": (
        Row(r"droppedSummaries\[\]", "only the sizes are told", lambda p: p["slot"] != "some text"),
    ),
    "memory.retrieved": (
        Row("namespace", "where the store was searched, of no use to a reader of spans"),
        Row("candidatesOmittedReason", "the store's own words on a list that is shown as it is"),
    ),
    "skill.graph_declared": (Row(f"(?!{UNHEARD_OF}).*", "only the size of the graph is told"),),
    "stream.llm_end": (Row("content", "a policy kept the answer back", lambda p: "contentWithheld" in p),),
    "stream.thinking_delta": (Row("content", "thinking_end has all of it"),),
    "stream.thinking_end": (Row(r"blocks\[\]\.providerMeta.*", "a provider's own bookkeeping"),),
    "stream.token": (Row("content", "the answer repeats all of its chunks"),),
    "stream.tool_end": (Row("result.*", "the model read modelResult", lambda p: "modelResult" in p),),
    "tools.semantics_declared": (Row("semantics.*", "the result in another form: only counts are told"),),
}
"""Event to content leaves that stand neither on spans nor on log events."""

ONLY_WHAT_IS_NAMED = frozenset(
    {
        "agent.iteration_end",
        "agent.iteration_start",
        "agent.turn_start",
        "composition.enter",
        "composition.exit",
        "composition.iteration_start",
        "context.evaluated",
        "context.injected",
        "context.slot_composed",
        "cost.tick",
        "embedding.generated",
        "findings.argument",
        "memory.attached",
        "memory.retrieved",
        "skill.graph_declared",
        "stream.llm_end",
        "stream.llm_start",
        "stream.thinking_delta",
        "stream.thinking_end",
        "stream.token",
        "stream.tool_end",
        "stream.tool_start",
        "tools.semantics_declared",
    }
)
"""Events of which the fields that the emitter names are told, and no others."""

ATTRIBUTES_ONLY: dict[str, str] = {
    "agent.route_decided": "inference",
    "agent.run_configured": "agent",
    "agent.turn_end": "agent",
    "composition.fork_start": "workflow",
    "composition.iteration_exit": "workflow",
    "composition.merge_end": "workflow",
    "composition.route_decided": "workflow",
    "integrity.disposition": "agent",
    "memory.retrieved": "retrieval",
    "memory.written": "memory's span",
    "ontology.served": "inference",
    "pause.request": "agent",
    "tool_choice.outcome": "inference",
    "tools.discovery_completed": "discovery",
    "tools.discovery_failed": "discovery",
    "tools.discovery_started": "discovery",
    "tools.offered": "inference",
}
"""Event to the span whose attributes it is: a fact of a span that is no log event, whatever the setting."""

ON_DETAILS = frozenset(
    {
        "agent.iteration_end",
        "agent.turn_start",
        "context.injected",
        "stream.llm_end",
        "stream.llm_start",
        "stream.thinking_end",
    }
)
"""Events that the conventions' log event of an inference repeats."""

WITH_THE_TOOL = frozenset(
    {
        "credential.failed",
        "findings.declared",
        "permission.check",
        "stream.tool_end",
        "stream.tool_start",
        "tools.code_run",
        "tools.request_attempts",
        "tools.result_refused",
    }
)
"""Events that are attributes of a tool, which its log events have too."""

ON_A_TOOL_BY_CHOICE: dict[str, Callable[[Wire], bool]] = {
    "fallback.triggered": lambda p: p.get("kind") == "tool",
    "tools.mcp_client": lambda p: p.get("at") == "call",
}
"""Events of which some are so."""

TOLD_AT_ONCE = frozenset({"eval.score", "eval.threshold_crossed"})


def on_no_span(event: str, path: str, payload: Wire, place: str) -> bool:
    """Tell whether a content leaf stands on no span even where content may."""
    return untold(event, path, payload) or is_log_only(event, payload, place)


def is_log_only(event: str, payload: Wire, place: str) -> bool:
    """Tell whether an event is a log event only."""
    return place == "log event" or (event == "context.slot_composed" and payload.get("slot") == "some text")


def untold(event: str, path: str, payload: Wire) -> bool:
    """Tell whether a content leaf is told nowhere."""
    if path.startswith(UNHEARD_OF):
        return event in ONLY_WHAT_IS_NAMED and not is_log_only(event, payload, "")
    return any(re.fullmatch(row.path, path) and row.when(payload) for row in OFF_SPANS.get(event, ()))


def on_no_log(event: str, path: str, payload: Wire, place: str, *, catalogue: bool) -> bool:
    """Tell whether a leaf stands on no log event; `catalogue`: the user wants the catalogue's there too."""
    if untold(event, path, payload) or event in ATTRIBUTES_ONLY:
        return True
    told = event in ON_DETAILS | WITH_THE_TOOL | TOLD_AT_ONCE or is_log_only(event, payload, place)
    chosen = event in ON_A_TOOL_BY_CHOICE and ON_A_TOOL_BY_CHOICE[event](payload)
    return not (catalogue or told or chosen)
