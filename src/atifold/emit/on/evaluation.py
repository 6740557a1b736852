"""Handle what evaluators say of runs, inferences and tools, at any time and from anywhere."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from opentelemetry.trace import SpanContext

from atifold import semconv
from atifold.emit.ended import EndedRun
from atifold.emit.facts import facts_of, moment_of, read_field
from atifold.emit.machine import Machine
from atifold.emit.record import Moment, Record
from atifold.emit.state import RunState
from atifold.events.envelope import Event

_TOOLS: Final = frozenset({"toolCall", None})  # an older producer does not say what is scored
_NAMED: Final = frozenset({"metricId", "value", "label", "explanation"})


class _Target(NamedTuple):
    """What is evaluated: its record while that is open, where it is or was, the id of a model's answer."""

    record: Record | None = None
    at: SpanContext | None = None
    response_id: str | None = None


def score(machine: Machine, event: Event[Any]) -> None:
    """Note a score on what it scores while that is open, and tell it the log in the conventions' form."""
    target = _target(machine, event)
    _tell(machine, target, _result(event, target.response_id), event)


def threshold_crossed(machine: Machine, event: Event[Any]) -> None:
    """Note that a metric went over or under its threshold; the conventions have no name for it."""
    _tell(machine, _target(machine, event), moment_of(event), event)


def _tell(machine: Machine, target: _Target, moment: Moment, event: Event[Any]) -> None:
    if target.record is not None:
        target.record.note(moment_of(event))
    if target.record is None or machine.unplaced.log.ready():
        machine.unplaced.tell_moment(moment, target.at)


def _result(event: Event[Any], response_id: str | None) -> Moment:
    """Return the conventions' evaluation event (semconv §4); what it has no name for keeps ours.

    Of a score without a name, which that event must have, the event as it came.
    """
    if not read_field(event, "metric_id"):
        return moment_of(event)
    structure, content = facts_of(event, without=_NAMED)
    for field, name, target in (
        ("metric_id", semconv.EVALUATION_NAME, structure),
        ("value", semconv.SCORE_VALUE, structure),
        ("label", semconv.SCORE_LABEL, content),
        ("explanation", semconv.EXPLANATION, content),
    ):
        value = read_field(event, field)
        if value is not None:
            target[name] = float(value) if type(value) is int and field == "value" else value
    if response_id is not None:
        structure[semconv.RESPONSE_ID] = response_id
    return Moment(semconv.EVALUATION_RESULT, event.meta.time_ns, structure, content)


def _target(machine: Machine, event: Event[Any]) -> _Target:
    kind, reference = read_field(event, "target"), str(read_field(event, "target_ref"))
    if kind in _TOOLS:
        found = _tool(machine, event, reference)
        if found is not None or kind is not None:
            return found or _Target()
    run = _run(machine, event, reference)
    if kind == "iteration":
        return _iteration(machine, event, run, reference) or _whole(run)
    return _whole(run)


def _whole(run: RunState | EndedRun | None) -> _Target:
    """Return a run's outermost span."""
    if isinstance(run, EndedRun):
        return _Target(at=run.at)
    record = run.owners[0].record if run is not None and run.owners else None
    return _Target() if record is None else _Target(record, record.at)


def _tool(machine: Machine, event: Event[Any], call_id: str) -> _Target | None:
    """Return the call of an id: in the score's own run, else the only one that may be meant."""
    runs, meta = machine.runs, event.meta
    own = runs.get(meta.run_id)
    open_runs = [own] if own is not None else [run for run in runs.values() if _in_session(run, event)]
    found = [tool for run in open_runs if (tool := run.tool(call_id)) is not None]
    if found:
        return _Target(found[0].record, found[0].record.at) if len(found) == 1 else None
    ended = machine.unplaced.ended
    at = ended.calls.get((meta.run_id, call_id)) or ended.session_calls.get((meta.session_id, call_id))
    return None if at is None else _Target(at=at)


def _run(machine: Machine, event: Event[Any], reference: str) -> RunState | EndedRun | None:
    """Return the run that a score names if it lies in its session, else the only open one of the session."""
    for run_id in (reference, event.meta.run_id):
        run = machine.runs.get(run_id)
        found = run if run is not None and run.owners else machine.unplaced.ended.runs.get(run_id)
        if found is not None and _in_session(found, event):
            return found
    candidates = [run for run in machine.runs.values() if run.owners and _in_session(run, event)]
    return candidates[0] if len(candidates) == 1 else None


def _in_session(run: RunState | EndedRun, event: Event[Any]) -> bool:
    session = event.meta.session_id
    return not session or run.session_id == session


def _iteration(machine: Machine, event: Event[Any], run: RunState | EndedRun | None, reference: str) -> _Target | None:
    """Return the inference of an iteration: of the run, else of the last one of the session."""
    ended = machine.unplaced.ended
    last = ended.last_runs.get(event.meta.session_id)
    run_id = run.run_id if run is not None else last.run_id if last is not None else None
    if run_id is None or not reference.isascii() or not reference.isdigit():
        return None
    number = int(reference)
    if isinstance(run, RunState):
        for chat in (chat for owner in run.owners for chat in owner.chats):
            if chat.iteration == number:
                return _Target(chat.record, chat.record.at, chat.response_id)
    known = ended.chats.get((run_id, number))
    return None if known is None else _Target(at=known.at, response_id=known.response_id)
