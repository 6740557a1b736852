"""Handle retrieval, memory and embeddings: spans of their own under the agent.

Only the numbers and ids named here leave as structure.
"""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.facts import facts_of, read_field
from atifold.emit.machine import Machine, started_ns
from atifold.emit.record import Moment, Record
from atifold.emit.redaction import withheld_names
from atifold.emit.state import Owner
from atifold.events.envelope import Event
from atifold.jsontext import to_json_text
from atifold.kinds import field

SEARCH: Final = "search_memory"
UPSERT: Final = "upsert_memory"
_READS: Final = "sf-memory-read-"
_WRITES: Final = "sf-memory-write-"


def retrieved(machine: Machine, event: Event[Any]) -> None:
    """Write a retrieval, or a search of a memory of conversations: what it is, the configuration says.

    The event has no duration, so the span has none either.
    """
    owner = machine.owner(event)
    source = _source(event, _READS)
    recall = source is not None and owner.run.flavors.get(source) == "memory"
    record = _search(machine, owner, event, source) if recall else _retrieval(machine, owner, event, source)
    for figure in ("considered_count", "admitted_count", "rejected_count", "threshold"):
        value = read_field(event, figure)
        if isinstance(value, (int, float)):
            record.attributes[f"agentfootprint.memory.{figure}"] = value
    candidates = field(event.payload.to_wire(), "candidates")
    if isinstance(candidates, list) and machine.writer.wants_content:
        name = "agentfootprint.memory.candidates" if recall else semconv.RETRIEVAL_DOCUMENTS
        record.content[name] = to_json_text(candidates)
    _hold(machine, owner, event, record)


def _hold(machine: Machine, owner: Owner, event: Event[Any], record: Record) -> None:
    """End a span whose event tells no duration."""
    record.lack(withheld_names(event))
    record.end_ns = event.meta.time_ns
    record.timed = False
    machine.hold(owner, record)


def _retrieval(machine: Machine, owner: Owner, event: Event[Any], source: str | None) -> Record:
    name = f"retrieval {source}" if source else "retrieval"
    first: dict[str, Any] = {semconv.OPERATION: "retrieval"}
    if source:
        first[semconv.DATA_SOURCE] = source
    record = _start(machine, owner, event, name, event.meta.time_ns, first)
    top_k = read_field(event, "k")
    if type(top_k) is int:
        record.attributes[semconv.RETRIEVAL_TOP_K] = top_k
    return record


def _search(machine: Machine, owner: Owner, event: Event[Any], store: str | None) -> Record:
    first: dict[str, Any] = {semconv.OPERATION: SEARCH, semconv.MEMORY_STORE: store}
    record = _start(machine, owner, event, SEARCH, event.meta.time_ns, first)
    for name, attribute in (("k", "agentfootprint.memory.k"), ("admitted_count", semconv.MEMORY_COUNT)):
        value = read_field(event, name)
        if type(value) is int:
            record.attributes[attribute] = value
    return record


def written(machine: Machine, event: Event[Any]) -> None:
    """Write what went into a memory; after the end of its run there is nobody to write it for."""
    owner = machine.find(event)
    if owner is None:
        machine.unplaced.tell(event)
        return
    memory_id, summary = read_field(event, "memory_id"), read_field(event, "content_summary")
    first: dict[str, Any] = {semconv.OPERATION: UPSERT}
    store = _source(event, _WRITES)
    if store:
        first[semconv.MEMORY_STORE] = store
    if isinstance(memory_id, str):
        first[semconv.MEMORY_RECORD] = memory_id
    first[semconv.MEMORY_COUNT] = 1
    record = _start(machine, owner, event, UPSERT, event.meta.time_ns, first)
    record.take(facts_of(event, without=frozenset({"memoryId", "contentSummary"})))
    if isinstance(summary, str) and machine.writer.wants_content:
        told = {"content": summary, **({"id": memory_id} if isinstance(memory_id, str) else {})}
        record.content[semconv.MEMORY_RECORDS] = to_json_text([told])
    _hold(machine, owner, event, record)


def _source(event: Event[Any], stem: str) -> str | None:
    """Return the id of the memory that a stage reads or writes (`sf-memory-read-<id>/…`)."""
    for part in event.meta.subflow_path:
        if part.startswith(stem):
            return part.removeprefix(stem)
    return None


def attached(machine: Machine, event: Event[Any]) -> None:
    """Note on its retrieval that a memory went into the context; one that was not searched for, on the agent."""
    owner = machine.find(event)
    record = None if owner is None else _read_before(owner, _source(event, _READS)) or owner.record
    if record is None:
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
    record.lack(tuple(name for name in withheld_names(event) if name.endswith("content_summary")))
    record.note(Moment(event.type, event.meta.time_ns, facts, content))
    if record.attributes.get(semconv.OPERATION) == SEARCH and machine.writer.wants_content:
        found = [_as_record(moment) for moment in record.moments if moment.name == event.type and moment.content]
        record.content[semconv.MEMORY_RECORDS] = to_json_text(found)


def _read_before(owner: Owner, source: str | None) -> Record | None:
    """Return the newest search or retrieval that is not sealed, of one memory where its id is known."""
    held = [record for record in owner.held if record.attributes.get(semconv.OPERATION) in ("retrieval", SEARCH)]
    own = [r for r in held if source in (r.attributes.get(semconv.DATA_SOURCE), r.attributes.get(semconv.MEMORY_STORE))]
    found = own or held
    return found[-1] if found else None


def _as_record(moment: Moment) -> dict[str, Any]:
    """Return an attached piece in the conventions' shape of a memory's record."""
    told = {**moment.attributes, **moment.content}
    names = {"content": "content_summary", "id": "memory_id", "score": "score"}
    found = {name: told.get(f"agentfootprint.memory.{ours}") for name, ours in names.items()}
    return {name: value for name, value in found.items() if value is not None}


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
