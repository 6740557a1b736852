"""Tell whose the texts of a request are where a trace holds the texts alone, in their order (Spring AI).

A request ends with what a person or a tool said. Before that, person and model take turns; a tool's result has no text
and stands after what the model said with its calls, which may be empty too. What does not come out so begins with
instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from atifold.calls import MISSING, Message, Text
from atifold.dialects.values import Note, parsed
from atifold.jsontext import scrub
from atifold.kinds import is_list

_OPEN, _CLOSE, _BETWEEN = '["', '"]', '", "'
_ENDS: Final = ("user", "tool")
_NEXT: Final = {"system": "user", "user": "assistant", "assistant": "user", "tool": "assistant"}


def texts_in(value: Any) -> list[str] | None:
    """Return the texts of a list of nothing else, None for any other value; its own text may be no whole JSON."""
    if isinstance(value, str):
        bare = value.strip()
        if not (bare.startswith(_OPEN) and bare.endswith(_CLOSE)):
            return None
        found = parsed(bare)
        value = bare[len(_OPEN) : -len(_CLOSE)].split(_BETWEEN) if found is MISSING else found
    if not is_list(value) or not value:
        return None
    texts = [text for text in value if isinstance(text, str) and not text.lstrip().startswith("{")]
    return texts if len(texts) == len(value) else None


def asked(value: Any, note: Note) -> Any:
    """Return the messages of a request that is a list of texts, MISSING for any other value."""
    texts = texts_in(value)
    if texts is None or not any(texts):
        return MISSING
    roles = _roles(texts, "user")
    if roles[-1] not in _ENDS:
        roles = _roles(texts, "system")
    if len(texts) > 1:
        note("texts without roles, told apart by their turns")
    told = zip(roles, texts, strict=True)
    return tuple(Message(role, (Text(scrub(text)),)) for role, text in told if text)


def said(value: Any) -> Any:
    """Return the answers that a list of texts holds, MISSING for any other value."""
    texts = [text for text in texts_in(value) or () if text]
    return tuple(Message("assistant", (Text(scrub(text)),)) for text in texts) or MISSING


def _roles(texts: Sequence[str], first: str) -> list[str]:
    roles = [first]
    for at in range(1, len(texts)):
        before = roles[-1]
        calls = before in _ENDS and at + 1 < len(texts) and not texts[at + 1]
        result = before == "calls"
        roles.append("tool" if result else "calls" if calls else _NEXT[before])
    return ["assistant" if role == "calls" else role for role in roles]
