"""Take a span apart that stands for several inferences, each told by an event of details of its own.

Some instrumentations write no span for a model call: the events of several calls point at one span, which
keeps the attributes of the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final

from atifold.dialects.genai_events import DETAILS, details
from atifold.spans import Span, SpanEvent

_IDENTITIES: Final = ("gcp.vertex.agent.event_id", "gen_ai.response.id")
"""What tells one inference from another, the surest first."""

_FIGURES: Final = ("gen_ai.usage.", "llm.token_count.")
_COMMON: Final = (
    "gen_ai.operation.name",
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
    return span.attributes.get("gen_ai.operation.name") in _NO_MODEL


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
