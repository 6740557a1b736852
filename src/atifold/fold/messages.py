"""Read messages: their text, what they ask for, and the marks by which a replay is known again.

A history reaches the fold again and again, and seldom word for word: texts get lost, one turn is
split into several messages, call ids change their prefix. So a message is known by marks (small
hashable facts), and two tellings of one message share at least one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from atifold.calls import (
    MISSING,
    PLACEHOLDERS,
    Media,
    Message,
    ModelCall,
    OtherPart,
    Part,
    Reasoning,
    Text,
    ToolRequest,
    ToolResponse,
)
from atifold.jsontext import parsed, scrub, sorted_json, to_json_text

Mark = tuple[str, ...]
"""One fact by which a message is known: (kind, value, …)."""

_ID_PREFIX: Final = re.compile(r"^(?:fc_|call_)+(?=.)")
_SAY_NOTHING: Final = PLACEHOLDERS | {"{}", "[]", "n/a", "none", "null", "[object object]"}
_LONGEST_PLACEHOLDER: Final = 60  # with the wrapper or the white space around it


def plain_id(call_id: str) -> str:
    """Return the id without the prefixes that some layers put before it (`fc_call_1` is `1`)."""
    return _ID_PREFIX.sub("", call_id) if call_id.startswith(("fc_", "call_")) else call_id


def clean(text: str) -> str:
    """Return the text as UTF-8 can hold it; the usual text is not looked through."""
    return text if text.isascii() else scrub(text)


def text_of(messages: Iterable[Message]) -> str:
    """Return the text parts of the messages, joined by newlines."""
    return clean("\n".join([p.text for m in messages for p in m.parts if isinstance(p, Text) and p.text]))


def reasoning_of(messages: Iterable[Message]) -> str:
    """Return what the model thought, joined by newlines; "" where nothing is told."""
    return clean("\n".join([p.text for m in messages for p in m.parts if isinstance(p, Reasoning) and p.text]))


def parts_of(messages: Iterable[Message], kind: type[Any]) -> Iterator[Any]:
    """Yield the parts of one kind, in order."""
    return (part for message in messages for part in message.parts if isinstance(part, kind))


def requests_of(messages: Iterable[Message]) -> list[ToolRequest]:
    """Return the tool calls that the messages ask for, in order."""
    return [part for message in messages for part in message.parts if isinstance(part, ToolRequest)]


def responses_of(message: Message) -> list[ToolResponse]:
    """Return the tool results that a message brings; a tool's message of mere text is one result."""
    found = [part for part in message.parts if isinstance(part, ToolResponse)]
    if found or message.role != "tool":
        return found
    return [ToolResponse(id=None, result=text_of((message,)), name=message.name)]


def without_responses(message: Message) -> tuple[Part, ...]:
    """Return the parts that are no tool result."""
    return tuple(part for part in message.parts if not isinstance(part, ToolResponse))


def result_text(value: Any) -> str:
    """Return a result as content: a text as it is, anything else as compact JSON."""
    return clean(value) if isinstance(value, str) else to_json_text(value)


def is_placeholder(value: Any) -> bool:
    """Tell whether a result says only that the true one could not be written."""
    match value:
        case str():
            if len(value) > _LONGEST_PLACEHOLDER:
                return False
            inner = parsed(value) if value.startswith('{"result"') else None
            return is_placeholder(inner) if inner else value.strip().lower() in _SAY_NOTHING
        case {"result": inner} if len(value) == 1:  # ADK's wrapper
            return is_placeholder(inner)
        case dict() | list():
            return not value
        case _:
            return value is MISSING or value is None


def arguments_mark(arguments: Any) -> str:
    """Return what makes two argument values equal, whatever the order of their keys."""
    if arguments is MISSING or arguments is None:
        return "{}"
    return sorted_json(arguments).decode()


def spoken(text: str) -> str:
    """Return the text as it is compared: white space folded."""
    return " ".join(text.split())


def assistant_marks(messages: Sequence[Message]) -> set[Mark]:
    """Return the marks of one turn of the model: its text as a whole, each text and each call."""
    texts = [spoken(p.text) for m in messages for p in m.parts if isinstance(p, Text)]
    texts.append(" ".join(texts))
    marks: set[Mark] = {("text", text) for text in texts if text}
    for request in requests_of(messages):
        told = (request.name, arguments_mark(request.arguments))
        marks.add(("call", plain_id(request.id), *told) if request.id else ("call", "", *told))
    return marks


def last_turn_marks(messages: Sequence[Message]) -> set[Mark]:
    """Return the marks of the model's last turn; empty where there is none."""
    turn: list[Message] = []
    for message in reversed(messages):
        if message.role == "assistant":
            turn.append(message)
        elif turn:
            break
    return assistant_marks(turn[::-1])


def response_marks(responses: Iterable[ToolResponse]) -> set[Mark]:
    """Return the marks of a run of tool results: each id with its text, or the text alone."""
    return {
        ("result", plain_id(r.id) if r.id else "", "" if r.result is MISSING else spoken(result_text(r.result)))
        for r in responses
    }


def user_marks(message: Message) -> set[Mark]:
    """Return the one mark of a user's or system's message: its role and all that it holds."""
    held = [spoken(text_of((message,)))]
    held += [f"{m.modality}:{m.uri or len(m.data or '')}" for m in parts_of((message,), Media)]
    held += [to_json_text(o.value) for o in parts_of((message,), OtherPart)]
    return {(message.role, *held)}


def body_of(call: ModelCall) -> tuple[Message, ...]:
    """Return the request's history without its leading system messages."""
    history = call.input or ()
    if not history or history[0].role != "system":
        return history
    lead = 1
    while lead < len(history) and history[lead].role == "system":
        lead += 1
    return history[lead:]


def system_texts(call: ModelCall) -> tuple[str, ...]:
    """Return the instructions of a request, each once: those given apart, then the leading messages."""
    if not call.input or call.input[0].role != "system":
        return (clean(call.system),) if call.system else ()
    lead = len(call.input) - len(body_of(call))
    told = [clean(call.system or ""), *(text_of((message,)) for message in call.input[:lead])]
    return tuple(dict.fromkeys(text for text in told if text))
