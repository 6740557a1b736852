"""Read messages of flat attributes with indices: `gen_ai.prompt.N.…`, `gen_ai.completion.N.…`.

OpenLLMetry up to 0.5x writes them, and after it Koog and the callback of LiteLLM.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from atifold.calls import MISSING, Message
from atifold.dialects.content import structured
from atifold.dialects.flat import Tree, at, entries
from atifold.dialects.messages import read_message
from atifold.dialects.values import Note, is_placeholder, parsed
from atifold.kinds import is_list, is_object

_THOUGHTS: Final = frozenset({"thinking", "reasoning"})
"""Roles of a completion that is no answer but what the model thought before it."""

_NOTHING: Final = ("", '""', "null")
"""What stands for an empty content; two quotation marks are one."""


def read_flat(tree: Tree, note: Note, speaker: str) -> Any:
    """Return the messages of one list in the order of their indices, MISSING where there is none."""
    read = partial(_message, speaker=speaker)
    listed = (entry for entry in entries(tree) if is_object(entry))
    return (
        tuple(message for entry in listed for message in note.once(read, entry, b"flat " + speaker.encode())) or MISSING
    )


def _message(entry: Mapping[str, Any], note: Note, *, speaker: str) -> tuple[Message, ...]:
    return read_message(_item(entry, note, speaker), note, speaker)


def flat_finish_reasons(tree: Tree) -> tuple[str, ...]:
    """Return why the model stopped, of each completion that says it."""
    reasons = (at(entry, "finish_reason") for entry in entries(tree))
    return tuple(reason for reason in reasons if isinstance(reason, str) and reason)


def flat_definitions(tree: Tree) -> Any:
    """Return tool definitions out of `llm.request.functions.N.…`, MISSING where there is none."""
    found = [_definition(entry) for entry in entries(tree) if is_object(entry)]
    return tuple(found) or MISSING


def _definition(entry: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("name", "description", "parameters")
    found = {key: entry[key] for key in keys if not is_placeholder(entry.get(key))}
    parameters = found.get("parameters", found.pop("input_schema", None))
    if isinstance(parameters, str) and is_object(read := parsed(parameters)):
        found["parameters"] = read
    return found


def _item(entry: Mapping[str, Any], note: Note, speaker: str) -> dict[str, Any]:
    """Return one message as the object that message readers know."""
    role = str(entry.get("role") or speaker).lower()
    content = _content(entry.get("content"), note)
    if role in _THOUGHTS:
        return {"role": "assistant", "content": [{"type": "thinking", "thinking": content}]}
    calls = [call for call in entries(entry.get("tool_calls")) if is_object(call)]
    if is_object(entry.get("function_call")):
        calls.append(entry["function_call"])
    item = {"role": role, "content": content, "tool_calls": calls}
    for key in ("tool_call_id", "name", "reasoning", "reasoning_content"):
        if isinstance(entry.get(key), str):
            item[key] = entry[key]
    return item


def _content(value: Any, note: Note) -> Any:
    """Return a text, or the blocks behind JSON text of a list of blocks."""
    if not isinstance(value, str):
        return value
    if value in _NOTHING:
        return None
    if not value.lstrip().startswith("[{"):
        return value
    found = structured(value, note)
    typed = is_list(found) and found and all(is_object(block) and "type" in block for block in found)
    return found if typed else value
