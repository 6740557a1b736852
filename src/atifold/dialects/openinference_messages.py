"""Read OpenInference's flat message attributes: `llm.input_messages.N.message.…`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    """Return `message.tool_calls` without those that the contents hold already.

    One whose id is missing is held already when a call of the same name and arguments is.
    """
    held = [part for part in present if isinstance(part, ToolRequest)]
    ids = {part.id for part in held if part.id is not None}
    calls = [at(entry, "tool_call") for entry in entries(tree.get("tool_calls"))]
    found = [_request(call, note) for call in calls if is_object(call)]
    if isinstance(tree.get("function_call_name"), str):  # before tool_calls, OpenAI had one function call
        given = tree.get("function_call_arguments_json")
        found.append(ToolRequest(None, scrub(tree["function_call_name"]), arguments(given, note)))
    return [part for part in found if not (part.id in ids if part.id is not None else part in held)]


def _request(tree: Mapping[str, Any], note: Note) -> ToolRequest:
    given = at(tree, "function", "arguments")
    # A call without arguments is written without the attribute.
    read: Any = {} if is_placeholder(given) else arguments(given, note)
    return ToolRequest(id_of(tree.get("id")), _text(at(tree, "function", "name")) or "", read)
