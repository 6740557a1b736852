"""Fold what is due and bring the documents to their sink, whatever the sink's mood."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from atifold.assemble.counts import Counts
from atifold.assemble.trace import Job
from atifold.errors import AtifoldError
from atifold.spans import LogRecord, Span

if TYPE_CHECKING:
    from atifold.fold import Document

_FIRST_RETRY_S: Final = 1.0
_LAST_RETRY_S: Final = 60.0


class Fold(Protocol):
    """Turn the spans and log records of tied traces into documents."""

    def __call__(
        self,
        spans: Sequence[Span],
        *,
        logs: Sequence[LogRecord] = (),
        incomplete: Sequence[str] = (),
        part: int = 1,
        whole: Collection[str] = (),
    ) -> Sequence[Document]:
        """Return the documents; `incomplete` says which spans are missing, `part` counts from 1.

        Nothing is missing of the documents and traces whose ids are `whole`.
        """
        ...


class Sink(Protocol):
    """Take documents to where they belong; both calls may raise."""

    def write(self, document: Document) -> object:
        """Write the document in the place of one of the same name."""
        ...

    def discard(self, name: str) -> None:
        """Take back a document that became part of another one."""


class _Unsaved(NamedTuple):
    document: Document
    trace_id: str
    size: int


class Outbox:
    """Fold jobs and write their documents; keep those that could not be written, and try again.

    For one thread at a time. Nothing raises: trouble is counted and said once, by the kind of the
    error alone (its text may hold what a person wrote).
    """

    def __init__(self, fold: Fold, sink: Sink, counts: Counts, *, clock: Callable[[], float], max_bytes: int) -> None:
        """Take where documents come from and go to, and the bytes that unsaved ones may hold."""
        self._fold = fold
        self._sink = sink
        self._counts = counts
        self._clock = clock
        self._max_bytes = max_bytes
        self._unsaved: OrderedDict[str, _Unsaved] = OrderedDict()
        self.unsaved_bytes = 0
        self._retry_s = _FIRST_RETRY_S
        self.retry_at = float("inf")

    def fold(self, job: Job) -> Sequence[Document] | None:
        """Return the job's documents, None where folding failed."""
        try:
            spans, logs = [*job.spans, *job.beside.spans], [*job.logs, *job.beside.logs]
            return self._fold(spans, logs=logs, incomplete=job.reasons, part=job.part, whole=job.beside.ids)
        except Exception as error:  # noqa: BLE001 - guards the user's program
            sort = type(error).__name__
            self._counts.add("fold_errors", "trace %s cannot be folded: %s", job.trace_id, _kind(error), sort=sort)
            return None

    def write(self, job: Job, documents: Sequence[Document], stale: set[str]) -> None:
        """Write the documents, and take back the stale names."""
        for document in documents:
            self._keep_unsaved(_Unsaved(document, job.trace_id, max(job.size // len(documents), 1)))
            if self.retry_at > self._clock() and self.retry_at != float("inf"):
                continue  # the sink failed a moment ago
            self._write_unsaved(document.name)
        for name in stale:
            self._discard(name)

    def retry(self, *, now: bool = False) -> bool:
        """Write what could not be written before, once its time has come or `now`; return whether all is."""
        if self._unsaved and (now or self._clock() >= self.retry_at):
            for name in list(self._unsaved):
                if not self._write_unsaved(name):
                    break
        return not self._unsaved

    def give_up(self) -> None:
        """Count as lost what never could be written."""
        for unsaved in self._unsaved.values():
            self._lose(unsaved)
        self._unsaved.clear()

    def _keep_unsaved(self, unsaved: _Unsaved) -> None:
        name = unsaved.document.name
        before = self._unsaved.pop(name, None)
        self.unsaved_bytes += unsaved.size - (before.size if before else 0)
        self._unsaved[name] = unsaved
        while self.unsaved_bytes > self._max_bytes and len(self._unsaved) > 1:
            _, oldest = self._unsaved.popitem(last=False)
            self.unsaved_bytes -= oldest.size
            self._lose(oldest)

    def _write_unsaved(self, name: str) -> bool:
        unsaved = self._unsaved.get(name)
        if unsaved is None:
            return True
        try:
            self._sink.write(unsaved.document)
        except Exception as error:  # noqa: BLE001 - guards the user's program
            words, sort = "trace %s: %s; tried again later", type(error).__name__
            self._counts.add("sink_errors", words, unsaved.trace_id, _kind(error), sort=sort)
            self.retry_at = self._clock() + self._retry_s
            self._retry_s = min(self._retry_s * 2, _LAST_RETRY_S)
            return False
        if self._unsaved.get(name) is unsaved:
            del self._unsaved[name]
            self.unsaved_bytes -= unsaved.size
        self._counts.add("documents_written")
        self._retry_s = _FIRST_RETRY_S
        self.retry_at = float("inf") if not self._unsaved else self._clock()
        return True

    def _discard(self, name: str) -> None:
        before = self._unsaved.pop(name, None)
        if before is not None:
            self.unsaved_bytes -= before.size
        try:
            self._sink.discard(name)
            self._counts.add("documents_replaced")
        except Exception as error:  # noqa: BLE001 - guards the user's program
            self._counts.add("sink_errors", "%s cannot be taken back: %s", name, _kind(error))

    def _lose(self, unsaved: _Unsaved) -> None:
        self._counts.add("documents_lost", "the document of trace %s could not be written", unsaved.trace_id)


def _kind(error: Exception) -> str:
    return str(error) if isinstance(error, AtifoldError) else type(error).__name__
