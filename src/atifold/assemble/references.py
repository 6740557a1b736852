"""Read what a span or a log record refers to: other traces, a conversation, a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from atifold import process, semconv
from atifold.spans import LogRecord, Span

_SESSIONS: Final = ("gen_ai.conversation.id", "session.id", "conversation.id")
"""What names the session of a span or a record, first on itself, then on its resource; the last is Codex's."""


def resumed_trace(span: Span) -> str | None:
    """Return the id of the trace that this span's trace carries on, None for most spans."""
    found = span.attributes.get(semconv.RESUMES_TRACE)
    return found if isinstance(found, str) and found else None


def linked_traces(span: Span, *, by_conversation: bool) -> Sequence[str]:
    """Return the ids of the traces that may be one run with this span's, as its links say.

    By trace these are the ones that a runtime of messages links (AutoGen), by conversation all: there
    a link alone may say that a gateway or a subprocess worked for a call.
    """
    if span.links and (by_conversation or ("messaging.operation" in span.attributes and "message" in span.attributes)):
        return [link.trace_id for link in span.links]
    return ()


def conversation(span: Span) -> str | None:
    """Return the id of the conversation that the span names, None where it names none."""
    with process.loading():
        # on first use, as for the fold: only who groups by conversation asks
        from atifold.dialects import conversation_of  # noqa: PLC0415

    return conversation_of(span)


def session(item: Span | LogRecord) -> str | None:
    """Return the id of the session that a span or a log record names, None where it names none."""
    for attributes in (item.attributes, item.resource):
        for name in _SESSIONS:
            found = attributes.get(name)
            if isinstance(found, str) and found:
                return found
    return None
