"""Handle retrieval, memory and embeddings: spans of their own under the agent.

Only the numbers and ids named here leave as structure.
"""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.facts import read_field
from atifold.emit.machine import Machine, started_ns
from atifold.emit.redaction import withheld_names
from atifold.emit.state import Owner
from atifold.emit.writer import Moment, Record
from atifold.events.envelope import Event
from atifold.jsontext import to_json_text
from atifold.kinds import field


def retrieved(machine: Machine, event: Event[Any]) -> None:
    """Write a retrieval span; the event has no duration, so the span has none either."""
    owner = machine.owner(event)
    source = _source(event)
    name = f"retrieval {source}" if source else "retrieval"
    first: dict[str, Any] = {semconv.OPERATION: "retrieval"}
    if source:
        first["gen_ai.data_source.id"] = source
    record = _start(machine, owner, event, name, event.meta.time_ns, first)
    top_k = read_field(event, "k")
    if type(top_k) is int:
        record.attributes[semconv.RETRIEVAL_TOP_K] = top_k
    for figure in ("considered_count", "admitted_count", "rejected_count", "threshold"):
        value = read_field(event, figure)
        if isinstance(value, (int, float)):
            record.attributes[f"agentfootprint.memory.{figure}"] = value
    candidates = field(event.payload.to_wire(), "candidates")
    if isinstance(candidates, list) and machine.writer.wants_content:
        record.content[semconv.RETRIEVAL_DOCUMENTS] = to_json_text(candidates)
    record.lack(withheld_names(event))
    record.end_ns = event.meta.time_ns
    record.timed = False
    machine.hold(owner, record)


def _source(event: Event[Any]) -> str | None:
    """Return the id of the memory that a stage `sf-memory-read-<id>/…` reads."""
    for part in event.meta.subflow_path:
        if part.startswith("sf-memory-read-"):
            return part.removeprefix("sf-memory-read-")
    return None


def attached(machine: Machine, event: Event[Any]) -> None:
    """Note on its retrieval that a memory went into the context."""
    owner = machine.find(event)
    held = [r for r in owner.held if r.attributes.get(semconv.OPERATION) == "retrieval"] if owner is not None else []
    if not held:
        machine.unplaced.tell(event)
        return
    facts: dict[str, Any] = {}
    for figure in ("score", "rank"):
        value = read_field(event, figure)
        if isinstance(value, (int, float)):
            facts[f"agentfootprint.memory.{figure}"] = value
    summary = read_field(event, "content_summary")
    content = {"agentfootprint.memory.content_summary": summary} if isinstance(summary, str) else {}
    memory_id = read_field(event, "memory_id")
    if isinstance(memory_id, str):
        facts["agentfootprint.memory.memory_id"] = memory_id
    held[-1].lack(tuple(name for name in withheld_names(event) if name.endswith("content_summary")))
    held[-1].note(Moment(event.type, event.meta.time_ns, facts, content))


def embedded(machine: Machine, event: Event[Any]) -> None:
    """Write an embeddings span from its end minus its duration."""
    owner = machine.owner(event)
    model = read_field(event, "model")
    duration_ms = read_field(event, "duration_ms")
    start_ns = started_ns(owner.run, event.meta, duration_ms if isinstance(duration_ms, (int, float)) else None)
    provider = semconv.provider_of(str(read_field(event, "provider") or "custom")).name
    first = {semconv.OPERATION: "embeddings", semconv.PROVIDER: provider}
    if isinstance(model, str) and model:
        first[semconv.REQUEST_MODEL] = model
    name = f"embeddings {model}" if semconv.REQUEST_MODEL in first else "embeddings"
    record = _start(machine, owner, event, name, start_ns, first)
    dimension, tokens = read_field(event, "dimension"), read_field(event, "tokens_spent")
    if type(dimension) is int:
        record.attributes[semconv.DIMENSIONS] = dimension
    if type(tokens) is int:
        record.attributes[semconv.USAGE_INPUT] = tokens
    record.end_ns = event.meta.time_ns
    record.timed = start_ns < event.meta.time_ns
    machine.hold(owner, record)


def _start(
    machine: Machine, owner: Owner, event: Event[Any], name: str, start_ns: int, first: dict[str, Any]
) -> Record:
    key = (name, event.meta.runtime_stage_id, start_ns)
    return machine.open_call(owner, name, SpanKind.CLIENT, start_ns, first, key)
