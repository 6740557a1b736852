"""Handle the events of model calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.bus.inputs import called
from atifold.emit.facts import held, read_field
from atifold.emit.history import History, objects_in
from atifold.emit.machine import UNKNOWN, Machine, started_ns
from atifold.emit.messages import request_messages, write_request
from atifold.emit.reasons import ABANDONED, NO_START, STOPPED, STOPS
from atifold.emit.record import Record, no_facts
from atifold.emit.redaction import withheld_names
from atifold.emit.state import Asked, Chat, Owner, base_path, branch_name
from atifold.emit.tally import Gaps
from atifold.events.envelope import Event, Meta
from atifold.events.stream import LLMEnd, LLMStart, StreamThinkingEnd
from atifold.jsontext import scrub, words


def llm_start(machine: Machine, event: Event[LLMStart]) -> None:
    """Open the inference's span; what of its owner ended before is sealed."""
    payload = event.payload
    owner = machine.owner(event)
    if owner.chats or owner.tools or owner.held:
        _seal_before(machine, owner, event.meta)
    extra = payload.__pydantic_extra__ or _NOTHING
    request = _request(payload, extra)
    chat = _open_chat(machine, owner, event.meta, payload.model or "", payload.provider or "", request)
    messages, definitions = extra.get("atifold.messages"), extra.get("atifold.toolDefinitions")
    offered = payload.tools if definitions is None else definitions
    if isinstance(offered, (list, tuple)):
        owner.run.offers.add(offered)
    chat.messages_count = payload.messages_count if messages is None else None
    if event.redacted is not None:
        chat.record.lack(withheld_names(event))
    _take_what_waited(owner, chat.record)
    if machine.writer.wants_content:
        _write_request(machine, owner, chat, payload, messages, definitions)


def _take_what_waited(owner: Owner, record: Record) -> None:
    """Put on an inference what was told of it before it began."""
    if owner.coming.structure or owner.coming.content:
        record.take(owner.coming)
        owner.coming = no_facts()
    if owner.waiting:
        for moment in owner.waiting:
            record.note(moment)
        owner.waiting = []


def _request(payload: LLMStart, extra: dict[str, Any]) -> dict[str, Any]:
    """Return a request's settings as attributes."""
    request: dict[str, Any] = {}
    if payload.iteration is not None:
        request[semconv.ITERATION] = payload.iteration if 0 <= payload.iteration < _MANY else held(payload.iteration)
    temperature = payload.temperature
    if temperature is not None and abs(temperature) <= _LARGEST:
        request[semconv.TEMPERATURE] = float(temperature)
    for field, name, accepted, kind in _REQUEST_FIELDS if extra else ():
        value = extra.get(field)
        if value is None or not isinstance(value, accepted) or isinstance(value, bool):
            continue
        if isinstance(value, str) or abs(value) <= _LARGEST:
            request[name] = held(kind(value))
    return request


_MANY: Final = 2**31  # below it a whole number needs no second look
_LARGEST: Final = 1e300  # of a number; NaN is not below it
_NOTHING: Final[dict[str, Any]] = {}
_REQUEST_FIELDS: Final = (
    ("atifold.maxTokens", semconv.MAX_TOKENS, int, int),
    ("atifold.topP", semconv.TOP_P, (int, float), float),
    ("atifold.reasoningEffort", semconv.REASONING_LEVEL, (str, int, float), str),
)
"""Extension field, attribute, what is accepted, and the type that the conventions give the attribute."""


def _seal_before(machine: Machine, owner: Owner, meta: Meta) -> None:
    """Seal what ended; an inference that did not is abandoned where its own stage starts again, others may overlap."""
    stage_id, path = meta.runtime_stage_id, meta.subflow_path
    for before in [c for c in owner.chats if not c.ended and c.stage_id == stage_id and c.path == path]:
        machine.seal_chat(owner, before, at_ns=meta.time_ns, incomplete=ABANDONED)
    machine.seal_ended(owner, path)


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
        first["agentfootprint.stream.provider"] = scrub(raw_provider)
    if owner.kind != "agent":
        first["agentfootprint.member"] = branch_name(base_path(meta.subflow_path)) or _runner(owner, meta)
    name = f"chat {model}" if model else "chat"
    start = meta.time_ns if start_ns is None else start_ns
    key = ("chat", meta.subflow_path, stage_id or start)
    record = machine.open_call(owner, name, SpanKind.CLIENT, start, first, key)
    chat = Chat(record, meta.subflow_path, stage_id, raw_provider, None)
    owner.chats.append(chat)
    if stage_id:
        machine.by_stage[owner.run.run_id, stage_id] = record
    return chat


def _runner(owner: Owner, meta: Meta) -> str:
    """Return the name of a runner that is one call alone; empty inside a composition, which has its own."""
    return scrub((meta.composition_path or ("",))[0].partition(":")[2]) if owner.kind == "none" else ""


def _write_request(
    machine: Machine,
    owner: Owner,
    chat: Chat,
    payload: LLMStart,
    messages: Sequence[Mapping[str, Any]] | None,
    tools: Sequence[Mapping[str, Any]] | None,
) -> None:
    talk = owner.talk(chat.path)
    beside = any(c is not chat and not c.ended and c.path == chat.path for c in owner.chats)
    alone = not (beside or talk.forked)  # else nobody can tell which request a delta would follow
    talk.forked = beside
    system = payload.system_prompt_text or "\n\n".join(talk.system) or None
    talk.system = []
    withheld = chat.record.lacks(semconv.INPUT_MESSAGES)
    chat.record.lack(talk.lacking)
    talk.lacking = ()
    if messages is None and payload.messages_count and not withheld:
        messages = request_messages(talk, payload.messages_count)
    own = owner.kind == "agent" and chat.path == owner.path
    if tools is None and payload.tools:
        tools = [tool.model_dump(exclude_none=True) for tool in payload.tools]
    history = talk.history if own else History()
    write_request(
        machine.writer,
        chat.record,
        history,
        system=system,
        messages=messages,
        tools=tools,
        withheld=machine.withheld,
        alone=alone,
    )


def chunk(machine: Machine, event: Event[Any]) -> None:
    """Count a token or thinking chunk; the first one's time is the time to first chunk."""
    found = _chat(machine, event)
    if found is None:
        return
    chat = found[1]
    if not chat.chunks and not chat.ended:
        seconds = max(0, event.meta.time_ns - chat.record.start_ns) / 1e9
        chat.record.attributes[semconv.TIME_TO_FIRST_CHUNK] = seconds
        chat.record.attributes[semconv.REQUEST_STREAM] = True
    chat.chunks += 1
    if machine.time_chunks and not chat.ended:
        _time(chat.record, event.meta.time_ns)


def _time(record: Record, time_ns: int) -> None:
    if isinstance(record.tally, Gaps):
        record.tally.chunk(time_ns)
    else:
        record.tally = Gaps(time_ns)


def llm_end(machine: Machine, event: Event[LLMEnd]) -> None:
    """End the inference; its span stays open for its cost, its thinking and its calls."""
    payload = event.payload
    found = _chat(machine, event) or _cut_chat(machine, event, payload.duration_ms)
    chat = found[1]
    extra = payload.__pydantic_extra__ or {}
    chat.ended = True
    record = chat.record
    record.end_ns = max(record.start_ns, event.meta.time_ns)
    chat.text = None if payload.content_withheld else payload.content
    if event.redacted is not None:
        record.lack(withheld_names(event))
    chat.finish = payload.stop_reason
    attributes = record.attributes
    if payload.stop_reason is not None:
        attributes[semconv.FINISH_REASONS] = (scrub(payload.stop_reason),)
    if payload.provider_response_ref is not None:
        attributes[semconv.RESPONSE_ID] = scrub(payload.provider_response_ref)
    if payload.content_withheld:
        attributes["agentfootprint.stream.content_withheld"] = True
        if chat.messages_count is not None:
            talk = found[0].talk(chat.path)
            talk.hidden |= {chat.messages_count, talk.told or chat.messages_count}  # where histories have the answer
    if payload.tool_call_count:
        attributes["agentfootprint.stream.tool_call_count"] = (
            payload.tool_call_count if 0 < payload.tool_call_count < _MANY else held(payload.tool_call_count)
        )
    chat.usage = payload.usage
    if extra:
        _extend_answer(chat, extra)
    machine.to_seal = machine.to_seal or found[0].record is None


def _extend_answer(chat: Chat, extra: dict[str, Any]) -> None:
    """Take what `bus.run` knows and the catalogue has no field for."""
    model = extra.get("atifold.responseModel")
    if model is not None:
        chat.record.attributes[semconv.RESPONSE_MODEL] = words(model)
    chat.settling = extra.get("atifold.last") is False
    chat.told = [_asked(call) for call in objects_in(extra.get("atifold.toolCalls"))]
    error = extra.get("atifold.errorType")
    if error == STOPS:
        chat.failed = True  # it has no answer
        chat.record.unfinished(STOPPED)
    elif error is not None:
        chat.failed = True
        chat.record.fail(words(error), scrub(str(extra.get("atifold.error") or "")))


def _asked(call: Mapping[str, Any]) -> Asked:
    function = called(call)
    call_id = call.get("id")
    return Asked(
        None if call_id is None else str(call_id), str(function.get("name") or UNKNOWN), function.get("arguments")
    )


def _cut_chat(machine: Machine, event: Event[Any], duration_ms: float | None) -> tuple[Owner, Chat]:
    """Open the inference that an end tells of when the start was cut off."""
    owner = machine.owner(event)
    start_ns = started_ns(owner.run, event.meta, duration_ms)
    chat = _open_chat(machine, owner, event.meta, "", "", {}, start_ns)
    chat.record.unfinished(NO_START)
    return owner, chat


def thinking_end(machine: Machine, event: Event[StreamThinkingEnd]) -> None:
    """Put what the model thought on its inference: it comes after the end, from a stage of its own."""
    payload = event.payload
    found = _chat(machine, event) or _newest(machine, event)
    if found is None:
        machine.unplaced.tell(event)
        return
    owner, chat = found
    if event.redacted is not None:
        chat.record.lack(withheld_names(event))
    chat.reasoning = [block.model_dump(by_alias=True, exclude_none=True) for block in payload.blocks or ()]
    if payload.tokens is not None and chat.usage is not None and chat.usage.thinking is None:
        chat.usage = chat.usage.model_copy(update={"thinking": payload.tokens})
    if payload.__pydantic_extra__:
        machine.settle(owner, chat, last=payload.__pydantic_extra__.get("atifold.last"))


def _newest(machine: Machine, event: Event[Any]) -> tuple[Owner, Chat] | None:
    owner = machine.find(event)
    chat = None if owner is None else owner.chat_of(read_field(event, "iteration"))
    return None if owner is None or chat is None else (owner, chat)


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
