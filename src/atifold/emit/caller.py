"""Find the tool call that an agent was started by, where no event names it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import TraceFlags

from atifold.emit.machine import Machine
from atifold.emit.record import Record
from atifold.events.envelope import Meta

_DEEPEST: Final = 64


def calling_tool(
    machine: Machine, meta: Meta, prompt: str | None, caller: tuple[str, str | None] | None
) -> tuple[Record | Context | None, bool]:
    """Return the parent of an agent's outermost span, and whether it was inferred.

    In order: the span that the envelope names; the open span of ours that is current (`bus.run`
    made it so); the run and call that `bus.run` names as the caller; the one open tool an argument
    of which equals the prompt, of several the one of the session that has not called yet. None where
    there is none: that a tool was running at the time proves nothing, runs may be independent.
    """
    named = remote_parent(meta)
    if named is not None:
        return named, False
    if machine.live and _is_ours(machine, trace.get_current_span().get_span_context()):
        return None, False
    if caller is not None:
        return _calling(machine, *caller), False
    if not prompt:
        return None, False
    found = [
        tool
        for run in machine.runs.values()
        if run.run_id != meta.run_id
        for tool in run.open_tools()
        if prompt in _texts(tool.arguments)
    ]
    if len(found) > 1:
        found = [tool for tool in found if not tool.called and tool.owner.run.session_id == meta.session_id]
    if len(found) != 1:
        return None, False
    found[0].called = True
    return found[0].record, True


def _calling(machine: Machine, run_id: str, call_id: str | None) -> Record | None:
    """Return the open call of a run, else its outermost agent."""
    run = machine.runs.get(run_id)
    if run is None:
        return None
    tool = None if call_id is None else run.tool(call_id)
    if tool is not None:
        return tool.record
    return next((owner.record for owner in run.owners if owner.record is not None), None)


def _is_ours(machine: Machine, at: trace.SpanContext) -> bool:
    return at.is_valid and any(record.at.span_id == at.span_id for record in machine.by_stage.values())


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts of arguments; a prompt lies in none that is nested deeper than most arguments are."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth + 1)


def remote_parent(meta: Meta) -> Context | None:
    """Return the parent that an envelope names by trace and span id, None where it names none."""
    try:
        trace_id, span_id = int(meta.trace_id or "", 16), int(meta.span_id or "", 16)
    except ValueError:
        return None
    at = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return trace.set_span_in_context(trace.NonRecordingSpan(at), Context()) if at.is_valid else None
