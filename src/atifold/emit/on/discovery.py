"""Handle the discovery of tools: spans of our own, since the conventions have no type for it."""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.facts import facts_of, moment_of, read_field
from atifold.emit.machine import Machine, started_ns
from atifold.emit.on.call_facts import tool_facts
from atifold.emit.on.outcome import on_owner, on_tool
from atifold.emit.reasons import ABANDONED, NO_START
from atifold.emit.record import Record
from atifold.emit.state import Owner
from atifold.events.envelope import Event
from atifold.jsontext import scrub

DISCOVERY: Final = "tools.discovery"
_SAID_BY_THE_SPAN: Final = frozenset({"durationMs", "error", "errorName"})
_MOST_OPEN: Final = 64  # of one owner; whoever asks more providers at once loses the others' spans


def started(machine: Machine, event: Event[Any]) -> None:
    """Open a discovery's span; one of the same provider that never ended is held as it is."""
    owner = machine.find(event)
    if owner is None or len(owner.discoveries) >= _MOST_OPEN:
        machine.unplaced.tell(event)
        return
    provider = _provider(event)
    before = owner.discoveries.pop(provider, None)
    if before is not None:
        before.end_ns = max(before.start_ns, event.meta.time_ns)
        before.unfinished(ABANDONED)
        machine.hold(owner, before)
    owner.discoveries[provider] = _open(machine, owner, event, event.meta.time_ns)


def completed(machine: Machine, event: Event[Any]) -> None:
    """End a discovery with the number of tools that it found."""
    _end(machine, event)


def failed(machine: Machine, event: Event[Any]) -> None:
    """End a discovery as failed, by the name of the error."""
    record = _end(machine, event)
    if record is not None:
        text = read_field(event, "error")
        record.fail(
            str(read_field(event, "error_name") or semconv.OTHER_ERROR), scrub(text) if isinstance(text, str) else None
        )


def _end(machine: Machine, event: Event[Any]) -> Record | None:
    """Return the ended span, opened from its duration where its start was cut off; None without an owner."""
    owner = machine.find(event)
    if owner is None:
        machine.unplaced.tell(event)
        return None
    record = owner.discoveries.pop(_provider(event), None)
    if record is None:
        duration_ms = read_field(event, "duration_ms")
        known = duration_ms if isinstance(duration_ms, (int, float)) else None
        record = _open(machine, owner, event, started_ns(owner.run, event.meta, known))
        record.unfinished(NO_START)
    record.take(facts_of(event, without=_SAID_BY_THE_SPAN))
    record.end_ns = max(record.start_ns, event.meta.time_ns)
    machine.hold(owner, record)
    return record


def _open(machine: Machine, owner: Owner, event: Event[Any], start_ns: int) -> Record:
    provider = _provider(event)
    name = f"{DISCOVERY} {provider}".rstrip()
    first: dict[str, Any] = {semconv.OWN_OPERATION: DISCOVERY}
    key = (name, event.meta.runtime_stage_id, start_ns)
    record = machine.open_call(owner, name, SpanKind.INTERNAL, start_ns, first, key)
    record.take(facts_of(event, without=_SAID_BY_THE_SPAN))
    return record


def _provider(event: Event[Any]) -> str:
    """Return the provider's id, "" for one that has none: a producer may leave it undefined."""
    provider = read_field(event, "provider_id")
    return provider if isinstance(provider, str) else ""


def mcp_client(machine: Machine, event: Event[Any]) -> None:
    """Put the use of an MCP connection on its tool call; one that listed tools on its discovery."""
    at = read_field(event, "at")
    if at == "call":
        tool_facts(machine, event)
    elif at == "list":
        _on_discovery(machine, event)
    else:
        on_tool(machine, event)


def _on_discovery(machine: Machine, event: Event[Any]) -> None:
    owner = machine.find(event)
    known = [] if owner is None else _newest_first(owner)
    server = read_field(event, "server")
    named = [record for record in known if record.attributes.get("agentfootprint.tools.provider_id") == server]
    if known:
        (named or known)[0].note(moment_of(event))
    else:
        on_owner(machine, event)


def _newest_first(owner: Owner) -> list[Record]:
    """Return the discoveries that are open, then those that have ended and are not sealed."""
    ended = [record for record in owner.held if record.attributes.get(semconv.OWN_OPERATION) == DISCOVERY]
    return [*reversed(owner.discoveries.values()), *reversed(ended)]
