"""Read the attributes that hold messages, instructions and tool definitions as one value.

Such a value is JSON text or structured. Text that a length limit has cut is no JSON any more: the
entries before the cut are kept, and a note says `truncated`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from atifold.calls import MISSING, Text
from atifold.dialects.cut_json import mended, still_open, whole_entries
from atifold.dialects.messages import opened, read_messages, read_parts
from atifold.dialects.reprs import from_repr
from atifold.dialects.values import Note, is_placeholder, parse, parsed, plain, uncoated
from atifold.jsontext import scrub
from atifold.kinds import is_list, is_object

TRUNCATED: Final = "truncated"
_TOLD: Final = frozenset({"user", "system", "human", "developer"})


def structured(value: Any, note: Note) -> Any:
    """Return the value behind JSON text, the whole entries of a list that was cut, or MISSING for a plain text."""
    if not isinstance(value, str):
        return plain(value)
    sign = value.lstrip()[:1]
    if sign not in ("[", "{", '"'):
        return MISSING
    try:
        found = parse(value)
    except ValueError:
        found = from_repr(value)
        if found is not MISSING:
            note("content in Python's own notation, read as JSON")
            return found
        if sign != "[":
            return _before_the_cut(value, note)
    else:
        inner = parsed(uncoated(found)) if isinstance(found, str) and found.lstrip()[:1] in ("[", "{", '"') else MISSING
        return found if inner is MISSING else inner
    found, rest = whole_entries(value)
    note(f"content {TRUNCATED}: {len(found)} whole entries kept")
    return _with_the_cut(found, rest)


def _before_the_cut(value: str, note: Note) -> Any:
    """Return what is left of an object or a text that was cut, MISSING for what is no JSON."""
    found = mended(value)
    note(f"content {TRUNCATED} or broken: " + ("no JSON" if found is MISSING else "what stands before the cut is kept"))
    if found is not MISSING:
        _drop_the_half(found, still_open(value))
    return found


def _drop_the_half(found: Any, depth: int) -> None:
    """Take the message that the cut went through, if it is no person's, out of a history inside an object.

    `depth` counts the lists and objects that were open at the cut: they are the last ones at each level.
    """
    for _ in range(depth - 1):
        entries = list(found.values()) if is_object(found) else found
        if not is_list(entries) or not entries:
            return
        last = opened(entries[-1]) if is_object(entries[-1]) else {}
        is_history = is_list(found) and any(is_object(entry) and "role" in opened(entry) for entry in found)
        if isinstance(found, list) and is_history and not _is_persons(last):
            found.pop()
            return
        found = entries[-1]


def _is_persons(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is a person's, and some of it stands before the cut."""
    told = str(message.get("role")).lower() in _TOLD
    return told and _says(message.get("content") or message.get("parts"))


def _with_the_cut(found: list[Any], rest: str) -> list[Any]:
    """Return whole messages with what is left of the one that was cut, if that is a person's.

    The part of an answer or of a result would be taken for another one when it is repeated whole.
    """
    cut = mended(rest) if rest.startswith("{") else MISSING
    return [*found, cut] if is_object(cut) and _is_persons(cut) else found


def _says(content: Any) -> bool:
    """Tell whether some text of a message stands before the cut."""
    if is_list(content):
        return any(_says(part.get("content") or part.get("text")) for part in content if is_object(part))
    return isinstance(content, str) and bool(content.strip())


def input_messages(value: Any, note: Note) -> Any:
    """Read a history; MISSING where there is none, or no message that stands whole."""
    return _messages(value, "user", note)


def output_messages(value: Any, note: Note) -> Any:
    """Read what a model or an agent produced; MISSING where there is nothing, or nothing that stands whole."""
    return _messages(value, "assistant", note)


def _messages(value: Any, speaker: str, note: Note) -> Any:
    if is_placeholder(value):
        return MISSING
    found = structured(value, note)
    if isinstance(found, str) or found is MISSING:
        looks_like_json = isinstance(value, str) and value.lstrip()[:1] in ("[", "{")
        if looks_like_json or not isinstance(value, str):
            return MISSING
        return read_messages(found or value, note, speaker)
    if is_object(found) and is_list(found.get("messages")):
        found = found["messages"]
    was_cut = isinstance(value, str) and found == [] and value.strip() != "[]"
    return MISSING if was_cut else read_messages(found, note, speaker)


def instructions(value: Any, note: Note) -> Any:
    """Read system instructions, a list of text parts or plain text, into one text."""
    if is_placeholder(value):
        return MISSING
    found = structured(value, note)
    if found is MISSING:
        return scrub(str(value))
    if isinstance(found, str):
        return scrub(found)
    entries = found if is_list(found) else [found]
    parts = [part for entry in entries for part in read_parts(_content_of(entry), note)]
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "\n\n".join(texts) if texts else MISSING


def _content_of(entry: Any) -> Any:
    """Return what an entry says: itself where it is a part, its parts where it is a message."""
    if is_object(entry) and "role" in entry:
        return entry.get("parts", entry.get("content"))
    return entry


def definitions(value: Any, note: Note) -> Any:
    """Read tool definitions: a list of objects, each of which may be JSON text."""
    if is_placeholder(value):
        return MISSING
    found = structured(value, note)
    if not is_list(found):
        return MISSING if found is MISSING or isinstance(found, str) else (found,)
    read = [parsed(entry) if isinstance(entry, str) else entry for entry in found]
    kept = tuple(raw if entry is MISSING else entry for raw, entry in zip(found, read, strict=True))
    return tuple(plain(entry) for entry in kept) or MISSING
