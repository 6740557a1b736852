"""Tell whether a span holds content where nobody looks: a trace of a dialect that is not read yet.

Only for words in the report: "not captured" would send people to a setting that is not at fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from atifold.spans import Span

_CONTENT: Final = re.compile(
    r"(?:^|[._])(?:content|messages?|prompts?|completions?|input|output|text|llm_(?:request|response)|events)$"
    r"|^(?:in|out)put\.value$"
)
"""How older conventions and other vendors end the names of attributes that hold messages."""

_EVENTS: Final = re.compile(r"gen_ai\.(?:(?:user|system|assistant|tool)\.message|choice|content\.\w+)")
"""Span events in which earlier generations of the GenAI conventions carried messages."""

_EMPTY: Final = ("", "{}", "[]", "null")


def holds_content(span: Span, unknown: Iterable[str]) -> bool:
    """Return whether an attribute among the `unknown` names, or an older span event, seems to hold a message."""
    if any(_CONTENT.search(name) and _says_something(span.attributes[name]) for name in unknown):
        return True
    return any(
        _EVENTS.fullmatch(event.name) and any(_CONTENT.search(name) for name in event.attributes)
        for event in span.events
    )


def _says_something(value: Any) -> bool:
    return value.strip() not in _EMPTY if isinstance(value, str) else isinstance(value, (list, dict)) and bool(value)
