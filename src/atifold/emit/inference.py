"""Find the tool call that an agent was started by, where no event names it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context

from atifold.emit.machine import Machine, remote_parent
from atifold.emit.writer import Record
from atifold.events.envelope import Meta


def calling_tool(machine: Machine, meta: Meta, prompt: str | None) -> tuple[Record | Context | None, bool]:
    """Return the parent of an agent's outermost span, and whether it was inferred.

    In order: the span that the envelope names; the open span of ours that is current (`bus.run`
    made it so); the one open tool an argument of which equals the prompt. None where there is none:
    that a tool was running at the time proves nothing, runs may be independent.
    """
    named = remote_parent(meta)
    if named is not None:
        return named, False
    if machine.live and _is_ours(machine, trace.get_current_span().get_span_context()):
        return None, False
    if not prompt:
        return None, False
    found = [
        tool
        for run in machine.runs.values()
        if run.run_id != meta.run_id
        for tool in run.open_tools()
        if prompt in _texts(tool.arguments)
    ]
    return (found[0].record, True) if len(found) == 1 else (None, False)


def _is_ours(machine: Machine, at: trace.SpanContext) -> bool:
    return at.is_valid and any(record.at.span_id == at.span_id for record in machine.by_stage.values())


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
