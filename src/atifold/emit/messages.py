"""Write what went into a model and what came out onto its span's record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from atifold import semconv
from atifold.emit.history import History, JsonMessage, from_history, name_text, objects_in, request_part, text_part
from atifold.emit.record import Record
from atifold.emit.state import Asked, Chat, Talk
from atifold.emit.usage import usage_attributes
from atifold.emit.withheld import Withheld
from atifold.emit.writer import SpanWriter
from atifold.jsontext import to_json_text

FINISH_REASONS: Final = {
    "tool_use": "tool_call",
    "tool_calls": "tool_call",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
}
"""Providers' stop reasons to the conventions' words for messages; others are kept as they are."""


def write_request(
    writer: SpanWriter,
    record: Record,
    history: History,
    *,
    system: str | None,
    messages: Sequence[Mapping[str, Any]] | None,
    tools: Sequence[Mapping[str, Any]] | None,
    withheld: Withheld,
    alone: bool = True,
) -> None:
    """Put a request's content on the record: the instructions, the history, the tools offered.

    A side door gets what is new since the owner's previous request; `alone` False says that it gets
    all, since requests that overlap follow each other in no order.
    """
    if system:
        record.content[semconv.SYSTEM_INSTRUCTIONS] = to_json_text([text_part(system)])
    if tools:
        record.content[semconv.TOOL_DEFINITIONS] = to_json_text([_definition(tool) for tool in objects_in(tools)])
    if not isinstance(messages, (list, tuple)):
        return
    whole = not alone or semconv.COMPACTED in record.attributes  # what went is no base of what is left
    sent = history.send(messages, whole=writer.wants_whole or whole)
    shown = None
    if sent.whole is not None and writer.wants_whole:
        shown = withheld.messages(history.messages)
        record.content[semconv.INPUT_MESSAGES] = sent.whole if shown is None else to_json_text(shown)
    if whole and sent.whole is not None:
        record.door[semconv.INPUT_MESSAGES] = sent.whole
    elif sent.base or sent.whole is None or shown is not None:
        record.door[semconv.INPUT_MESSAGES] = sent.added
    if sent.base and not whole:
        record.door[semconv.INPUT_BASE] = sent.base


def _definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition in the conventions' shape."""
    function = tool.get("function")
    described = function if isinstance(function, Mapping) else tool
    rest = {name: described[name] for name in ("description", "parameters") if described.get(name) is not None}
    return {"type": "function", "name": name_text(described.get("name")), **rest}


def request_messages(talk: Talk, count: int | None) -> list[JsonMessage] | None:
    """Return the history that a request of `count` messages holds, as far as events told of it.

    What is known comes from the last iteration's history (it has the calls), then from
    `context.injected` by position, then from the turn's prompt. None where nothing is known.
    """
    told, talk.injected = talk.injected, {}
    if count is None:
        count = max(len(talk.known), max(told, default=-1) + 1, 1 if talk.prompt is not None else 0)
    found: list[JsonMessage] = []
    for index in range(count):
        message = talk.known[index] if index < len(talk.known) else None
        if message is None or (index in told and not _same(message, _shown(talk, index, told[index]))):
            message = _shown(talk, index, told[index]) if index in told else None
        if message is None and index == 0 and talk.prompt is not None:
            message = {"role": "user", "parts": [text_part(talk.prompt)]}
        if message is None:
            break
        found.append(message)
    talk.known = found
    return found or None


def _same(known: JsonMessage, told: JsonMessage) -> bool:
    """Tell whether an injected message is the known one; what it tells has no calls."""
    return known["role"] == told["role"] and _said(known) == _said(told)


def _said(message: JsonMessage) -> list[object]:
    return [part.get("content", part.get("response")) for part in message["parts"] if part.get("type") != "tool_call"]


def learn_history(talk: Talk, history: Sequence[Any]) -> int | None:
    """Take over an iteration's whole message list.

    The list only ever grows, so what is known is not compared again; a list that got shorter, or
    whose last known message is another one, was rewritten and is taken over whole. Returns how many
    of the messages the iteration before told of too, None where it told of none or of others.
    """
    entries = [entry for entry in history if isinstance(entry, Mapping)]
    known = len(talk.known)
    if known > len(entries) or (known and not _same(talk.known[-1], _entry(talk, entries, known - 1))):
        known = 0
        talk.known = []
    talk.known.extend(_entry(talk, entries, index) for index in range(known, len(entries)))
    told, last = talk.told, talk.told_last
    grown = last is not None and told <= len(entries) and _same(last, talk.known[told - 1])
    talk.told, talk.told_last = len(entries), talk.known[-1] if entries else None
    return told if grown else None


def _entry(talk: Talk, entries: Sequence[Mapping[str, Any]], index: int) -> JsonMessage:
    return _shown(talk, index, from_history(entries[index]))


def _shown(talk: Talk, index: int, message: JsonMessage) -> JsonMessage:
    """Return a message of a history; an answer that was kept back when it came is not restored from here."""
    if index not in talk.hidden or message["role"] != "assistant":
        return message
    return {**message, "parts": [part for part in message["parts"] if part.get("type") == "tool_call"]}


def learn_calls(chat: Chat, messages: Sequence[JsonMessage]) -> None:
    """Take the calls that the model asked for, in its order, from what its iteration added to the history.

    That is one answer, the last: before it may stand others that the request did not show.
    """
    for message in reversed(messages):
        if message["role"] == "assistant":
            calls = [part for part in message["parts"] if part.get("type") == "tool_call"]
            chat.told = [Asked(part.get("id"), str(part.get("name") or ""), part.get("arguments")) for part in calls]
            return


def write_answer(writer: SpanWriter, chat: Chat, withheld: Withheld) -> None:
    """Put what an inference produced on its record, now that all of it is known."""
    attributes = chat.record.attributes
    if chat.usage is not None:
        attributes.update(usage_attributes(semconv.provider_of(chat.provider), chat.usage))
    if chat.chunks:
        attributes["agentfootprint.stream.chunks"] = chat.chunks
    if not writer.wants_content or not chat.ended or chat.failed:
        return
    message = answer_message(chat)
    if not message["parts"] and chat.record.lacks(semconv.OUTPUT_MESSAGES):
        return
    shown = withheld.messages([message])
    chat.record.content[semconv.OUTPUT_MESSAGES] = to_json_text([message] if shown is None else shown)
    if shown is not None:
        chat.record.door[semconv.OUTPUT_MESSAGES] = to_json_text([message])


def answer_message(chat: Chat) -> JsonMessage:
    """Return the assistant message of an inference in the conventions' shape."""
    parts = [_reasoning_part(block) for block in chat.reasoning]
    if chat.text:
        parts.append(text_part(chat.text))
    parts.extend(request_part(*call) for call in chat.asked())
    message: JsonMessage = {"role": "assistant", "parts": parts}
    if chat.finish is not None:
        message["finish_reason"] = FINISH_REASONS.get(chat.finish, chat.finish)
    return message


def _reasoning_part(block: Mapping[str, Any]) -> dict[str, Any]:
    part = {"type": "reasoning", "content": str(block.get("content") or "")}
    signature = block.get("signature")
    return part if signature is None else {**part, "signature": signature}
