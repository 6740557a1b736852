"""Handle cost, errors, refusals and the events that end a run."""

from __future__ import annotations

from typing import Any

from atifold import semconv
from atifold.emit.facts import facts_of, moment_of, read_field
from atifold.emit.machine import Machine
from atifold.emit.reasons import ABANDONED
from atifold.emit.record import DENIED, Moment, Record
from atifold.emit.state import Chat, Owner
from atifold.events.cost import CostTick
from atifold.events.envelope import Event

PERMISSION_HALT = "permission_halt"
_MOST_MONEY = 1e300  # NaN is not below it
_TOOL_NAMES = ("tool_name", "tool")


def cost_tick(machine: Machine, event: Event[CostTick]) -> None:
    """Put what an inference cost on its span; a tick without such an inference is its agent's spend."""
    payload = event.payload
    owner = machine.find(event)
    chat = None if owner is None else _priced_chat(owner, event.meta.runtime_stage_id)
    record = None if owner is None else owner.record
    cumulative = None if payload.cumulative is None else _dollars(machine, payload.cumulative.estimated_usd)
    if record is not None and cumulative is not None:
        record.attributes[semconv.COST_CUMULATIVE] = cumulative
    usd = _dollars(machine, payload.estimated_usd)
    if chat is not None and owner is not None and payload.estimated_usd is not None:
        if usd is not None:
            _add_cost(chat, usd)
        if payload.__pydantic_extra__:
            machine.settle(owner, chat, last=payload.__pydantic_extra__.get("atifold.last"))
    elif usd is not None and record is not None:
        record.attributes[semconv.COST_OTHER] = record.attributes.get(semconv.COST_OTHER, 0.0) + usd
    else:
        machine.unplaced.tell(event)


def _dollars(machine: Machine, amount: float | None) -> float | None:
    """Return an amount of money, None where it is none: below 0, NaN, beyond all money there is."""
    if amount is None or 0 <= amount <= _MOST_MONEY:
        return None if amount is None else float(amount)
    machine.counts["figures_unknown"] += 1
    return None


def _priced_chat(owner: Owner, stage_id: str) -> Chat | None:
    return next((chat for chat in owner.chats if stage_id and chat.stage_id == stage_id), None)


def _add_cost(chat: Chat, usd: float) -> None:
    chat.cost_usd = (chat.cost_usd or 0.0) + usd
    chat.record.attributes[semconv.COST_USD] = chat.cost_usd
    chat.record.attributes[semconv.COST_SOURCE] = "local"


# ---- the ends of runs ----------------------------------------------------------------------------


def fatal(machine: Machine, event: Event[Any]) -> None:
    """Close everything that is open of the run as failed: no other end event follows."""
    kind = (getattr(event.payload, "model_extra", None) or {}).get("atifold.errorType") or semconv.OTHER_ERROR
    _end_run(machine, event, str(kind), read_field(event, "error"))


def fail_fast(machine: Machine, event: Event[Any]) -> None:
    """Close everything that is open of the run as failed; no turn_end follows."""
    kind = read_field(event, "error_kind") or semconv.OTHER_ERROR
    _end_run(machine, event, str(kind), read_field(event, "error_message"))


def halt(machine: Machine, event: Event[Any]) -> None:
    """Close everything that is open of the run: a permission rule stopped it."""
    _end_run(machine, event, PERMISSION_HALT, read_field(event, "reason"))


def _end_run(machine: Machine, event: Event[Any], kind: str, text: object) -> None:
    run = machine.runs.get(event.meta.run_id)
    if run is None or not run.owners:
        machine.owner(event)
        run = machine.run(event.meta)
    run.last_ns = max(run.last_ns, event.meta.time_ns)
    facts = facts_of(event)
    for owner in run.owners:
        if owner.record is not None and len(owner.path) == min(len(o.path) for o in run.owners):
            owner.record.take(facts)
    machine.unplaced.repeat(event, machine.unplaced.place(event.meta))
    failure = (kind, text if isinstance(text, str) else None)
    machine.close_run(run, event.meta.time_ns, failure=failure)
    machine.forget(run)


def disposition(machine: Machine, event: Event[Any]) -> None:
    """Seal the run: nothing follows. A turn that has not ended by now was abandoned."""
    run = machine.runs.get(event.meta.run_id)
    if run is None:
        machine.unplaced.tell(event)
        return
    facts = facts_of(event)
    for owner in run.owners:
        if owner.record is not None and owner.kind == "agent" and not owner.path:
            owner.record.take(facts)
    machine.close_run(run, event.meta.time_ns, incomplete=None if _all_ended(run.owners) else ABANDONED)
    machine.forget(run)


def _all_ended(owners: list[Owner]) -> bool:
    return all(owner.ended for owner in owners if owner.record is not None)


# ---- facts ---------------------------------------------------------------------------------------


def on_chat(machine: Machine, event: Event[Any]) -> None:
    """Note a fact on the inference it names by its stage, else on the newest of its branch, else the next."""
    owner = machine.find(event)
    if owner is None:
        machine.unplaced.tell(event)
        return
    chat = chat_of(owner, event)
    if chat is None:
        machine.note_on_next_chat(owner, moment_of(event))
    else:
        chat.record.note(moment_of(event))


def chat_of(owner: Owner, event: Event[Any]) -> Chat | None:
    """Return the inference that an event names by its stage, else the newest; None where that is to come."""
    chat = _priced_chat(owner, event.meta.runtime_stage_id) or owner.chat()
    number = None if chat is None else read_field(event, "iteration")
    if chat is None or type(number) is not int:
        return chat
    told = {known.iteration: known for known in owner.chats}
    return told.get(number) or (None if type(chat.iteration) is int and chat.iteration < number else chat)


def on_next_chat(machine: Machine, event: Event[Any]) -> None:
    """Note a fact on the inference that comes next."""
    owner = machine.find(event)
    if owner is None:
        machine.unplaced.tell(event)
    else:
        machine.note_on_next_chat(owner, moment_of(event))


def on_owner(machine: Machine, event: Event[Any]) -> None:
    """Note a fact on the agent (or composition) it belongs to."""
    owner = machine.find(event)
    if owner is None or owner.record is None:
        machine.unplaced.tell(event)
    else:
        owner.record.note(moment_of(event))


def owner_facts(machine: Machine, event: Event[Any]) -> None:
    """Put a fact on the agent's attributes, and note when it happened."""
    owner = machine.find(event)
    if owner is None or owner.record is None:
        machine.unplaced.tell(event)
        return
    facts = facts_of(event)
    owner.record.take(facts)
    owner.record.note(Moment(event.type, event.meta.time_ns, {}, {}, facts))


def on_tool(machine: Machine, event: Event[Any]) -> None:
    """Note a fact on the call it names, which may be yet to start; without a name on the one that runs."""
    call_id = read_field(event, "tool_call_id")
    if call_id:
        machine.note_on_call(event.meta, str(call_id), moment_of(event))
    else:
        _on_open_tool(machine, event, moment_of(event))


def _on_open_tool(machine: Machine, event: Event[Any], moment: Moment) -> None:
    record = running_record(machine, event)
    if record is None:
        machine.unplaced.tell(event)
    else:
        record.note(moment)


def running_record(machine: Machine, event: Event[Any]) -> Record | None:
    """Return the tool that runs, of the event's tool name where it has one, else the agent."""
    owner = machine.find(event)
    if owner is None:
        return None
    name = next((value for field in _TOOL_NAMES if isinstance(value := read_field(event, field), str)), None)
    running = [tool for tool in owner.tools if not tool.ended and name in (None, tool.name)]
    return running[-1].record if running else owner.record


def permission_check(machine: Machine, event: Event[Any]) -> None:
    """Note a permission check on its call; what was denied is refused, not failed."""
    on_tool(machine, event)
    if read_field(event, "result") != DENIED:
        return
    run = machine.runs.get(event.meta.run_id)
    call_id = read_field(event, "tool_call_id")
    if run is None:
        return
    named = run.tool(str(call_id), event.meta.subflow_path) if call_id else None
    running = list(run.open_tools()) if named is None and not call_id else [named]
    if len(running) == 1 and running[0] is not None:  # a named call that has not started learns it then
        running[0].refused = True


def log_only(machine: Machine, event: Event[Any]) -> None:
    """Tell the log of a fact that comes when no span is open, or fits on none."""
    machine.unplaced.tell(event, counted_as="events_counted")
