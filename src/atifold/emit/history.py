"""Keep one conversation as messages in the conventions' shape, and write each message once.

A request repeats the whole history; serialising it anew for every call would cost the square of
the conversation. Each message is therefore written once, and a request is a join of those texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from atifold.bus.inputs import called, text_id
from atifold.jsontext import to_json, to_json_text
from atifold.kinds import is_mapping

JsonMessage = dict[str, Any]

_TEXTS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "blob": ("modality", "content"),
    "file": ("modality", "file_id"),
    "reasoning": ("content",),
    "server_tool_call": ("name",),
    "text": ("content",),
    "tool_call": ("name",),
    "uri": ("modality", "uri"),
}
"""What a part of each type of the conventions has as text."""


class Sent(NamedTuple):
    """One request's history as JSON text: what it adds to the first `base` messages, and all of it.

    `whole` is None where nobody wants it: it grows with the square of the conversation.
    """

    whole: str | None
    added: str
    base: int


class History:
    """The messages that an agent's requests have shown so far."""

    def __init__(self) -> None:
        """Start an empty conversation."""
        self.messages: list[JsonMessage] = []
        self._sources: list[object] = []
        self._texts: list[bytes] = []
        self._whole: str | None = None  # of `_texts` as they are, once asked for

    def send(self, sources: Sequence[Mapping[str, Any]], *, whole: bool) -> Sent:
        """Take a request's messages; return them as JSON, and how many were there before.

        A message that is the same object as before (the newest one apart, which may still have
        been changed) is not written again.
        """
        known = len(self._sources)
        base = None
        for index, source in enumerate(sources):
            if index < known - 1 and source is self._sources[index]:
                continue
            message = shaped(source)
            text = to_json(message)
            if index < known and text == self._texts[index]:
                self._sources[index] = source
                continue
            if base is None:
                base = index
                self._cut(index)
                known = index
            self._sources.append(source)
            self.messages.append(message)
            self._texts.append(text)
            self._whole = None
        if base is None:
            base = len(sources)
            self._cut(base)
        if whole and self._whole is None:
            self._whole = _joined(self._texts)
        return Sent(self._whole if whole else None, _joined(self._texts[base:]), base)

    def _cut(self, count: int) -> None:
        if count < len(self._texts):
            del self._sources[count:], self.messages[count:], self._texts[count:]
            self._whole = None


def _joined(texts: Iterable[bytes]) -> str:
    return (b"[" + b",".join(texts) + b"]").decode()


# ---- shapes --------------------------------------------------------------------------------------


def shaped(source: Mapping[str, Any]) -> JsonMessage:
    """Return a message in the conventions' shape: as it is, or from that of chat completions."""
    if not is_mapping(source):
        return {"role": "user", "parts": _content_parts(source)}
    if isinstance(source.get("parts"), list):
        return _checked(source)
    role = str(source.get("role", "user"))
    if role == "tool":
        part = response_part(source.get("tool_call_id"), source.get("content"))
        return {"role": "tool", "parts": [part]}
    parts = _content_parts(source.get("content"))
    for call in objects_in(source.get("tool_calls")):
        function = called(call)
        parts.append(request_part(call.get("id"), function.get("name"), function.get("arguments")))
    return {"role": role, "parts": parts}


def _checked(source: Mapping[str, Any]) -> JsonMessage:
    """Return a message that has parts: itself, or a copy in which a bad role or part is put right."""
    parts = source["parts"]
    if isinstance(source.get("role"), str) and isinstance(source, dict) and all(map(_is_part, parts)):
        return source
    return {**source, "role": str(source.get("role", "user")), "parts": [_part(entry) for entry in parts]}


def objects_in(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list that should hold objects, as of calls; all else is left out."""
    return [call for call in value if is_mapping(call)] if isinstance(value, (list, tuple)) else []


def _content_parts(content: object) -> list[dict[str, Any]]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [text_part(content)]
    entries = content if isinstance(content, (list, tuple)) else [content]
    return [
        text_part(str(entry.get("text", "")))
        if isinstance(entry, Mapping) and entry.get("type") in ("text", "input_text", "output_text")
        else _part(entry)
        for entry in entries
    ]


def _is_part(entry: object) -> bool:
    """Tell whether an entry is a part as the conventions have it; of types that they do not know, all are."""
    if not is_mapping(entry) or not isinstance(kind := entry.get("type"), str):
        return False
    return all(isinstance(entry.get(name), str) for name in _TEXTS_OF.get(kind, ())) and (
        kind != "tool_call_response" or "response" in entry
    )


def _part(entry: object) -> dict[str, Any]:
    """Return an entry of a content list as a part; one that is none becomes its text, or its JSON."""
    if _is_part(entry):
        return dict(cast("Mapping[str, Any]", entry))
    if is_mapping(entry) and entry.get("type") == "tool_call":
        return {**entry, "name": name_text(entry.get("name"))}
    if is_mapping(entry) and entry.get("type") == "tool_call_response":
        return {**entry, "response": None}
    return text_part(entry if isinstance(entry, str) else to_json_text(entry))


def name_text(name: object) -> str:
    """Return the name of a tool, which the conventions want as text: empty where there is none."""
    return name if isinstance(name, str) else "" if name is None else to_json_text(name)


def from_history(entry: Mapping[str, Any]) -> JsonMessage:
    """Return a message of `iteration_end.history` (role, content, toolCalls, toolCallId) in that shape."""
    role = str(entry.get("role", "user"))
    content = entry.get("content")
    if role == "tool":
        return {"role": "tool", "parts": [response_part(entry.get("toolCallId"), content)]}
    parts = _content_parts(content)
    for call in objects_in(entry.get("toolCalls")):
        parts.append(request_part(call.get("id"), call.get("name"), call.get("args")))
    return {"role": role, "parts": parts}


def from_injection(role: str, text: str, call_id: str | None) -> JsonMessage:
    """Return an input message that `context.injected` told of, in that shape."""
    if role == "tool":
        return {"role": "tool", "parts": [response_part(call_id, text)]}
    return {"role": role, "parts": [text_part(text)] if text else []}


def text_part(text: str) -> dict[str, Any]:
    """Return the conventions' TextPart."""
    return {"type": "text", "content": text}


def request_part(call_id: object, name: object, arguments: object) -> dict[str, Any]:
    """Return the conventions' ToolCallRequestPart."""
    return {"type": "tool_call", "id": text_id(call_id), "name": name_text(name), "arguments": arguments}


def response_part(call_id: object, response: object) -> dict[str, Any]:
    """Return the conventions' ToolCallResponsePart."""
    return {"type": "tool_call_response", "id": text_id(call_id), "response": response}
