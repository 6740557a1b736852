"""Make spans of inferences that are told by events alone.

Some instrumentations write no span for a model call: the events of several calls point at one span, which
keeps the attributes of the last. And where spans were lost, or never exported, the records still tell of
each call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final

from atifold.dialects.genai_events import CHOICE, DETAILS, details
from atifold.dialects.logs import event_of
from atifold.jsontext import sorted_json
from atifold.spans import LogRecord, Span, SpanEvent

_IDENTITIES: Final = ("gcp.vertex.agent.event_id", "gen_ai.response.id")
"""What tells one inference from another, the surest first."""

_FIGURES: Final = ("gen_ai.usage.", "llm.token_count.")
_OPERATION: Final = "gen_ai.operation.name"
_COMMON: Final = (
    _OPERATION,
    "gen_ai.request.model",
    "gen_ai.provider.name",
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "session.id",
)
"""Attributes of the span that hold for each of its inferences."""

_ID_BYTES: Final = 8
_NO_MODEL: Final = frozenset({"invoke_agent", "invoke_workflow", "execute_tool"})


def divide(span: Span) -> Sequence[Span]:
    """Return one span for each inference that the events of a span tell of, the span itself for the last.

    The events must be of different inferences and have figures of their own, and the span must be one of
    a model call. The parts stand one after another in the span's time, all of them under its parent.
    """
    told = [event for event in span.events if event.name == DETAILS and _has_figures(details(event))]
    by_identity = {identity: event for event in told if (identity := _identity(details(event))) is not None}
    if len(by_identity) < 2 or len(by_identity) < len(told) or _is_container(span):  # noqa: PLR2004  one is no several
        return (span,)
    ordered = sorted(by_identity.items(), key=lambda pair: (pair[1].time_ns, pair[0]))
    starts = [span.start_ns, *(event.time_ns for _, event in ordered)]
    begun = [pair[0] for pair in pairwise(starts)]
    earlier = [_part(span, name, event, start) for (name, event), start in zip(ordered[:-1], begun, strict=False)]
    return (*earlier, _rest(span, ordered[-1][1], begun[-1]))


def _has_figures(attributes: Mapping[str, Any]) -> bool:
    return any(name.startswith(_FIGURES[0]) for name in attributes)


def _identity(attributes: Mapping[str, Any]) -> str | None:
    found = (attributes.get(name) for name in _IDENTITIES)
    return next((value for value in found if isinstance(value, str) and value), None)


def _is_container(span: Span) -> bool:
    return str(span.attributes.get(_OPERATION)) in _NO_MODEL


def _part(span: Span, identity: str, event: SpanEvent, start_ns: int) -> Span:
    """Return an earlier inference of a span; its id depends on the span's and on its own."""
    common = {name: span.attributes[name] for name in _COMMON if name in span.attributes}
    return Span(
        trace_id=span.trace_id,
        span_id=blake2b(f"{span.span_id}:{identity}".encode(), digest_size=_ID_BYTES).hexdigest(),
        parent_id=span.parent_id,
        name=span.name,
        start_ns=start_ns,
        end_ns=event.time_ns,
        kind=span.kind,
        attributes={**common, **details(event)},
        resource=span.resource,
        scope_name=span.scope_name,
        scope_version=span.scope_version,
    )


def _rest(span: Span, event: SpanEvent, start_ns: int) -> Span:
    """Return the span as its last inference alone: with the figures of that one, and its other events."""
    own = {name: value for name, value in span.attributes.items() if not name.startswith(_FIGURES)}
    events = tuple(each for each in span.events if each.name != DETAILS)
    return replace(span, start_ns=start_ns, attributes={**own, **details(event)}, events=events)


def from_logs(records: Sequence[LogRecord]) -> Iterable[Span]:
    """Yield a span for each span that is not at hand and of which records tell an inference.

    It has the id that the records give; a record of details without one stands for a span of its own.
    """
    groups: defaultdict[tuple[str, str], list[LogRecord]] = defaultdict(list)
    for record in records:
        if record.trace_id is not None and record.name.startswith("gen_ai."):
            groups[record.trace_id, record.span_id or _made_up(record)].append(record)
    for (trace_id, span_id), group in groups.items():
        if any(record.name in (DETAILS, CHOICE) for record in group):
            yield _span_of(trace_id, span_id, group)


def _made_up(record: LogRecord) -> str:
    """Return a span id that depends on a record alone."""
    told = sorted_json((record.trace_id, record.name, record.time_ns, record.attributes, record.body))
    return blake2b(told, digest_size=_ID_BYTES).hexdigest()


def _span_of(trace_id: str, span_id: str, group: Sequence[LogRecord]) -> Span:
    """Return the span of a model call that records tell of; its times are theirs."""
    first = group[0]
    operation = next((record.attributes[_OPERATION] for record in group if _OPERATION in record.attributes), "chat")
    system = {name: first.attributes[name] for name in ("gen_ai.system",) if name in first.attributes}
    times = [record.time_ns for record in group]
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=None,
        name=str(operation),
        start_ns=min(times),
        end_ns=max(times),
        attributes={_OPERATION: operation, **system},
        events=tuple(map(event_of, group)),
        resource=first.resource,
        scope_name=first.scope_name,
        scope_version=first.scope_version,
    )
