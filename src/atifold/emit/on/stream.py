"""Handle the events of model calls and tool executions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.facts import moment_of
from atifold.emit.history import History, called, calls_in
from atifold.emit.machine import ABANDONED, NO_START, Machine, base_path, branch_name
from atifold.emit.messages import request_messages, write_request
from atifold.emit.on.pause import resumed_tool
from atifold.emit.state import Chat, Owner, RunState, Tool
from atifold.events.envelope import Event, Meta
from atifold.events.stream import LLMEnd, LLMStart, StreamThinkingEnd, ToolEnd, ToolStart
from atifold.jsontext import to_json_text

NS_PER_MS = 1_000_000
UNKNOWN = "unknown"  # of a required attribute whose value stood in an event that is not there


# ---- model calls ---------------------------------------------------------------------------------


def llm_start(machine: Machine, event: Event[LLMStart]) -> None:
    """Open the inference's span; what of its owner ended before is sealed."""
    payload = event.payload
    owner = machine.owner(event)
    if owner.chats or owner.tools or owner.held:
        _seal_before(machine, owner, event.meta)
    extra = payload.__pydantic_extra__ or _NOTHING
    request = _request(payload, extra)
    chat = _open_chat(machine, owner, event.meta, payload.model or "", payload.provider or "", request)
    messages = extra.get("atifold.messages")
    chat.messages_count = payload.messages_count if messages is None else None
    if machine.writer.wants_content:
        _write_request(machine, owner, chat, payload, messages, extra.get("atifold.toolDefinitions"))
    if owner.waiting:
        chat.record.moments.extend(owner.waiting)
        owner.waiting = []


def _request(payload: LLMStart, extra: dict[str, Any]) -> dict[str, Any]:
    """Return a request's settings as attributes."""
    request: dict[str, Any] = {}
    if payload.iteration is not None:
        request["agentfootprint.stream.iteration"] = payload.iteration
    if payload.temperature is not None:
        request[semconv.TEMPERATURE] = float(payload.temperature)
    for field, name, accepted, kind in _REQUEST_FIELDS:
        value = extra.get(field)
        if isinstance(value, accepted) and not isinstance(value, bool):
            request[name] = kind(value)
    return request


_NOTHING: Final[dict[str, Any]] = {}
_REQUEST_FIELDS: Final = (
    ("atifold.maxTokens", semconv.MAX_TOKENS, int, int),
    ("atifold.topP", semconv.TOP_P, (int, float), float),
    ("atifold.reasoningEffort", semconv.REASONING_LEVEL, (str, int, float), str),
)
"""Extension field, attribute, what is accepted, and the type that the conventions give the attribute."""


def _seal_before(machine: Machine, owner: Owner, meta: Meta) -> None:
    for before in [c for c in owner.chats if not c.ended and c.path == meta.subflow_path]:
        machine.seal_chat(owner, before, at_ns=meta.time_ns, incomplete=ABANDONED)
    machine.seal_ended(owner, meta.subflow_path)


def _open_chat(
    machine: Machine,
    owner: Owner,
    meta: Meta,
    model: str,
    raw_provider: str,
    more: dict[str, Any],
    start_ns: int | None = None,
) -> Chat:
    stage_id = meta.runtime_stage_id
    provider = semconv.provider_of(raw_provider).name or UNKNOWN
    first: dict[str, Any] = {semconv.OPERATION: "chat", semconv.PROVIDER: provider}
    if model:
        first[semconv.REQUEST_MODEL] = model
    first.update(more)
    if raw_provider and raw_provider != provider:
        first["agentfootprint.stream.provider"] = raw_provider
    if owner.kind != "agent":
        first["agentfootprint.member"] = branch_name(base_path(meta.subflow_path))
    name = f"chat {model}" if model else "chat"
    start = meta.time_ns if start_ns is None else start_ns
    key = ("chat", meta.subflow_path, stage_id or start)
    record = machine.open_call(owner, name, SpanKind.CLIENT, start, first, key)
    chat = Chat(record, meta.subflow_path, stage_id, raw_provider, None)
    owner.chats.append(chat)
    if stage_id:
        machine.by_stage[owner.run.run_id, stage_id] = record
    return chat


def _write_request(
    machine: Machine,
    owner: Owner,
    chat: Chat,
    payload: LLMStart,
    messages: Sequence[Mapping[str, Any]] | None,
    tools: Sequence[Mapping[str, Any]] | None,
) -> None:
    talk = owner.talk(chat.path)
    system = payload.system_prompt_text or "\n\n".join(talk.system) or None
    talk.system = []
    if messages is None and payload.messages_count:
        messages = request_messages(talk, payload.messages_count)
    own = owner.kind == "agent" and chat.path == owner.path
    if tools is None and payload.tools:
        tools = [tool.model_dump(exclude_none=True) for tool in payload.tools]
    history = talk.history if own else History()
    write_request(machine.writer, chat.record, history, system=system, messages=messages, tools=tools)


def chunk(machine: Machine, event: Event[Any]) -> None:
    """Count a token or thinking chunk; the first one's time is the time to first chunk."""
    found = _chat(machine, event)
    if found is None:
        return
    chat = found[1]
    if not chat.chunks and not chat.ended:
        seconds = max(0, event.meta.time_ns - chat.record.start_ns) / 1e9
        chat.record.attributes[semconv.TIME_TO_FIRST_CHUNK] = seconds
    chat.chunks += 1


def llm_end(machine: Machine, event: Event[LLMEnd]) -> None:
    """End the inference; its span stays open for its cost, its thinking and its calls."""
    payload = event.payload
    found = _chat(machine, event) or _cut_chat(machine, event, payload.duration_ms)
    chat = found[1]
    extra = payload.__pydantic_extra__ or {}
    chat.ended = True
    record = chat.record
    record.end_ns = event.meta.time_ns
    chat.text = None if payload.content_withheld else payload.content
    chat.finish = payload.stop_reason
    attributes = record.attributes
    if payload.stop_reason is not None:
        attributes[semconv.FINISH_REASONS] = (payload.stop_reason,)
    if payload.provider_response_ref is not None:
        attributes[semconv.RESPONSE_ID] = payload.provider_response_ref
    if payload.content_withheld:
        attributes["agentfootprint.stream.content_withheld"] = True
    if payload.tool_call_count:
        attributes["agentfootprint.stream.tool_call_count"] = payload.tool_call_count
    chat.usage = payload.usage
    if extra:
        _extend_answer(chat, extra)
    machine.to_seal = machine.to_seal or found[0].record is None


def _extend_answer(chat: Chat, extra: dict[str, Any]) -> None:
    """Take what `bus.run` knows and the catalogue has no field for."""
    model = extra.get("atifold.responseModel")
    if model is not None:
        chat.record.attributes[semconv.RESPONSE_MODEL] = model
    for number, call in enumerate(calls_in(extra.get("atifold.toolCalls"))):
        function = called(call)
        call_id = call.get("id") or f"call_{number}"
        chat.asked[str(call_id)] = (function.get("name"), function.get("arguments"))
    error = extra.get("atifold.errorType")
    if error is not None:
        chat.failed = True
        chat.record.fail(error, extra.get("atifold.error"))


def _cut_chat(machine: Machine, event: Event[Any], duration_ms: float | None) -> tuple[Owner, Chat]:
    """Open the inference that an end tells of when the start was cut off."""
    owner = machine.owner(event)
    start_ns = max(owner.run.first_ns, event.meta.time_ns - int((duration_ms or 0) * NS_PER_MS))
    chat = _open_chat(machine, owner, event.meta, "", "", {}, start_ns)
    chat.record.unfinished(NO_START)
    return owner, chat


def thinking_end(machine: Machine, event: Event[StreamThinkingEnd]) -> None:
    """Put what the model thought on its inference: it comes after the end, from a stage of its own."""
    payload = event.payload
    found = _chat(machine, event)
    owner = machine.find(event)
    chat = found[1] if found is not None else owner.chat() if owner is not None else None
    if chat is None:
        machine.counts["facts_dropped"] += 1
        return
    chat.reasoning = [block.model_dump(by_alias=True, exclude_none=True) for block in payload.blocks or ()]
    if payload.tokens is not None and chat.usage is not None and chat.usage.thinking is None:
        chat.usage = chat.usage.model_copy(update={"thinking": payload.tokens})


def _chat(machine: Machine, event: Event[Any]) -> tuple[Owner, Chat] | None:
    """Return the inference that an event names by its stage, else the newest of its branch."""
    run = machine.runs.get(event.meta.run_id)
    if run is None:
        return None
    run.last_ns = max(run.last_ns, event.meta.time_ns)
    stage_id = event.meta.runtime_stage_id
    newest: tuple[Owner, Chat] | None = None
    for owner in run.owners:
        for chat in owner.chats:
            if stage_id and chat.stage_id == stage_id:
                return owner, chat
            if not chat.ended and not stage_id and chat.path == event.meta.subflow_path:
                newest = owner, chat
    return newest


# ---- tools ---------------------------------------------------------------------------------------


def tool_start(machine: Machine, event: Event[ToolStart]) -> None:
    """Open the tool's span under the agent that runs it."""
    payload = event.payload
    meta = event.meta
    owner = machine.owner(event)
    name, call_id = payload.tool_name or "", payload.tool_call_id or ""
    tool = open_tool(machine, owner, call_id, name, meta.time_ns, stage_id=meta.runtime_stage_id)
    tool.arguments = payload.args
    if payload.protocol is not None:
        tool.record.attributes["agentfootprint.stream.protocol"] = payload.protocol
    if payload.not_dispatched is not None:
        tool.record.attributes[semconv.DISPATCH] = "not_dispatched"
    chat = owner.chat()
    if chat is not None and call_id and call_id not in chat.asked:
        chat.asked[call_id] = (name, payload.args)


def open_tool(machine: Machine, owner: Owner, call_id: str, name: str, start_ns: int, *, stage_id: str) -> Tool:
    """Open an `execute_tool` span and give it the facts that waited for it."""
    name = name or UNKNOWN
    first: dict[str, Any] = {
        semconv.OPERATION: "execute_tool",
        semconv.TOOL_NAME: name,
        semconv.TOOL_TYPE: "function",
    }
    if call_id:
        first[semconv.TOOL_CALL_ID] = call_id
    if owner.kind == "agent":
        first[semconv.AGENT_NAME] = owner.name
    record = machine.open_call(
        owner, f"execute_tool {name}", SpanKind.INTERNAL, start_ns, first, ("tool", stage_id, call_id)
    )
    tool = Tool(record, call_id, name, None, stage_id)
    if call_id in machine.waiting:
        for moment in machine.waiting.pop(call_id):
            record.moments.append(moment)
            tool.refused = tool.refused or moment.attributes.get("agentfootprint.permission.result") == "deny"
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
        _unended(run, call_id)
        or resumed_tool(machine, event, call_id, payload.duration_ms)
        or _cut_tool(machine, event, call_id, payload.duration_ms)
    )
    record = tool.record
    tool.ended = True
    record.end_ns = max(record.start_ns, event.meta.time_ns)
    result = payload.model_result if "model_result" in payload.model_fields_set else payload.result
    _write_content(machine, tool, result, payload)
    _write_outcome(record, tool, result, payload)


def _unended(run: RunState, call_id: str) -> Tool | None:
    tool = run.tool(call_id)
    return tool if tool is not None and not tool.ended else None


def _write_content(machine: Machine, tool: Tool, result: Any, payload: ToolEnd) -> None:
    if not machine.writer.wants_content:
        return
    content = tool.record.content
    changed = payload.changed_arg_keys or ()
    if isinstance(tool.arguments, dict) and changed:
        content[semconv.TOOL_ARGUMENTS] = to_json_text({k: v for k, v in tool.arguments.items() if k not in changed})
    elif tool.arguments is not None:
        content[semconv.TOOL_ARGUMENTS] = to_json_text(tool.arguments)
    if "result" in payload.model_fields_set or "model_result" in payload.model_fields_set:
        content[semconv.TOOL_RESULT] = result if isinstance(result, str) else to_json_text(result)


def _write_outcome(record: Any, tool: Tool, result: Any, payload: ToolEnd) -> None:
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
        text = result if isinstance(result, str) else to_json_text(result)
        record.fail(extra.get("atifold.errorType") or semconv.OTHER_ERROR, text)


def _cut_tool(machine: Machine, event: Event[Any], call_id: str, duration_ms: float | None) -> Tool:
    """Open the execution that an end tells of when the start was cut off; history may name it."""
    owner = machine.owner(event)
    start_ns = max(owner.run.first_ns, event.meta.time_ns - int((duration_ms or 0) * NS_PER_MS))
    name, arguments = next((found for found in _asked(owner, call_id)), ("", None))
    tool = open_tool(machine, owner, call_id, name, start_ns, stage_id=event.meta.runtime_stage_id)
    tool.arguments = arguments
    tool.record.unfinished(NO_START)
    return tool


def _asked(owner: Owner, call_id: str) -> Iterator[tuple[str, Any]]:
    for chat in owner.chats:
        if call_id in chat.asked:
            yield chat.asked[call_id]
    for message in reversed(owner.talk(owner.path).known):
        for part in message["parts"]:
            if part.get("type") == "tool_call" and part.get("id") == call_id:
                yield part["name"], part["arguments"]


def tool_progress(machine: Machine, event: Event[Any]) -> None:
    """Note a tool's progress on its span, the first sixteen times."""
    tool = machine.run(event.meta).tool(str(getattr(event.payload, "tool_call_id", "")))
    moment = moment_of(event)
    if tool is None or sum(m.name == moment.name for m in tool.record.moments) >= 16:  # noqa: PLR2004  places §1
        machine.counts["facts_dropped"] += 1
        return
    tool.record.moments.append(moment)
