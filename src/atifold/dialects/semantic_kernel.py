"""Read what Semantic Kernel says in a line of its debug log alone: cached and reasoning tokens."""

from __future__ import annotations

from typing import Final

from atifold.dialects.about import About
from atifold.dialects.logs import BODY
from atifold.dialects.reprs import from_repr
from atifold.dialects.table import CallKind, Dialect, Fields
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note
from atifold.spans import Span, SpanEvent

_LINE: Final = "OpenAI usage: "


def _usage(event: SpanEvent) -> str | None:
    """Return the repr of the counts in a line of the log, None for anything else."""
    body = event.attributes.get(BODY)
    return body.removeprefix(_LINE) if isinstance(body, str) and body.startswith(_LINE) else None


def marks(span: Span) -> bool:
    """Tell whether such a line belongs to the span."""
    return any(_usage(event) is not None for event in span.events)


def complete(span: Span, kind: CallKind, fields: Fields, _note: Note) -> None:
    """Fill in the counts that the span itself lacks."""
    if kind is CallKind.MODEL:
        for event in span.events:
            put_usage(from_repr(_usage(event) or ""), fields)


SEMANTIC_KERNEL: Final = Dialect(
    name="semantic-kernel",
    marks=marks,
    rows=(),
    complete=complete,
    marks_events=True,
    about=About(
        title="Semantic Kernel",
        versions="1.x, beside the conventions",
        carries="counts of cached tokens, from its log lines",
        lacks="a cost",
    ),
)
