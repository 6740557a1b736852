"""Read OpenInference's flat message attributes: `llm.input_messages.N.message.…`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.calls import MISSING, Media, Message, Part, Reasoning, Text, ToolRequest, ToolResponse
from atifold.dialects.flat import Tree, at, entries
from atifold.dialects.media import media
from atifold.dialects.messages import by_role, id_of, role_of
from atifold.dialects.values import Note, arguments, is_placeholder
from atifold.jsontext import scrub
from atifold.kinds import is_object


def read_messages(tree: Tree, note: Note) -> tuple[Message, ...]:
    """Return the messages of one list, in the order of their indices."""
    return tuple(message for entry in entries(tree) for message in note.once(_message, at(entry, "message"), b"flat"))


def _message(tree: Any, note: Note) -> tuple[Message, ...]:
    if not is_object(tree):
        return ()
    role = role_of(_text(at(tree, "role")) or "assistant")
    parts = [part for entry in entries(tree.get("contents")) if (part := _content(entry, note)) is not None]
    plain = _plain_content(tree.get("content"))
    if plain and not any(isinstance(part, Text) for part in parts):
        parts.append(Text(plain))
    parts += _tool_calls(tree, parts, note)
    call_id = id_of(tree.get("tool_call_id"))
    name = _text(tree.get("name"))
    if call_id is not None or (role == "tool" and name is not None):
        parts = _response(parts, call_id, name)
    return by_role("tool" if call_id is not None else role, parts, name)


def _text(value: Any) -> str | None:
    return scrub(value) if isinstance(value, str) and value else None


def _plain_content(content: Any) -> str:
    """Return `message.content`, which is a text, or texts under indices."""
    if is_object(content):
        return "\n".join(text for entry in [content.get(""), *entries(content)] if (text := _text(entry)))
    return _text(content) or ""


def _response(parts: list[Part], call_id: str | None, name: str | None) -> list[Part]:
    texts = [part.text for part in parts if isinstance(part, Text)]
    others = [part for part in parts if isinstance(part, Media)]
    return [ToolResponse(call_id, "\n".join(texts) if texts else MISSING, name), *others]


def _content(entry: Any, note: Note) -> Part | None:
    """Read one entry of `message.contents`."""
    body = at(entry, "message_content")
    kind = _text(at(body, "type"))
    text = _text(at(body, "text"))
    url = _text(at(body, "image", "image", "url"))
    if is_object(at(entry, "tool_call")):
        return _request(at(entry, "tool_call"), note)
    if url is not None:
        return media("image", None, url, None)
    if kind in ("reasoning", "thinking"):
        signature = _text(at(body, "signature"))
        extra = {"signature": signature} if signature else {}
        return Reasoning(text or "", extra) if text or extra else None
    return Text(text) if text else None


def _tool_calls(tree: Mapping[str, Any], present: list[Part], note: Note) -> list[Part]:
    """Return `message.tool_calls` without those that the contents hold already, which they complete.

    Where one of two tellings has lost its id, they are one when name and arguments say so, or when both
    tell of as many calls and these stand in the same place.
    """
    held = [index for index, part in enumerate(present) if isinstance(part, ToolRequest)]
    calls = [at(entry, "tool_call") for entry in entries(tree.get("tool_calls"))]
    found = [_request(call, note) for call in calls if is_object(call)]
    if isinstance(tree.get("function_call_name"), str):  # before tool_calls, OpenAI had one function call
        given = tree.get("function_call_arguments_json")
        found.append(ToolRequest(None, scrub(tree["function_call_name"]), arguments(given, note)))
    own: list[Part] = []
    for place, part in enumerate(found):
        twin = _twin(part, [present[index] for index in held], place, in_order=len(held) == len(found))
        if twin is None:
            own.append(part)
        else:
            present[held[twin]] = _completed(present[held[twin]], part)
    return own


_NOTHING: Final[tuple[Any, ...]] = ("", {}, MISSING)


def _twin(part: ToolRequest, held: Sequence[Any], place: int, *, in_order: bool) -> int | None:
    """Return which of the held calls a call is, None for another one."""
    same_id = (index for index, other in enumerate(held) if part.id is not None and other.id == part.id)
    alike = (index for index, other in enumerate(held) if None in (part.id, other.id) and _alike(part, other))
    placed = [place] if in_order and None in (part.id, held[place].id) and _fit(part, held[place]) else []
    return next((index for found in (same_id, placed, alike) for index in found), None)


def _alike(one: ToolRequest, other: ToolRequest) -> bool:
    return (one.name, one.arguments) == (other.name, other.arguments)


def _fit(one: ToolRequest, other: ToolRequest) -> bool:
    """Tell whether nothing that both of two tellings say differs."""
    pairs = ((one.name, other.name), (one.arguments, other.arguments))
    return all(a in _NOTHING or b in _NOTHING or a == b for a, b in pairs)


def _completed(held: Part, other: ToolRequest) -> Part:
    if not isinstance(held, ToolRequest):
        return held
    given = other.arguments if held.arguments in _NOTHING else held.arguments
    return replace(held, id=held.id or other.id, name=held.name or other.name, arguments=given)


def _request(tree: Mapping[str, Any], note: Note) -> ToolRequest:
    given = at(tree, "function", "arguments")
    # A call without arguments is written without the attribute.
    read: Any = {} if is_placeholder(given) else arguments(given, note)
    return ToolRequest(id_of(tree.get("id")), _text(at(tree, "function", "name")) or "", read)
