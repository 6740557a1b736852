"""Read a provider's raw request and response: OpenAI chat and Responses, Anthropic messages, Gemini contents.

Instrumentations keep them as JSON text beside what they took out of them. What they did not take
out, above all reasoning, stands only here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atifold.calls import Message, Reasoning
from atifold.dialects.messages import by_role, opened, read_message, read_part, read_parts, role_of
from atifold.dialects.values import Note
from atifold.jsontext import text_of
from atifold.kinds import is_list, is_object


def response_messages(value: Any, note: Note) -> tuple[Message, ...] | None:
    """Return what the model produced, None where the value is no response that is known."""
    if not is_object(value):
        return None
    if is_list(value.get("choices")):
        choices = [choice.get("message") for choice in value["choices"] if is_object(choice)]
        return tuple(
            message for choice in choices if is_object(choice) for message in read_message(choice, note, "assistant")
        )
    if is_list(value.get("output")):
        return items(value["output"], note)
    if value.get("role") == "assistant" and ("content" in value or "tool_calls" in value):
        return read_message(value, note, "assistant")
    return None


def request_messages(value: Any, note: Note) -> tuple[Message, ...] | None:
    """Return the history that was sent, None where the value is no request that is known."""
    listed = value.get("messages", value.get("input")) if is_object(value) else value
    if not is_list(listed) or not all(is_object(entry) for entry in listed):
        return None
    return items(listed, note)


def gemini_request(value: Any, note: Note) -> tuple[Message, ...] | None:
    """Return the contents of a request to Gemini, None where the value is none."""
    listed = value.get("contents") if is_object(value) else None
    if not is_list(listed) or not all(is_object(entry) and is_list(entry.get("parts")) for entry in listed):
        return None
    return tuple(message for entry in listed for message in _content(entry, "user", note))


def gemini_response(value: Any, note: Note) -> tuple[Message, ...] | None:
    """Return what Gemini produced, one content or one a candidate; None where the value is no response of it."""
    if not is_object(value):
        return None
    candidates = value.get("candidates")
    answers = [value, *(each for each in candidates if is_object(each))] if is_list(candidates) else [value]
    contents = [answer.get("content") for answer in answers]
    found = [entry for entry in contents if is_object(entry) and is_list(entry.get("parts"))]
    return tuple(message for entry in found for message in _content(entry, "model", note)) or None


def _content(entry: Mapping[str, Any], speaker: str, note: Note) -> tuple[Message, ...]:
    return by_role(role_of(entry.get("role") or speaker), read_parts(entry["parts"], note), None)


def items(listed: Sequence[Any], note: Note) -> tuple[Message, ...]:
    """Read a list whose entries are messages, or the items (calls, results, reasoning) of the Responses API."""
    return tuple(message for entry in listed if is_object(entry) for message in note.once(_item, entry, b"item"))


def _item(entry: Mapping[str, Any], note: Note) -> tuple[Message, ...]:
    message = opened(entry)
    if "role" in message:
        return read_message(message, note)
    part = read_part(entry, note)
    if part is None:
        return ()
    return (Message("tool" if str(entry.get("type", "")).endswith("_output") else "assistant", (part,)),)


def reasoning(messages: tuple[Message, ...]) -> tuple[Reasoning, ...]:
    """Return the thoughts that stand in some messages."""
    return tuple(part for message in messages for part in message.parts if isinstance(part, Reasoning))


def finish_reasons(value: Any) -> tuple[str, ...]:
    """Return why the model stopped, as its response says it."""
    if not is_object(value):
        return ()
    choices = value.get("choices")
    listed = [choice.get("finish_reason") for choice in choices if is_object(choice)] if is_list(choices) else []
    return tuple(text for reason in [*listed, value.get("stop_reason")] if (text := text_of(reason)))
