"""Tell the conversation that one span names, without reading the rest of it."""

from __future__ import annotations

from atifold.calls import MISSING
from atifold.dialects.call import verdict
from atifold.dialects.spoken import spoken
from atifold.dialects.table import CallKind, read_row
from atifold.dialects.values import Note
from atifold.spans import Span


def conversation_of(span: Span) -> str | None:
    """Return the id of the conversation that the call of this span is part of, by the dialects' own rows.

    None where the span names none, or is no call. A caller that has all spans at hand reads them: an
    id that turns out to be a response's is dropped there.
    """
    dialects = spoken(span)
    kind, _ = verdict(span, dialects)
    if not isinstance(kind, CallKind):
        return None
    note = Note()
    rows = (row for dialect in dialects for row in dialect.rows_by_kind[kind] if row.field == "conversation")
    found = (read_row(row, span.attributes, note) for row in rows)
    return next((str(name) for name in found if name is not MISSING), None)
