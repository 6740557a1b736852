"""Redact events before anything is made of them, and name the attributes that lost something by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from atifold import semconv
from atifold.emit.names import attribute_name
from atifold.events.envelope import Event
from atifold.events.registry import PREFIX
from atifold.events.rewriting import rewritten
from atifold.redaction import Redact, Redaction

_SLOTS: Final = {"messages": semconv.INPUT_MESSAGES, "system-prompt": semconv.SYSTEM_INSTRUCTIONS}
"""Slot of a request to the attribute that its text goes to."""

_ATTRIBUTES: Final = {
    "agent.iteration_end": {"history": semconv.INPUT_MESSAGES},
    "agent.turn_end": {"finalContent": semconv.OUTPUT_MESSAGES},
    "agent.turn_start": {"userPrompt": semconv.INPUT_MESSAGES},
    "memory.retrieved": {"candidates": semconv.RETRIEVAL_DOCUMENTS},
    "stream.llm_end": {
        "content": semconv.OUTPUT_MESSAGES,
        "atifold.toolCalls": semconv.OUTPUT_MESSAGES,
        "atifold.error": semconv.STATUS,
    },
    "stream.llm_start": {
        "systemPromptText": semconv.SYSTEM_INSTRUCTIONS,
        "tools": semconv.TOOL_DEFINITIONS,
        "atifold.messages": semconv.INPUT_MESSAGES,
        "atifold.toolDefinitions": semconv.TOOL_DEFINITIONS,
    },
    "stream.thinking_end": {"blocks": semconv.OUTPUT_MESSAGES},
    "stream.tool_end": {"result": semconv.TOOL_RESULT, "modelResult": semconv.TOOL_RESULT},
    "stream.tool_start": {"args": semconv.TOOL_ARGUMENTS},
}
"""Event to its fields that go to an attribute of the conventions; all others go to one named after the field."""

_LONG: Final = frozenset(path for fields in _ATTRIBUTES.values() for path in fields if path.startswith("atifold."))


class Redactor:
    """Apply a user's function to events; `failed` is told of its failures, in words without any value."""

    def __init__(self, redact: Redact, failed: Callable[[str], None]) -> None:
        """Take the function."""
        self._ask = Redaction(redact, failed)

    def apply(self, event: Event[Any]) -> Event[Any]:
        """Return the event without what must not leave; the event itself where all of it may."""
        name = event.type
        return rewritten(event, lambda path, value: self._ask(name, path, value), self._ask.refuse)


def withheld_names(event: Event[Any]) -> tuple[str, ...]:
    """Return the attributes that lack something which was withheld from the event, each once.

    A field whose text goes to no attribute has no name.
    """
    if event.redacted is None or not event.redacted.withheld:
        return ()
    if event.name == "context.injected":
        slot = _SLOTS.get(str(getattr(event.payload, "slot", None)))
        texts = {"rawContent", "contentSummary"}.intersection(event.redacted.withheld)
        return (slot,) if slot and texts else ()
    return tuple(dict.fromkeys(name for path in event.redacted.withheld if (name := _name(event, path))))


def _name(event: Event[Any], path: str) -> str | None:
    known = _ATTRIBUTES.get(event.name, {})
    top = next((field for field in _LONG if path.startswith(field)), None)
    top = path.partition(".")[0].partition("[")[0] if top is None else top
    if top in known:
        return known[top]
    if event.name in _ATTRIBUTES and event.name != "agent.turn_end":
        return None  # no other field of these goes to a span
    return None if path.startswith("atifold.") else attribute_name(PREFIX + event.domain, path)


def is_redacted(event: Event[Any], field: str) -> bool:
    """Tell whether a redaction took something out of a field of the payload (its wire name), or replaced it."""
    redacted = event.redacted
    return redacted is not None and any(
        path == field or path.startswith((field + ".", field + "["))
        for path in (*redacted.withheld, *redacted.replaced)
    )
