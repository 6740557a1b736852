"""Tell which traces belong into one fold."""

from __future__ import annotations

from typing import Final

from atifold.spans import Span

RESUMES: Final = "atifold.resumes.trace_id"
"""The trace of the paused leg that this one carries on."""

_CONVERSATION: Final = ("gen_ai.conversation.id", "session.id")


def resumed_trace(span: Span) -> str | None:
    """Return the id of the trace that this span's trace carries on, None for most spans."""
    return _text(span, RESUMES)


def conversation(span: Span) -> str | None:
    """Return the id of the conversation that the span names, None where it names none."""
    for name in _CONVERSATION:
        value = _text(span, name)
        if value is not None:
            return value
    return None


def _text(span: Span, name: str) -> str | None:
    value = span.attributes.get(name)
    return value if isinstance(value, str) and value else None
