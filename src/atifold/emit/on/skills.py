"""Handle the events of skills that are more than a note on the agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from atifold import semconv
from atifold.emit.facts import read_field
from atifold.emit.machine import Machine
from atifold.emit.on.outcome import on_owner
from atifold.emit.record import Facts, add
from atifold.emit.state import Owner, Tool
from atifold.events.envelope import Event
from atifold.kinds import field, is_list

_READ_SKILL: Final = "read_skill"
_BY_READING: Final = "read_skill_result"


def activated(machine: Machine, event: Event[Any]) -> None:
    """Note an activated skill on the agent; the call that loaded it is the conventions' load_skill."""
    on_owner(machine, event)
    owner, skill = machine.find(event), read_field(event, "skill_id")
    if owner is None or not isinstance(skill, str) or read_field(event, "reason") != _BY_READING:
        return
    calls = list(_free_calls(owner))
    named = [tool for tool in calls if skill in _values(tool.arguments)]
    found = named or (calls if len(calls) == 1 else [])
    if found:
        record = found[-1].record
        record.attributes[semconv.SKILL_NAME] = skill
        record.rename(f"{record.name} {skill}")


def _free_calls(owner: Owner) -> Iterator[Tool]:
    for tool in owner.tools:
        if tool.name == _READ_SKILL and semconv.SKILL_NAME not in tool.record.attributes:
            yield tool


def _values(arguments: object) -> list[Any]:
    return list(arguments.values()) if isinstance(arguments, dict) else []


def graph_declared(machine: Machine, event: Event[Any]) -> None:
    """Put the size of the skill graph on the agent; it is told before the turn starts."""
    wire = event.payload.to_wire()
    told = {f"agentfootprint.skill.graph.{name}_count": field(wire, name) for name in ("nodes", "edges")}
    facts = Facts({name: len(value) for name, value in told.items() if is_list(value)}, {})
    owner = machine.find(event)
    if owner is not None and owner.record is not None:
        owner.record.take(facts)
    else:
        add(machine.run(event.meta).configured, facts)
