"""Tell what is wrong with the shape of messages, parts and the other structured content.

The tables are the conventions' JSON schemas of these attributes. All objects may have more fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple


class Field(NamedTuple):
    """One field of an object: its name, what its value is, and whether it has to be there."""

    name: str
    kind: str = "text"
    required: bool = True


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "text": lambda value: isinstance(value, str),
    "text or null": lambda value: value is None or isinstance(value, str),
    "number or null": lambda value: value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)),
    "object or null": lambda value: value is None or isinstance(value, Mapping),
    "object with a type": lambda value: isinstance(value, Mapping) and isinstance(value.get("type"), str),
    "URI that is no data: URI": lambda value: isinstance(value, str) and not value.startswith("data:"),
    "value": lambda _: True,
}

_ID: Final = Field("id", "text or null", required=False)
_MIME: Final = Field("mime_type", "text or null", required=False)

PARTS: Final[dict[str, tuple[Field, ...]]] = {
    "blob": (Field("modality"), Field("content"), _MIME),
    "compaction": (_ID, Field("content", "text or null", required=False)),
    "file": (Field("modality"), Field("file_id"), _MIME),
    "reasoning": (Field("content"),),
    "server_tool_call": (Field("name"), Field("server_tool_call", "object with a type"), _ID),
    "server_tool_call_response": (Field("server_tool_call_response", "object with a type"), _ID),
    "text": (Field("content"),),
    "tool_call": (Field("name"), _ID, Field("arguments", "value", required=False)),
    "tool_call_response": (Field("response", "value"), _ID),
    "uri": (Field("modality"), Field("uri", "URI that is no data: URI"), _MIME),
}
"""The fields of each part that has a type of the conventions; a part of any other type is generic."""

INSTRUCTIONS: Final = {"text": PARTS["text"]}
"""The parts of system instructions: text, and generic ones."""

_MESSAGE: Final = (Field("role"), Field("name", "text or null", required=False))
_ANSWER: Final = (*_MESSAGE, Field("finish_reason", "text or null", required=False))

OBJECTS: Final[dict[str, tuple[Field, ...]]] = {
    "gen_ai.input.messages": _MESSAGE,
    "gen_ai.memory.records": (
        Field("content", "value"),
        _ID,
        Field("metadata", "object or null", required=False),
        Field("score", "number or null", required=False),
    ),
    "gen_ai.output.messages": _ANSWER,
    "gen_ai.retrieval.documents": (_ID, Field("score", "number or null", required=False)),
    "gen_ai.system_instructions": (),
    "gen_ai.tool.definitions": (Field("type"), Field("name")),
}
"""The attributes that are lists of objects, and what each object has. Parts have a table of their own."""

MESSAGES: Final = frozenset({"gen_ai.input.messages", "gen_ai.output.messages"})


def misfits(attribute: str, value: Any, *, as_json: bool) -> Iterator[str]:
    """Yield what is wrong with a structured value; nothing for an attribute that may be anything.

    `as_json`: the value may be JSON text, as on spans, of which not every backend takes structure.
    """
    if attribute not in OBJECTS:
        return
    if isinstance(value, str):
        if not as_json:
            yield "text was found, a structured value was wanted"
            return
        try:
            value = json.loads(value)
        except ValueError:
            yield "text was found that is no JSON, JSON or a structured value was wanted"
            return
    if not isinstance(value, (list, tuple)):
        yield f"{_named(value)} was found, a list was wanted"
        return
    for n, item in enumerate(value):
        yield from _item(attribute, item, f"[{n}]")


def _item(attribute: str, item: Any, path: str) -> Iterator[str]:
    if attribute == "gen_ai.system_instructions":
        yield from _part(item, path, INSTRUCTIONS)
        return
    yield from _object(item, path, OBJECTS[attribute])
    if attribute in MESSAGES and isinstance(item, Mapping):
        parts = item.get("parts")
        if not isinstance(parts, (list, tuple)):
            yield f"{path}.parts: {_named(parts)} was found, a list of parts was wanted"
            return
        for n, part in enumerate(parts):
            yield from _part(part, f"{path}.parts[{n}]", PARTS)


def _part(part: Any, path: str, known: Mapping[str, tuple[Field, ...]]) -> Iterator[str]:
    """Yield what is wrong with a part; one of a type that is not known only needs that type."""
    typed = isinstance(part, Mapping) and isinstance(part.get("type"), str)
    yield from _object(part, path, (Field("type"), *(known.get(part["type"], ()) if typed else ())))


def _object(value: Any, path: str, fields: tuple[Field, ...]) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path}: {_named(value)} was found, an object was wanted"
        return
    for field in fields:
        if field.name not in value:
            if field.required:
                yield f"{path}.{field.name}: nothing was found, {field.kind} was wanted"
        elif not _KINDS[field.kind](value[field.name]):
            yield f"{path}.{field.name}: {_named(value[field.name])} was found, {field.kind} was wanted"


_NAMES: Final = ((Mapping, "an object"), (str, "text"), ((list, tuple), "a list"), (type(None), "nothing"))


def _named(value: Any) -> str:
    """Return what a value is, without its content."""
    return next((name for kind, name in _NAMES if isinstance(value, kind)), type(value).__name__)
