"""Handle pauses and what resumes them: a new run that brings a waiting call's result.

A pause seals all spans of its run, called a leg. The next leg is a new trace; its spans are tied to
the paused ones by a link and, since some backends lose links, by attributes.
"""

from __future__ import annotations

from typing import Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.facts import Facts, facts_of, moment_of, read_field
from atifold.emit.machine import Machine
from atifold.emit.state import Leg, Owner, RunState, Talk, Tool
from atifold.emit.writer import Moment
from atifold.events.envelope import Event

NS_PER_MS = 1_000_000


def request(machine: Machine, event: Event[Any]) -> None:
    """Seal the leg that asks: the one in which the named call waits, else the only one with a waiting call."""
    call_id = getattr(read_field(event, "question_payload"), "tool_call_id", None)
    waiting = [
        (run, tool)
        for run in machine.runs.values()
        for tool in run.open_tools()
        if call_id is None or tool.call_id == call_id
    ]
    if not waiting or (call_id is None and len({run.run_id for run, _ in waiting}) > 1):
        machine.counts["facts_dropped"] += 1
        return
    run = waiting[-1][0]
    _annotate(run, facts_of(event))
    owners = sorted(run.owners, key=lambda o: len(o.path))
    leg = Leg(run.run_id, owners, {t.call_id: t for t in run.open_tools()})
    for waiting_id in leg.tools:
        machine.legs[waiting_id] = leg
    machine.close_run(run, event.meta.time_ns, paused=True)
    machine.forget(run)


def _annotate(run: RunState, facts: Facts) -> None:
    for owner in run.owners:
        if owner.record is not None and owner.kind == "agent":
            owner.record.attributes.update(facts.structure)
            owner.record.content.update(facts.content)


def resume(machine: Machine, event: Event[Any]) -> None:
    """Hold what is said of the next leg until it is recognised by its waiting call."""
    machine.resuming.append(moment_of(event))


def leg_of(machine: Machine, event: Event[Any], call_id: str) -> Owner | None:
    """Open the spans of a resumed leg when an event of a new run names a waiting call; None if none does.

    The leg starts with its run's first event.
    """
    leg = machine.legs.get(call_id)
    run = machine.run(event.meta)
    if leg is None or run.run_id == leg.run_id or any(o.kind != "none" for o in run.owners):
        return None
    told, machine.resuming = machine.resuming, []
    for waiting_id, tool in leg.tools.items():
        machine.legs.pop(waiting_id, None)
        machine.resumed[run.run_id, waiting_id] = tool
    for paused in leg.owners:
        _reopen(machine, run, paused, told)
    return run.owner(event.meta.subflow_path)


def _reopen(machine: Machine, run: RunState, paused: Owner, told: list[Moment]) -> None:
    before = paused.record
    if before is None:
        return
    link = trace.Link(before.at, {semconv.LINK_KIND: "resumes"})
    owner = machine.open_resumed(run, paused, before, link)
    record = owner.record
    if record is None:
        return
    record.attributes[semconv.RESUMES_TRACE] = f"{before.at.trace_id:032x}"
    record.attributes[semconv.RESUMES_SPAN] = f"{before.at.span_id:016x}"
    for path, talk in paused.talks.items():
        owner.talks[path] = Talk(known=talk.known, prompt=talk.prompt)
    if not paused.path:
        record.moments.extend(told)
        record.attributes.update(run.configured)
        record.content.update(run.configured_content)
        run.configured, run.configured_content = {}, {}


def resumed_tool(machine: Machine, event: Event[Any], call_id: str, duration_ms: float | None) -> Tool | None:
    """Return the execution whose result arrives in this leg, opened from its end minus its duration.

    It does not start before the leg's first event. None where the call does not wait.
    """
    if call_id in machine.legs:
        leg_of(machine, event, call_id)
    paused = machine.resumed.pop((event.meta.run_id, call_id), None)
    owner = machine.find(event)
    if paused is None or owner is None:
        return None
    start_ns = max(owner.run.first_ns, event.meta.time_ns - int((duration_ms or 0) * NS_PER_MS))
    return _reopened_tool(machine, owner, paused, start_ns, event.meta.runtime_stage_id)


def _reopened_tool(machine: Machine, owner: Owner, paused: Tool, start_ns: int, stage_id: str) -> Tool:
    first: dict[str, Any] = {semconv.OPERATION: "execute_tool", semconv.TOOL_NAME: paused.name}
    name = f"execute_tool {paused.name}".strip()
    for attribute in (semconv.TOOL_TYPE, semconv.TOOL_CALL_ID, semconv.AGENT_NAME):
        if attribute in paused.record.attributes:
            first[attribute] = paused.record.attributes[attribute]
    record = machine.open_call(owner, name, SpanKind.INTERNAL, start_ns, first, ("tool", stage_id, paused.call_id))
    record.moments.extend(machine.waiting.pop(paused.call_id, ()))
    tool = Tool(record, paused.call_id, paused.name, paused.arguments)
    owner.tools.append(tool)
    return tool


def decision(machine: Machine, event: Event[Any]) -> None:
    """Note a check-in's decision on the call it decides; it may be the leg's first sign."""
    call_id = str(read_field(event, "tool_call_id") or "")
    if call_id in machine.legs:
        leg_of(machine, event, call_id)
    run = machine.runs.get(event.meta.run_id)
    tool = run.tool(call_id) if run is not None else None
    if tool is not None:
        tool.record.moments.append(moment_of(event))
    else:
        machine.wait_for_tool(call_id, moment_of(event))
