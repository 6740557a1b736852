"""Handle the events of tool executions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.facts import moment_of
from atifold.emit.machine import UNKNOWN, Machine, started_ns
from atifold.emit.on.pause import recognise_leg
from atifold.emit.reasons import NO_START, STOPPED, STOPS
from atifold.emit.record import Record
from atifold.emit.redaction import withheld_names
from atifold.emit.state import Asked, Owner, Tool
from atifold.events.envelope import Event
from atifold.events.stream import ToolEnd, ToolStart
from atifold.jsontext import scrub, to_json_text, words

_MOST_PROGRESS: Final = 16  # span events of one call; a tool may report every row it reads


def tool_start(machine: Machine, event: Event[ToolStart]) -> None:
    """Open the tool's span under the agent that runs it."""
    payload = event.payload
    meta = event.meta
    owner = machine.owner(event)
    name, call_id = payload.tool_name or "", payload.tool_call_id or ""
    tool = open_tool(machine, owner, call_id, name, meta.time_ns, stage_id=meta.runtime_stage_id)
    tool.arguments = payload.args
    if event.redacted is not None:
        tool.record.lack(withheld_names(event))
    tool.record.begun = True
    if payload.protocol is not None:
        tool.record.attributes["agentfootprint.stream.protocol"] = scrub(payload.protocol)
    if payload.not_dispatched is not None:
        tool.record.attributes[semconv.DISPATCH] = "not_dispatched"
    chat = owner.asker(call_id) if call_id else None
    if chat is not None:
        chat.started.append(Asked(call_id, name, payload.args))


def open_tool(machine: Machine, owner: Owner, call_id: str, name: str, start_ns: int, *, stage_id: str) -> Tool:
    """Open an `execute_tool` span and give it the facts that waited for it."""
    name = name or UNKNOWN
    first: dict[str, Any] = {
        semconv.OPERATION: "execute_tool",
        semconv.TOOL_NAME: name,
        semconv.TOOL_TYPE: "function",
    }
    if call_id:
        first[semconv.TOOL_CALL_ID] = scrub(call_id)
    if owner.kind == "agent":
        first[semconv.AGENT_NAME] = owner.name
    record = machine.open_call(
        owner, f"execute_tool {name}", SpanKind.INTERNAL, start_ns, first, ("tool", stage_id, call_id)
    )
    record.tally = owner.run.offers
    tool = Tool(owner, record, call_id, name, None, stage_id)
    for moment in owner.run.waiting.pop(call_id, ()):
        record.note(moment)
        tool.refused = tool.refused or moment.denies
    coming = owner.run.coming.pop(call_id, None)
    if coming is not None:
        record.take(coming)
    owner.tools.append(tool)
    if stage_id:
        machine.by_stage[owner.run.run_id, stage_id] = record
    return tool


def tool_end(machine: Machine, event: Event[ToolEnd]) -> None:
    """End the tool's span with its result, or with its failure."""
    payload = event.payload
    run = machine.run(event.meta)
    call_id = payload.tool_call_id or ""
    tool = (
        run.unended(call_id, event.meta.runtime_stage_id, event.meta.subflow_path)
        or _resumed_tool(machine, event, call_id, payload.duration_ms)
        or _cut_tool(machine, event, call_id, payload.duration_ms)
    )
    record = tool.record
    tool.ended = True
    record.end_ns = max(record.start_ns, event.meta.time_ns)
    result = payload.model_result if "model_result" in payload.__pydantic_fields_set__ else payload.result
    if tool.owner.record is None:
        machine.to_seal = True
    if event.redacted is not None:
        record.lack(withheld_names(event))
    _write_content(machine, tool, result, payload)
    _write_outcome(record, tool, result, payload)


def _write_content(machine: Machine, tool: Tool, result: Any, payload: ToolEnd) -> None:
    if not machine.writer.wants_content:
        return
    content = tool.record.content
    if payload.changed_arg_keys:
        machine.withheld.add(tool.call_id, payload.changed_arg_keys)
    shown = machine.withheld.arguments(tool.call_id, tool.arguments)
    if shown is not None:
        content[semconv.TOOL_ARGUMENTS] = to_json_text(shown)
    if payload.changed_arg_keys and tool.arguments is not None:
        tool.record.door[semconv.TOOL_ARGUMENTS] = to_json_text(tool.arguments)
    if "result" in payload.__pydantic_fields_set__ or "model_result" in payload.__pydantic_fields_set__:
        content[semconv.TOOL_RESULT] = scrub(result) if isinstance(result, str) else to_json_text(result)


def _write_outcome(record: Record, tool: Tool, result: Any, payload: ToolEnd) -> None:
    attributes = record.attributes
    if payload.status is not None:
        attributes["agentfootprint.stream.status"] = payload.status
    if payload.changed_arg_keys:
        attributes["agentfootprint.stream.changed_arg_keys"] = tuple(payload.changed_arg_keys)
    if payload.not_dispatched is not None:
        attributes[semconv.DISPATCH] = "not_dispatched"
    elif payload.not_executed or (tool.refused and not payload.error):
        attributes[semconv.DISPATCH] = "refused"
    elif payload.error:
        extra = payload.__pydantic_extra__ or {}
        said = {"result", "model_result"} & payload.model_fields_set
        text = result if isinstance(result, str) else to_json_text(result) if said else ""
        record.fail(words(extra.get("atifold.errorType") or semconv.OTHER_ERROR), scrub(text))
    elif (payload.__pydantic_extra__ or {}).get("atifold.errorType") == STOPS:
        record.unfinished(STOPPED)


def _resumed_tool(machine: Machine, event: Event[Any], call_id: str, duration_ms: float | None) -> Tool | None:
    """Return the execution whose result arrives in this leg, opened from its end minus its duration.

    It does not start before the leg's first event. None where the call does not wait.
    """
    recognise_leg(machine, event, call_id)
    run = machine.run(event.meta)
    paused = run.resumed.pop(call_id, None)
    owner = run.owner(event.meta.subflow_path)
    if paused is None or owner is None:
        return None
    start_ns = started_ns(run, event.meta, duration_ms)
    tool = open_tool(machine, owner, call_id, paused.name, start_ns, stage_id=event.meta.runtime_stage_id)
    tool.arguments = paused.arguments
    tool.record.timed = tool.record.start_ns < event.meta.time_ns
    return tool


def _cut_tool(machine: Machine, event: Event[Any], call_id: str, duration_ms: float | None) -> Tool:
    """Open the execution that an end tells of when the start was cut off; history may name it."""
    owner = machine.owner(event)
    start_ns = started_ns(owner.run, event.meta, duration_ms)
    name, arguments = next((found for found in _asked(owner, call_id)), ("", None))
    tool = open_tool(machine, owner, call_id, name, start_ns, stage_id=event.meta.runtime_stage_id)
    tool.arguments = arguments
    tool.record.unfinished(NO_START)
    return tool


def name_cut_tools(machine: Machine, owner: Owner) -> None:
    """Name the executions whose start was cut off, now that the iteration's history tells of them."""
    for tool in owner.tools:
        if tool.name != UNKNOWN or not tool.record.incomplete:
            continue
        name, arguments = next(_asked(owner, tool.call_id), ("", None))
        if not name:
            continue
        tool.name = name
        tool.record.attributes[semconv.TOOL_NAME] = scrub(name)
        tool.record.rename(scrub(f"execute_tool {name}"))
        shown = machine.withheld.arguments(tool.call_id, arguments)
        if machine.writer.wants_content and tool.arguments is None and shown is not None:
            tool.arguments = arguments
            tool.record.content[semconv.TOOL_ARGUMENTS] = to_json_text(shown)


def _asked(owner: Owner, call_id: str) -> Iterator[tuple[str, Any]]:
    for chat in owner.chats:
        for call in chat.asked():
            if call.id == call_id:
                yield call.name, call.arguments
    for message in reversed(owner.talk(owner.path).known):
        for part in message["parts"]:
            if part.get("type") == "tool_call" and part.get("id") == call_id:
                yield part["name"], part["arguments"]


def tool_progress(machine: Machine, event: Event[Any]) -> None:
    """Note a tool's progress on its span, the first sixteen times."""
    run = machine.runs.get(event.meta.run_id)
    tool = None if run is None else run.tool(str(getattr(event.payload, "tool_call_id", "")), event.meta.subflow_path)
    if tool is None:
        machine.unplaced.tell(event)
    elif sum(m.name == event.type for m in tool.record.moments) >= _MOST_PROGRESS:
        machine.drop_fact()
    else:
        tool.record.note(moment_of(event))
