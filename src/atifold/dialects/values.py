"""Read single attribute values: each reader returns what a field wants, or MISSING when the value says nothing.

A value comes as the trace has it: JSON text or structured, numbers as numbers or as text, lists as
tuples from a live program. What cannot be read as wanted is never an error: it is kept as text
where text has a place, else it is MISSING, and a note says so.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from atifold.calls import MISSING, PLACEHOLDERS
from atifold.dialects.reprs import from_repr
from atifold.jsontext import from_json, scrub, text_of
from atifold.kinds import is_list, is_object, kind_name
from atifold.semconv import provider_of


@dataclass(frozen=True, slots=True)
class Note:
    """Take remarks on one span for the report, and know what was read before.

    `memory` is shared by all spans of one reading. A history is repeated in every request, so each
    distinct message is read once: the calls of a conversation then hold the same objects.
    """

    remarks: list[str] = field(default_factory=list[str])
    memory: dict[bytes, tuple[Any, tuple[str, ...]]] = field(default_factory=dict[bytes, "tuple[Any, tuple[str, ...]]"])

    def __call__(self, remark: str) -> None:
        """Take one remark."""
        self.remarks.append(remark)

    def once(self, read: Callable[[Any, Note], Any], value: Any, kind: bytes) -> Any:
        """Return what a value reads as, remarks included, from memory when the same value was read before.

        `kind` tells values apart that are read in different ways.
        """
        try:
            key = kind + orjson.dumps(value)
        except TypeError:
            return read(value, self)
        known = self.memory.get(key)
        if known is None:
            inner = Note(memory=self.memory)
            known = self.memory[key] = (read(value, inner), tuple(inner.remarks))
        self.remarks.extend(known[1])
        return known[0]


Reader = Callable[[Any, Note], Any]
"""Turns an attribute's value into a field's, or MISSING."""

_DEEPEST: Final = 100
"""Levels of nesting that are kept; writers of JSON give up at about 250, Python's stack at 1000."""

_ONE_DIGIT: Final = bytes(ord("0") if 0x30 <= code <= 0x39 else code for code in range(256))  # noqa: PLR2004  ASCII 0-9
_MORE_THAN_64_BITS: Final = b"0" * 20


def parse(text: str) -> Any:
    """Parse JSON text, integers of any length exact; raises ValueError when it is none."""
    if _MORE_THAN_64_BITS not in text.encode("utf-8", "surrogatepass").translate(_ONE_DIGIT):
        return from_json(text)
    try:
        return plain(json.loads(text, parse_constant=lambda _: None))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parsed(text: str) -> Any:
    """Parse JSON text, MISSING when it is none."""
    try:
        return parse(text)
    except ValueError:
        return MISSING


def uncoated(text: str) -> str:
    """Return what is behind JSON text of a text, however often it was wrapped so; any other text as it is."""
    while text.lstrip().startswith('"') and isinstance(inner := parsed(text), str):
        text = inner
    return text


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON holds it, the same whether it came from a file or from live objects.

    Tuples become lists, bytes base64 text, NaN and infinities None; anything else its
    `str()`. What is nested more than 100 levels deep is cut off there.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value if not isinstance(value, float) or math.isfinite(value) else None
    if isinstance(value, str):
        return value if value.isascii() else scrub(value)
    if depth > _DEEPEST:
        return "..."
    if is_object(value):
        return {scrub(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if is_list(value):
        return [plain(item, depth + 1) for item in value]
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else scrub(str(value))


def is_placeholder(value: Any) -> bool:
    """Tell whether a value stands where the true one was lost."""
    return value is None or (isinstance(value, str) and value.strip() in PLACEHOLDERS)


def text(value: Any, note: Note) -> Any:
    """Read a text; numbers are written out as JSON writes them, placeholders are MISSING, as are lists and objects."""
    if isinstance(value, str):
        return MISSING if value.strip() in PLACEHOLDERS else scrub(value)
    if is_object(value) or is_list(value):
        note(f"{kind_name(value)} where a text was wanted, left out")
        return MISSING
    found = text_of(plain(value))
    return MISSING if found is None else found


def word(value: Any) -> str | None:
    """Return a text that says something, None for anything else."""
    return value if isinstance(value, str) and value else None


def provider(value: Any, note: Note) -> Any:
    """Read a provider's name, older spellings as the conventions spell it now."""
    found = text(value, note)
    return found if found is MISSING else provider_of(found).name


def number(value: Any) -> float | int | None:
    """Return the finite number behind a number, its text or its quoted text; None when there is none."""
    if isinstance(value, str):
        if "_" in value:  # Python reads `5_0`; nobody else does
            return None
        try:
            value = float(value.strip().strip('"')) if not value.strip().isdigit() else int(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def count(value: Any, note: Note) -> Any:
    """Read a number of tokens: a whole number from 0 up, however it is written."""
    found = number(value)
    if isinstance(found, int) and found >= 0:
        return found
    if value is not None:
        note(f"no token count: {str(value)[:40]!r}")
    return MISSING


def integer(value: Any, _note: Note) -> Any:
    """Read a whole number of any sign."""
    found = number(value)
    return found if isinstance(found, int) else MISSING


def money(value: Any, _note: Note) -> Any:
    """Read an amount of dollars; 0 is what tools write that know no price: unknown."""
    found = number(value)
    return float(found) if found is not None and found > 0 else MISSING


def exact_money(value: Any, _note: Note) -> Any:
    """Read an amount of dollars of an emitter that leaves out what it does not know: 0 is 0."""
    found = number(value)
    return float(found) if found is not None and found >= 0 else MISSING


def flag(value: Any, _note: Note) -> Any:
    """Read a yes or no."""
    return value if isinstance(value, bool) else str(value).lower() == "true"


def words(value: Any, note: Note) -> Any:
    """Read a list of words, given as a list, as a JSON list or as one word."""
    if isinstance(value, str):
        listed = parsed(value) if value.startswith("[") else MISSING
        value = listed if is_list(listed) else [value]
    if not is_list(value):
        return MISSING
    found = [text(word, note) for word in value]
    return tuple(word for word in found if word is not MISSING) or MISSING


def effort(value: Any, note: Note) -> Any:
    """Read how hard a model was asked to think: a word or a number."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else text(value, note)


def arguments(value: Any, note: Note) -> Any:
    """Read a tool's arguments: structured, as JSON text, as JSON text inside JSON texts, or as a Python repr.

    A text that is no JSON stays as it is; a note says so when it looks as if it should have been.
    """
    if is_placeholder(value):
        return MISSING
    if not isinstance(value, str):
        return plain(value)
    bare = uncoated(value)
    if not bare.lstrip().startswith(("{", "[")):
        found = parsed(value)
        return scrub(value) if found is MISSING else plain(found)
    found = parsed(bare)
    if found is MISSING:
        found = from_repr(bare.strip())
        note("arguments that are no JSON, " + ("kept as text" if found is MISSING else "read as Python wrote them"))
    return scrub(bare) if found is MISSING else plain(found)


def result(value: Any, _note: Note) -> Any:
    """Read a tool's result: a text or any other value as it is; JSON text inside JSON texts loses their coats."""
    if is_placeholder(value) and value is not None and value != "":
        return MISSING
    if not isinstance(value, str):
        return plain(value)
    if value.startswith(('"{', '"[', '"\\"')):
        return scrub(uncoated(value))
    return scrub(value)
