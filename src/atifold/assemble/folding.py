"""Fold the spans of whole traces into documents, and mark those that a bound cut short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from atifold.filename import file_stem
from atifold.spans import Span

if TYPE_CHECKING:
    from atifold.fold import Document


class Folding:
    """Fold spans of tied traces: dialects, then fold, then the marks of the assembler."""

    def __init__(self, group: Literal["trace", "conversation"] = "trace") -> None:
        """Take what one document covers."""
        self.group: Literal["trace", "conversation"] = group

    def __call__(self, spans: Sequence[Span], *, incomplete: Sequence[str] = (), part: int = 1) -> Sequence[Document]:
        """Return the documents of the spans, none where no agent's work is among them.

        `incomplete` holds the assembler's reasons for which spans are missing; `part` counts from 1
        and is above it where earlier spans of the trace were written and let go before.
        """
        # on first use: a program that never ends an agent's span need not load the readers
        from atifold import dialects, fold  # noqa: PLC0415

        folded = fold.fold(dialects.read(spans), group=self.group)
        return [marked(document, incomplete, part) for document in folded.documents]


def marked(document: Document, incomplete: Sequence[str], part: int) -> Document:
    """Return the document with the reasons in `extra.atifold.incomplete`, and its part in its name and id."""
    if not incomplete and part == 1:
        return document
    extra = dict(document.trajectory.get("extra") or {})
    ours = dict(extra.get("atifold") or {})
    ours["incomplete"] = list(dict.fromkeys([*ours.get("incomplete", ()), *incomplete]))
    trajectory, name = {**document.trajectory}, document.name
    if part > 1:
        ours["part"] = part
        name = trajectory["trajectory_id"] = file_stem(f"{name}.part{part}")
    extra["atifold"] = ours
    trajectory["extra"] = extra
    return replace(document, name=name, trajectory=trajectory, incomplete=True)
