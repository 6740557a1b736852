"""Tell which traces belong into one fold."""

from __future__ import annotations

from atifold import process, semconv
from atifold.spans import Span


def resumed_trace(span: Span) -> str | None:
    """Return the id of the trace that this span's trace carries on, None for most spans."""
    found = span.attributes.get(semconv.RESUMES_TRACE)
    return found if isinstance(found, str) and found else None


def conversation(span: Span) -> str | None:
    """Return the id of the conversation that the span names, None where it names none."""
    with process.loading():
        # on first use, as for the fold: only who groups by conversation asks
        from atifold.dialects import conversation_of  # noqa: PLC0415

    return conversation_of(span)
