"""Put facts on the inference or the tool they belong to, as attributes.

What can come again (a check, a refusal, a retry) is noted too, whole: of the attributes the last one counts.
"""

from __future__ import annotations

from typing import Any, Final

from atifold import semconv
from atifold.emit.facts import facts_of, read_field
from atifold.emit.machine import Machine
from atifold.emit.on.outcome import chat_of, on_chat, on_tool, owner_facts, permission_check, running_record
from atifold.emit.record import Facts, Moment, add
from atifold.events.envelope import Event

_SAID_BY_THE_SPAN: Final = frozenset({"toolName", "toolCallId", "iteration"})
_SEMANTICS: Final = ("series", "facts", "edges", "not_covered")
_CHECKED: Final = "agentfootprint.permission."


def on_next(machine: Machine, event: Event[Any], facts: Facts) -> None:
    """Put facts on the inference that comes next."""
    owner = machine.find(event)
    if owner is None:
        machine.unplaced.tell(event)
    else:
        add(owner.coming, facts)


def chat_facts(machine: Machine, event: Event[Any]) -> None:
    """Put facts on the inference they name, else on the newest of their branch, else on the next."""
    owner = machine.find(event)
    chat = None if owner is None else chat_of(owner, event)
    if chat is None:
        on_next(machine, event, facts_of(event, without=_SAID_BY_THE_SPAN))
    else:
        chat.record.take(facts_of(event, without=_SAID_BY_THE_SPAN))


def chat_facts_noted(machine: Machine, event: Event[Any]) -> None:
    """Put facts on an inference, and note them."""
    if machine.find(event) is not None:
        chat_facts(machine, event)
    on_chat(machine, event)


def answered_chat_facts(machine: Machine, event: Event[Any]) -> None:
    """Put facts on the inference that has answered; the next one has nothing to do with them."""
    owner = machine.find(event)
    if owner is None or chat_of(owner, event) is None:
        machine.unplaced.tell(event)
    else:
        chat_facts(machine, event)


def tool_facts(machine: Machine, event: Event[Any]) -> None:
    """Put facts on the call they name, which may be yet to start; without a name on the one that runs."""
    _put_on_tool(machine, event, facts_of(event, without=_SAID_BY_THE_SPAN))


def tool_facts_noted(machine: Machine, event: Event[Any]) -> None:
    """Put facts on a tool, and note them."""
    if machine.find(event) is not None:
        tool_facts(machine, event)
    on_tool(machine, event)


def _put_on_tool(machine: Machine, event: Event[Any], facts: Facts) -> None:
    call_id = read_field(event, "tool_call_id")
    if call_id:
        machine.put_on_call(event.meta, str(call_id), facts)
        return
    record = running_record(machine, event)
    if record is None:
        machine.unplaced.tell(event)
    else:
        record.take(facts)


def checked(machine: Machine, event: Event[Any]) -> None:
    """Put a permission check on its call and note it; the fields of an earlier check go away."""
    call_id, run = read_field(event, "tool_call_id"), machine.runs.get(event.meta.run_id)
    tool = run.tool(str(call_id), event.meta.subflow_path) if run is not None and call_id else None
    if tool is not None and _CHECKED + "result" in tool.record.attributes:
        for held in (tool.record.attributes, tool.record.content):
            for name in [name for name in held if name.startswith(_CHECKED)]:
                del held[name]
    if machine.find(event) is not None:
        tool_facts(machine, event)
    permission_check(machine, event)


def code_run(machine: Machine, event: Event[Any]) -> None:
    """Put a program's run on its tool: the conventions' command has its exit code."""
    record = running_record(machine, event)
    if record is None:
        machine.unplaced.tell(event)
        return
    record.take(facts_of(event, without=_SAID_BY_THE_SPAN | {"tool"}))
    exit_code = read_field(event, "exit_code")
    if type(exit_code) is int and record.attributes.get(semconv.OPERATION) == "execute_tool":
        record.attributes[semconv.EXIT_CODE] = exit_code


def semantics_declared(machine: Machine, event: Event[Any]) -> None:
    """Note how much a tool described of its result; the description is the result in another form."""
    structure, _ = facts_of(event, without=frozenset({"semantics"}))
    semantics = read_field(event, "semantics")
    for part in _SEMANTICS:
        told = getattr(semantics, part, None)
        if isinstance(told, list):
            structure[f"agentfootprint.tools.semantics.{part}_count"] = len(told)
    call_id = read_field(event, "tool_call_id")
    machine.note_on_call(event.meta, str(call_id or ""), Moment(event.type, event.meta.time_ns, structure, {}))


def fallen_back(machine: Machine, event: Event[Any]) -> None:
    """Say what took over: a provider on the inference, a tool on the tool, a skill on the agent."""
    kind = read_field(event, "kind")
    handle = {"tool": tool_facts_noted, "skill": owner_facts}.get(str(kind), chat_facts_noted)
    handle(machine, event)


def once_a_name(machine: Machine, event: Event[Any]) -> None:
    """Note a fact of a tool's name on the agent, the first time: it is told again at every iteration."""
    owner = machine.find(event)
    key = event.type, str(read_field(event, "tool_name"))
    if owner is None or owner.record is None:
        machine.unplaced.tell(event)
    elif key in owner.run.told_once:
        machine.counts["events_counted"] += 1
    else:
        owner.run.told_once.add(key)
        owner.record.note(Moment(event.type, event.meta.time_ns, *facts_of(event)))
