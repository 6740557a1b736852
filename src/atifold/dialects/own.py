"""Read the facts that our own emitter writes beside the conventions' attributes.

`agentfootprint.*` are facts of the event, `atifold.*` facts of ours. They only add to what a span's
dialect says: a span with these alone is no call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from atifold import semconv
from atifold.calls import Attempt
from atifold.dialects import values
from atifold.dialects.about import About
from atifold.dialects.table import (
    AGENTS,
    MODELS,
    MODELS_AND_AGENTS,
    TOOLS,
    CallKind,
    Dialect,
    Fields,
    Ignored,
    Row,
    Verdict,
)
from atifold.dialects.values import Note, word
from atifold.kinds import is_list
from atifold.spans import Span, SpanEvent, Status
from atifold.times import microseconds, timestamp

ROWS: Final = (
    Row("sequence", (semconv.SEQUENCE,), values.integer),
    Row("paused", (semconv.PAUSED,), values.flag),
    Row("incomplete", (semconv.INCOMPLETE,), values.words),
    Row("agent_version", (semconv.AGENT_VERSION,), kinds=AGENTS),
    Row("run_id", (semconv.RUN_ID,), kinds=AGENTS),
    Row("delegated", (semconv.DELEGATED,), values.flag, AGENTS),
    Row("input_base", (semconv.INPUT_BASE,), values.count, MODELS),
    Row("cost_usd", (semconv.COST_USD,), values.exact_money, MODELS_AND_AGENTS),
    Row("cost_source", (semconv.COST_SOURCE,), kinds=MODELS),
    Row("dispatch", (semconv.DISPATCH,), kinds=TOOLS),
    Row("agent_name", ("agentfootprint.member",), kinds=MODELS),
)

_PREFIXES: Final = ("agentfootprint.", "atifold.")
_RAW_USAGE: Final = "agentfootprint.stream.usage."
_RETRIED: Final = ("agentfootprint.error.retried", "agentfootprint.reliability.retried")
_RECOVERED: Final = ("agentfootprint.error.recovered", "agentfootprint.reliability.recovered")
_FELL_BACK: Final = "agentfootprint.fallback.triggered"
_SCORE: Final = "agentfootprint.eval.score"
_LISTS: Final = (semconv.INFERRED, semconv.OMITTED, semconv.WITHHELD)
"""Lists of words that a span keeps; MLflow and Jaeger's older API make JSON text of a list."""
_DISPATCHES: Final = frozenset({"refused", "not_dispatched"})


def marks(span: Span) -> bool:
    """Tell whether our emitter left a fact here."""
    for name in span.attributes:  # every span of a program is asked, and a generator costs more
        if name.startswith(_PREFIXES):
            return True
    return any(event.name.startswith(_PREFIXES) for event in span.events)


def classify(span: Span) -> Verdict:
    """Say that a span of ours alone is no call; all else the conventions say."""
    operation = span.attributes.get(semconv.OWN_OPERATION)
    return Ignored(operation) if isinstance(operation, str) and operation else None


def complete(span: Span, kind: CallKind, fields: Fields, _note: Note) -> None:
    """Fill in the tie to the paused leg, lists that came as text, the failed attempts, and the events to keep."""
    if word(fields.get("dispatch")) not in _DISPATCHES:
        fields.pop("dispatch", None)
    trace_id, span_id = span.attributes.get(semconv.RESUMES_TRACE), span.attributes.get(semconv.RESUMES_SPAN)
    if isinstance(trace_id, str) and isinstance(span_id, str):
        fields.setdefault("resumes", (trace_id, span_id))
    for name in _LISTS:
        if isinstance(text := span.attributes.get(name), str) and is_list(told := values.parsed(text)):
            fields.setdefault(f"extra.{name}", told)
    if span.events:
        # Jaeger gives events in the order of their names.
        _tell(sorted(span.events, key=lambda event: event.time_ns), span, kind, fields)


def _tell(events: Sequence[SpanEvent], span: Span, kind: CallKind, fields: Fields) -> None:
    """Fill in what the events of a span say, which are in the order of their times."""
    if kind is CallKind.MODEL:
        attempts = tuple(_attempt(event) for event in events if event.name in _RETRIED)
        if attempts:
            fields.setdefault("attempts", attempts)
        served = {} if span.status is Status.ERROR else _served(events)
        if served:
            who: dict[str, Any] = {name: fields[name] for name in ("provider", "model") if name in fields}
            fields.setdefault("served", {**who, **served})
    scores = tuple(_score(event) for event in events if event.name == _SCORE)
    if scores:
        fields.setdefault("scores", scores)
    elsewhere = (*_RETRIED, _SCORE)
    kept = [_event(event) for event in events if event.name.startswith(_PREFIXES) and event.name not in elsewhere]
    if kept:
        fields.setdefault("extra.events", kept)


def _attempt(event: SpanEvent) -> Attempt:
    found = _plain(event)
    number = values.number(found.pop("attempt", None))
    return Attempt(event.time_ns, number if isinstance(number, int) else None, found)


def _served(events: Sequence[SpanEvent]) -> dict[str, Any]:
    """Return who answered after all: the attempt that worked, the provider that took over; empty where none failed."""
    found: dict[str, Any] = {}
    for event in events:
        told = _plain(event)
        if event.name in _RECOVERED:
            found.update({name: told[name] for name in ("attempt", "recovered_via") if name in told})
        elif event.name in _RETRIED and "to_provider" in told:
            found["provider"] = told["to_provider"]
        elif event.name == _FELL_BACK and told.get("kind") == "provider" and "fallback" in told:
            found["provider"] = told["fallback"]
    return found


def _score(event: SpanEvent) -> dict[str, Any]:
    """Return an evaluation as `extra` holds it."""
    return {**_plain(event), "timestamp": timestamp(microseconds(event.time_ns))}


def _event(event: SpanEvent) -> dict[str, Any]:
    """Return a span event as the step keeps it, its time floored to the microsecond."""
    found = {"name": event.name, "timestamp": timestamp(microseconds(event.time_ns)), "attributes": _plain(event)}
    return {name: value for name, value in found.items() if value}


def _plain(event: SpanEvent) -> dict[str, Any]:
    """Return an event's attributes under their short names, in the order of the whole ones."""
    return {_short(name, event.name): values.plain(value) for name, value in sorted(event.attributes.items())}


def _short(name: str, event: str) -> str:
    """Return an event's attribute name without the domain of the event before it."""
    return name.removeprefix(event.rpartition(".")[0] + ".")


OWN: Final = Dialect(
    name="atifold",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    kept_prefixes=_PREFIXES,
    known=frozenset({semconv.RESUMES_TRACE, semconv.RESUMES_SPAN}),
    raw_usage=(_RAW_USAGE,),
    marks_events=True,
    about=About(
        title="atifold's own emitter",
        versions="this one",
        carries="pauses, retries, lookups, evaluations and all facts of events, beside the conventions",
        lacks="nothing that the events say, as far as content is captured",
    ),
)
