"""Read the attributes that hold messages, instructions and tool definitions as one value.

Such a value is JSON text or structured. Text that a length limit has cut is no JSON any more: the
entries before the cut are kept, and a note says `truncated`.
"""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING, Text
from atifold.dialects.cut_json import mended, whole_entries
from atifold.dialects.messages import read_messages, read_parts
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
    opened = value.lstrip()[:1]
    if opened not in ("[", "{", '"'):
        return MISSING
    try:
        found = parse(value)
    except ValueError:
        found = from_repr(value)
        if found is not MISSING:
            note("content in Python's own notation, read as JSON")
            return found
        if opened != "[":
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
    return found


def _with_the_cut(found: list[Any], rest: str) -> list[Any]:
    """Return whole messages with what is left of the one that was cut, if that is a person's.

    The part of an answer or of a result would be taken for another one when it is repeated whole.
    """
    cut = mended(rest) if rest.startswith("{") else MISSING
    if not is_object(cut) or str(cut.get("role")).lower() not in _TOLD:
        return found
    return [*found, cut] if _says(cut.get("content") or cut.get("parts")) else found


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
