"""Read the messages that earlier generations of the GenAI conventions wrote as events.

Up to 1.27 one event held the prompt and one the completion, as JSON (`gen_ai.content.*`); from 1.28 to
1.36 each message of the history was an event of its own, the answer a `gen_ai.choice`, repeated for each
call. They come as span events, whose attributes are texts, or as log records, whose body is a map or
JSON text of one. Azure's SDKs put the whole of it into one attribute of the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from atifold.calls import MISSING, Message, Part, Reasoning, Text, ToolResponse
from atifold.dialects import content, untold_roles
from atifold.dialects.choices import COUNT
from atifold.dialects.logs import BODY
from atifold.dialects.messages import by_role, has_known_type, id_of, read_message, read_parts
from atifold.dialects.table import Fields
from atifold.dialects.values import Note, is_placeholder, number, parsed, plain, word
from atifold.kinds import is_list, is_object
from atifold.spans import SpanEvent

SPEAKERS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
"""Events that are one message of the history, and whose it is where the message itself does not say."""

CHOICE: Final = "gen_ai.choice"
DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The event that holds the newer generations' attributes, where they are not on the span."""

PROMPT: Final = "gen_ai.prompt"
COMPLETION: Final = "gen_ai.completion"


def _prompt(value: Any, note: Note) -> Any:
    """Read a history; texts alone have their roles from their places."""
    found = untold_roles.asked(value, note)
    return content.input_messages(value, note) if found is MISSING else found


_WHOLE: Final[tuple[tuple[str, str, str, Callable[[Any, Note], Any]], ...]] = (
    ("gen_ai.content.prompt", PROMPT, "input", _prompt),
    ("gen_ai.content.completion", COMPLETION, "output", content.output_messages),
)
"""Events that hold all messages: (name, its attribute, the field it feeds, how it is read)."""

_TELLING: Final = frozenset(
    {"text", "image", "toolUse", "toolResult", "reasoningContent", "function_call", "function_response", "inline_data"}
)
"""Keys by which Bedrock's and Gemini's blocks, which have no type, are known."""

_NO_REASON: Final = ("FINISH_REASON_UNSPECIFIED", "FinishReason.FINISH_REASON_UNSPECIFIED")
_INSIDE: Final = "gen_ai.event.content"
_INDEX: Final = ("gen_ai.message.index", "CHAT_MESSAGE_INDEX")


class _Choice(NamedTuple):
    place: float
    messages: tuple[Message, ...]
    finish_reason: str | None


def complete(events: Sequence[SpanEvent], fields: Fields, note: Note) -> None:
    """Fill in input, output and the reasons to stop that the span's own attributes lack."""
    if not any(event.name.startswith("gen_ai.") for event in events):
        return
    for name, attribute, field, read in _WHOLE:
        if field not in fields:
            told = (e.attributes[attribute] for e in events if _has(e, name, attribute))
            found = next((read(value, note) for value in told), MISSING)
            if found is not MISSING:
                fields[field] = found
    history = [event for event in events if event.name in SPEAKERS]
    if history and "input" not in fields:
        ordered = sorted(history, key=_index)
        _fill(fields, "input", tuple(message for event in ordered for message in _message(event, note)))
    _put_choices(_whole_choices([_choice(event, note) for event in events if event.name == CHOICE]), fields)


def _put_choices(choices: Sequence[_Choice], fields: Fields) -> None:
    """Fill in the answer, or several to one request, and why the model stopped."""
    if not choices:
        return
    _fill(fields, "output", tuple(message for choice in choices for message in choice.messages))
    if len({choice.place for choice in choices}) == len(choices) > 1:
        fields.setdefault(f"extra.{COUNT}", len(choices))
    reasons = tuple(choice.finish_reason for choice in choices if choice.finish_reason)
    if reasons:
        fields.setdefault("finish_reasons", reasons)


def _fill(fields: Fields, field: str, messages: tuple[Message, ...]) -> None:
    """Fill a field with messages of which at least one says something: without capture all are empty."""
    if any(message.parts for message in messages):
        fields.setdefault(field, messages)


def _has(event: SpanEvent, name: str, attribute: str) -> bool:
    return event.name == name and attribute in event.attributes


def _index(event: SpanEvent) -> float:
    """Return the place of a message in its history; where it does not say one, events stand in order."""
    found = (number(event.attributes.get(name)) for name in _INDEX)
    return next((place for place in found if place is not None), 0)


def said(event: SpanEvent) -> Mapping[str, Any]:
    """Return what an event says as one map: its body, its one attribute that holds all, else its attributes."""
    for held in (event.attributes.get(BODY), event.attributes.get(_INSIDE)):
        found = parsed(held) if isinstance(held, str) and held.lstrip().startswith("{") else held
        if is_object(found):
            return found
        if isinstance(found, str) and found:
            return {**event.attributes, "content": found}
    return event.attributes


def _message(event: SpanEvent, note: Note) -> tuple[Message, ...]:
    item = said(event)
    speaker = SPEAKERS[event.name]
    inner = item.get("content")
    if is_object(inner) and is_list(inner.get("parts")):  # google-genai: a Gemini content in place of a text
        return read_message({"role": speaker, **inner}, note, speaker)
    structured = {**item, "content": _blocks(inner), "tool_calls": _list(item.get("tool_calls"))}
    if speaker != "tool":
        return read_message({"role": speaker, **structured}, note, speaker)
    return _tool_message(structured, note)


def _tool_message(item: Mapping[str, Any], note: Note) -> tuple[Message, ...]:
    """Read a result, whose call is named by `id` where the message as such has a name for it elsewhere."""
    parts = read_parts(item["content"], note) if is_list(item["content"]) else []
    if any(isinstance(part, ToolResponse) for part in parts):
        return by_role("tool", parts, None)
    call_id = id_of(item.get("id")) or id_of(item.get("tool_call_id"))
    if call_id is not None and is_object(item["content"]):
        return (Message("tool", (ToolResponse(call_id, plain(item["content"]), word(item.get("name"))),)),)
    return read_message({**item, "role": "tool", "tool_call_id": call_id}, note, "tool")


def _choice(event: SpanEvent, note: Note) -> _Choice:
    item = said(event)
    index = number(item.get("index"))
    message = item.get("message", item.get("content"))
    found = parsed(message) if isinstance(message, str) and message.lstrip().startswith("{") else message
    if is_object(found):
        inner = {**found, "content": _blocks(found.get("content")), "tool_calls": _list(found.get("tool_calls"))}
        messages = read_message({"role": "assistant", **_named(inner)}, note, "assistant")
    else:
        calls = _list(item.get("tool_calls"))
        whole = {"role": "assistant", "content": _blocks(message), "tool_calls": calls}
        messages = () if is_placeholder(message) and not calls else read_message(whole, note, "assistant")
    reason = word(item.get("finish_reason"))
    return _Choice(0 if index is None else index, messages, None if reason in _NO_REASON else reason)


def _whole_choices(choices: Sequence[_Choice]) -> list[_Choice]:
    """Return the choices in their order; those before one with a reason to stop that have none are parts of it.

    google-genai writes each chunk of a stream as a choice.
    """
    ordered = sorted(choices, key=lambda choice: choice.place)
    if not any(choice.finish_reason for choice in ordered):
        return ordered
    whole: list[_Choice] = []
    parts: list[Part] = []
    for choice in ordered:
        parts += [part for message in choice.messages for part in message.parts]
        if choice.finish_reason:
            joined = (Message("assistant", tuple(_joined(parts))),) if len(choices) > 1 else choice.messages
            whole.append(_Choice(choice.place, joined, choice.finish_reason))
            parts = []
    return whole


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Return parts with texts that follow each other as one, and so with thoughts."""
    found: list[Part] = []
    for part in parts:
        match found[-1:], part:
            case [Text(before)], Text(text):
                found[-1] = Text(before + text)
            case [Reasoning(before, first)], Reasoning(text, second):
                found[-1] = Reasoning(before + text, {**first, **second})
            case _:
                found.append(part)
    return found


def _named(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message without a role that says nothing."""
    return {key: value for key, value in item.items() if key != "role" or value}


def _blocks(value: Any) -> Any:
    """Return the blocks behind JSON text, anything else as it is: an attribute of an event is a text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        found = parsed(value)
        if is_list(found) and found and all(is_object(block) and _is_block(block) for block in found):
            return found
    return value


def _is_block(block: Mapping[str, Any]) -> bool:
    return has_known_type(block) or not _TELLING.isdisjoint(block)


def _list(value: Any) -> Any:
    found = parsed(value) if isinstance(value, str) else value
    return found if is_list(found) else None


def details(event: SpanEvent) -> Mapping[str, Any]:
    """Return the attributes that an event of details holds, some of which may stand in its body."""
    body = event.attributes.get(BODY)
    found = parsed(body) if isinstance(body, str) and body.lstrip().startswith("{") else body
    return {**found, **event.attributes} if is_object(found) else event.attributes
