"""Put on the next inference what its request was made of: counts, tools offered, pressure on its budget."""

from __future__ import annotations

from typing import Any, Final

from atifold import semconv
from atifold.emit.facts import facts_of, read_field
from atifold.emit.machine import Machine
from atifold.emit.on.call_facts import on_next
from atifold.emit.on.outcome import on_next_chat
from atifold.events.envelope import Event
from atifold.jsontext import to_json_text
from atifold.kinds import field

_SLOTS: Final = {
    slot: tuple(f"agentfootprint.context.{slot.replace('-', '_')}.{name}" for name in ("used", "cap", "dropped_count"))
    for slot in ("system-prompt", "messages", "tools")
}
_EVALUATED: Final = {
    name: f"agentfootprint.context.{name}" for name in ("active_count", "skipped_count", "evaluated_total")
}


def slot_composed(machine: Machine, event: Event[Any]) -> None:
    """Put a slot's characters, and how many entries had no room, on the next inference."""
    owner, names = machine.find(event), _SLOTS.get(str(read_field(event, "slot")))
    if owner is None or names is None:
        machine.unplaced.tell(event)
        return
    budget, dropped = read_field(event, "budget"), read_field(event, "dropped_count")
    # three slots a call, and hardly ever is anything dropped
    told = (getattr(budget, "used", None), getattr(budget, "cap", None), dropped or None)
    for name, value in zip(names, told, strict=True):
        if type(value) is int:
            owner.coming.structure[name] = value


def evaluated(machine: Machine, event: Event[Any]) -> None:
    """Put on the next inference how many injections were asked, and how many are in it."""
    owner = machine.find(event)
    if owner is None:
        machine.unplaced.tell(event)
        return
    for field_name, name in _EVALUATED.items():
        value = read_field(event, field_name)
        if type(value) is int:
            owner.coming.structure[name] = value


def offered(machine: Machine, event: Event[Any]) -> None:
    """Put the tools that the next inference is offered, and those withheld, on it; metrics name no others."""
    run, names = machine.runs.get(event.meta.run_id), read_field(event, "available_ids")
    if run is not None and isinstance(names, (list, tuple)):
        run.offers.add(names)
    facts = facts_of(event, without=frozenset({"withheldReasons"}))
    reasons = field(event.payload.to_wire(), "withheldReasons")
    if reasons:  # by tool: as attributes they would be names without end
        facts.structure["agentfootprint.tools.withheld_reasons"] = to_json_text(reasons)
    on_next(machine, event, facts)


def budget_pressure(machine: Machine, event: Event[Any]) -> None:
    """Put the pressure on the next inference and note it; a history that is summarised is compacted."""
    facts = facts_of(event)
    if read_field(event, "slot") == "messages" and read_field(event, "plan_action") == "summarize":
        facts.structure[semconv.COMPACTED] = True
    if machine.find(event) is not None:
        on_next(machine, event, facts)
    on_next_chat(machine, event)
