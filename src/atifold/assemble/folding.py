"""Fold the spans and log records of whole traces into documents, and mark those that a bound cut short."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from atifold import process
from atifold.assemble.trace import stands_for
from atifold.calls import ModelCall, Reading
from atifold.filename import file_stem
from atifold.spans import LogRecord, Span

if TYPE_CHECKING:
    from atifold.fold import Document

Note = Callable[[str, str, int], None]
"""Takes a kind of what was left out, words for it, and how often it happened."""


class Folding:
    """Fold spans of tied traces: dialects, then fold, then the marks of the assembler."""

    def __init__(
        self, group: Literal["trace", "conversation"] = "trace", *, note: Note | None = None, files: bool = False
    ) -> None:
        """Take what one document covers, who hears of spans that are not read, and whether documents may have files."""
        self._files = files
        self.group: Literal["trace", "conversation"] = group
        self._note = note

    def prepare(self) -> None:
        """Load the readers, so that the first fold need not."""
        with process.loading():
            from atifold import dialects, fold  # noqa: F401, PLC0415 - see __call__

    def __call__(
        self,
        spans: Sequence[Span],
        *,
        logs: Sequence[LogRecord] = (),
        incomplete: Sequence[str] = (),
        part: int = 1,
        whole: Collection[str] = (),
    ) -> Sequence[Document]:
        """Return the documents of the spans and log records, none where no agent's work is among them.

        `incomplete` holds the assembler's reasons for which spans are missing; `part` counts from 1
        and is above it where earlier spans of the trace were written and let go before. Neither is so of
        the documents and traces whose ids are `whole`.
        """
        with process.loading():
            # on first use: a program that never ends an agent's span need not load the readers
            from atifold import dialects, fold  # noqa: PLC0415

        reading = dialects.read(spans, logs)
        self._say_unread(spans, reading)
        folded = fold.fold(reading, group=self.group, files=self._files)
        kinship = fold.kinship_of(reading.calls)
        return [
            replace(
                document if stands_for(document, whole) else marked(document, incomplete, part),
                kinship={trace_id: kinship[trace_id] for trace_id in document.trace_ids},
            )
            for document in folded.documents
        ]

    def _say_unread(self, spans: Sequence[Span], reading: Reading) -> None:
        if self._note is None:
            return
        if spans and not reading.calls:
            self._note("no_dialect", f"trace {spans[0].trace_id} holds no call in a dialect that is read", 1)
        unread = [call for call in reading.calls if isinstance(call, ModelCall) and call.content_unread]
        if unread:
            trace_id, _ = unread[0].key
            self._note("content_unread", f"trace {trace_id} holds content under names that are not read", len(unread))


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
