"""Handle pauses and what resumes them: a new run that brings a waiting call's result.

A pause seals all spans of its run, called a leg. The next leg is a new trace; its spans are tied to
the paused ones by a link and, since some backends lose links, by attributes.
"""

from __future__ import annotations

from typing import Any

from opentelemetry import trace

from atifold import semconv
from atifold.emit.facts import facts_of, moment_of, read_field
from atifold.emit.machine import LONGEST_MS, NS_PER_MS, Machine
from atifold.emit.record import Facts, Moment
from atifold.emit.state import Leg, Owner, RunState, Talk, Tool
from atifold.events.envelope import Event, Meta


def request(machine: Machine, event: Event[Any]) -> None:
    """Seal the leg that asks: the one in which the named call waits, else the only one with a waiting call."""
    question = read_field(event, "question_payload")
    call_id = getattr(question, "tool_call_id", None)
    waiting = [
        (run, tool)
        for run in machine.runs.values()
        for tool in run.open_tools()
        if call_id is None or tool.call_id == call_id
    ]
    if not waiting or (call_id is None and len({run.run_id for run, _ in waiting}) > 1):
        machine.unplaced.tell(event)
        return
    run = waiting[-1][0] if len(waiting) == 1 else _meant(waiting, event.meta.session_id, question)
    _annotate(run, facts_of(event))
    owners = sorted(run.owners, key=lambda o: len(o.path))
    tools = {tool.call_id: tool for tool in run.open_tools()}
    machine.pauses.add(Leg(run.run_id, run.session_id, run.route, owners, tools, event.meta.time_ns))
    machine.close_run(run, event.meta.time_ns, paused=True)
    machine.forget(run)


def _meant(waiting: list[tuple[RunState, Tool]], session_id: str | None, question: Any) -> RunState:
    """Return the run that asks, where calls of one id wait in several: by session and tool, else the newest."""
    name = (getattr(question, "__pydantic_extra__", None) or {}).get("toolName")

    def likeness(at: tuple[RunState, Tool]) -> tuple[bool, bool]:
        return session_id is not None and at[0].session_id == session_id, at[1].name == name

    return max(reversed(waiting), key=likeness)[0]


def _annotate(run: RunState, facts: Facts) -> None:
    for owner in run.owners:
        if owner.record is not None and owner.kind == "agent":
            owner.record.take(facts)


def resume(machine: Machine, event: Event[Any]) -> None:
    """Hold what is said of the next leg until it is recognised by its waiting call."""
    spent_ms = read_field(event, "paused_duration_ms")
    if not machine.pauses.tell(moment_of(event), event.meta.session_id, _before(event.meta, spent_ms)):
        machine.unplaced.tell(event)


def _before(meta: Meta, spent_ms: object) -> int | None:
    """Return the time that an event says something of it began at, None where it does not say how long that took."""
    if not isinstance(spent_ms, (int, float)) or not 0 <= spent_ms < LONGEST_MS:
        return None
    return meta.time_ns - int(spent_ms * NS_PER_MS)


def recognise_leg(machine: Machine, event: Event[Any], call_id: str) -> None:
    """Open the spans of a resumed leg where an event of a new run names a call that waits.

    The leg starts with its run's first event; its waiting calls are then the run's.
    """
    meta = event.meta
    begun_ns = _before(meta, read_field(event, "duration_ms"))
    leg = machine.pauses.find(call_id, meta.session_id, meta.composition_path, begun_ns)
    if leg is None:
        return
    run = machine.run(event.meta)
    if run.run_id == leg.run_id or any(owner.record is not None for owner in run.owners):
        return
    machine.pauses.take(leg)
    run.resumed.update(leg.tools)
    for paused in leg.owners:
        _reopen(machine, run, paused, leg.said)


def _reopen(machine: Machine, run: RunState, paused: Owner, told: list[Moment]) -> None:
    before = paused.record
    if before is None:
        return
    link = trace.Link(before.at, {semconv.LINK_KIND: "resumes"})
    owner = machine.open_resumed(run, paused, before, link)
    record = owner.record
    if record is None:
        return
    owner.carry_on(paused)
    record.attributes[semconv.RESUMES_TRACE] = f"{before.at.trace_id:032x}"
    record.attributes[semconv.RESUMES_SPAN] = f"{before.at.span_id:016x}"
    for path, talk in paused.talks.items():
        owner.talks[path] = Talk(known=talk.known, prompt=talk.prompt, hidden=talk.hidden)
    if not paused.path:
        for moment in told:
            record.note(moment)
        record.take(run.take_configuration())


def decision(machine: Machine, event: Event[Any]) -> None:
    """Note a check-in's decision on the call it decides; it may be the leg's first sign."""
    call_id = str(read_field(event, "tool_call_id") or "")
    recognise_leg(machine, event, call_id)
    machine.note_on_call(event.meta, call_id, moment_of(event))
