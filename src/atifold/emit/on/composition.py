"""Handle the events of compositions: sequences, parallels, conditionals and loops."""

from __future__ import annotations

from typing import Any, Final

from atifold import semconv
from atifold.emit.facts import facts_of
from atifold.emit.machine import Machine
from atifold.emit.reasons import ABANDONED
from atifold.emit.record import Record
from atifold.emit.state import Owner
from atifold.events.composition import CompositionEnter, CompositionExit
from atifold.events.envelope import Event

_FAILED = frozenset({"err"})
_MERGED: Final = "agentfootprint.composition.merged_branch_count"
_BRANCHES: Final = "agentfootprint.composition.total_branch_count"
_DURATION = frozenset({"durationMs", "kind", "id", "name"})


def enter(machine: Machine, event: Event[CompositionEnter]) -> None:
    """Open the composition's span under the one that encloses its branch."""
    payload = event.payload
    meta = event.meta
    run = machine.run(meta)
    name = payload.name or payload.id or ""
    owner = machine.open_workflow(run, meta.subflow_path, payload.kind or "", name, meta.time_ns)
    if owner.record is not None:
        owner.record.attributes.update(facts_of(event, without=frozenset({"kind", "name"})).structure)


def leave(machine: Machine, event: Event[CompositionExit]) -> None:
    """Seal the composition and what is open below it; its duration field is not to be trusted."""
    payload = event.payload
    owner = _composition(machine, event)
    if owner is None or owner.record is None:
        machine.unplaced.tell(event)
        return
    structure, _ = facts_of(event, without=_DURATION)
    owner.record.attributes.update(structure)
    if payload.status in _FAILED:
        owner.record.fail(semconv.OTHER_ERROR, None)
    owner.ended = True
    owner.record.end_ns = max(owner.record.start_ns, event.meta.time_ns)
    machine.close_owner(
        owner, owner.record.end_ns, incomplete=ABANDONED, failure=_failure(owner.record, payload.status)
    )
    if not owner.run.owners:
        machine.forget(owner.run)


def _failure(record: Record, status: str | None) -> tuple[str, str | None] | None:
    """Return how what has not ended below failed: no event tells of a branch's failure, only the counts do."""
    merged, branches = record.attributes.get(_MERGED), record.attributes.get(_BRANCHES)
    if isinstance(merged, int) and isinstance(branches, int) and merged < branches:
        record.attributes[semconv.INFERRED] = ("a branch failed: fewer results were merged than branches began",)
        return semconv.OTHER_ERROR, None
    return (semconv.OTHER_ERROR, None) if status in _FAILED else None


def _composition(machine: Machine, event: Event[Any]) -> Owner | None:
    """Return the open composition on exactly this branch (an exit that nothing opened opens none)."""
    path = event.meta.subflow_path
    found = [o for o in machine.run(event.meta).owners if o.kind == "workflow" and o.path == path]
    if found:
        return found[-1]
    owner = machine.owner(event)
    return owner if owner.kind == "workflow" and owner.path == path else None


def fact(machine: Machine, event: Event[Any]) -> None:
    """Put a composition's fact on its span; of a repeated one the last counts."""
    owner = machine.owner(event)
    if owner.record is None:
        machine.unplaced.tell(event)
        return
    owner.record.take(facts_of(event))
