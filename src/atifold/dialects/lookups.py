"""Read searches for documents and memories: no calls, but facts of the call that they came before."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from atifold import semconv
from atifold.calls import MISSING, Call, Lookup, ModelCall
from atifold.dialects import values
from atifold.dialects.values import parsed, plain
from atifold.spans import Span, SpanEvent, SpanKey
from atifold.times import microseconds, timestamp

KINDS: Final[Mapping[str, Literal["retrieval", "memory"]]] = {
    "retrieval": "retrieval",
    "search_memory": "memory",
    "create_memory": "memory",
    "update_memory": "memory",
    "upsert_memory": "memory",
    "delete_memory": "memory",
}
"""Values of `gen_ai.operation.name` that are lookups, and what the trajectory calls them."""

_FACTS: Final = (
    ("source", ("gen_ai.data_source.id", "gen_ai.memory.store.id")),
    ("query", ("gen_ai.retrieval.query.text", "gen_ai.memory.query.text")),
    ("top_k", ("gen_ai.retrieval.top_k", "agentfootprint.memory.k")),
    ("threshold", ("agentfootprint.memory.threshold",)),
    ("considered", ("agentfootprint.memory.considered_count",)),
    ("admitted", ("agentfootprint.memory.admitted_count",)),
    ("rejected", ("agentfootprint.memory.rejected_count",)),
    ("count", ("gen_ai.memory.record.count",)),
    ("record", ("gen_ai.memory.record.id",)),
    ("error", ("error.type",)),
)
_BODIES: Final = (
    ("documents", ("gen_ai.retrieval.documents", "agentfootprint.memory.candidates")),
    ("records", ("gen_ai.memory.records",)),
)
"""Name in the trajectory, and the attributes that tell it; bodies are JSON, as text or structured."""

_ATTACHED: Final = "agentfootprint.memory.attached"
_DOMAIN: Final = "agentfootprint.memory."

_Place = tuple[int, float]
"""(start in µs, the emitter's sequence number)."""


def is_lookup(span: Span) -> bool:
    """Tell whether a span's operation is a lookup."""
    operation = span.attributes.get(semconv.OPERATION)
    return isinstance(operation, str) and operation in KINDS


def with_lookups(calls: Iterable[Call], found: Iterable[tuple[Span, SpanKey | None]]) -> list[Call]:
    """Return the calls, each lookup on the next model call beside it, else on the call that it is in.

    `found` are lookups with the nearest call around each, None for none.
    """
    ordered = sorted(found, key=lambda each: (_place(each[0]), each[0].key))
    if not ordered:
        return list(calls)
    at_hand = {call.key: call for call in calls}
    homes = _beside(at_hand.values())
    told: dict[SpanKey, list[Lookup]] = defaultdict(list)
    for span, parent in ordered:
        places, keys = homes.get((span.trace_id, parent), ([], []))
        at = bisect_left(places, _place(span))
        home = keys[at] if at < len(keys) else parent
        if home in at_hand:
            told[home].append(_lookup(span))
    return [replace(call, lookups=tuple(told[key])) if key in told else call for key, call in at_hand.items()]


def _beside(
    calls: Iterable[Call],
) -> dict[tuple[str, SpanKey | None], tuple[list[_Place], list[SpanKey]]]:
    """Return the model calls of each trace and enclosing call, in order: their places and keys."""
    found: dict[tuple[str, SpanKey | None], list[tuple[_Place, SpanKey]]] = defaultdict(list)
    for call in calls:
        if isinstance(call, ModelCall):
            sequence = float("inf") if call.sequence is None else call.sequence
            found[call.key[0], call.parent].append(((microseconds(call.start_ns), sequence), call.key))
    ordered = {where: sorted(each) for where, each in found.items()}
    return {where: ([place for place, _ in each], [key for _, key in each]) for where, each in ordered.items()}


def _place(span: Span) -> _Place:
    sequence = values.number(span.attributes.get(semconv.SEQUENCE))
    return microseconds(span.start_ns), 0 if sequence is None else sequence


def _lookup(span: Span) -> Lookup:
    operation = str(span.attributes[semconv.OPERATION])
    facts: dict[str, Any] = {"operation": operation, "timestamp": timestamp(microseconds(span.start_ns))}
    for name, sources in _FACTS:
        facts[name] = next((plain(span.attributes[s]) for s in sources if s in span.attributes), None)
    for name, sources in _BODIES:
        facts[name] = next((_body(span.attributes[s]) for s in sources if s in span.attributes), None)
    facts["attached"] = [_attached(event) for event in span.events if event.name == _ATTACHED] or None
    return Lookup(KINDS[operation], {name: value for name, value in facts.items() if value is not None})


def _body(value: Any) -> Any:
    """Return a value that is JSON, or its text where it is none."""
    found = parsed(value) if isinstance(value, str) else value
    return plain(value if found is MISSING else found)


def _attached(event: SpanEvent) -> dict[str, Any]:
    return {name.removeprefix(_DOMAIN): plain(value) for name, value in sorted(event.attributes.items())}
