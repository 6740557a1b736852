"""Record a run in the ledger for each trajectory that live traces become."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from atifold import process
from atifold.errors import AtifoldError
from atifold.sinks import DirectorySink

if TYPE_CHECKING:
    from atifold.fold import Document

Note = Callable[[str, str], object]
"""Takes a kind of trouble, or of what was done, and words for it; none where there is nothing to say."""


class _Written(NamedTuple):
    document: Document
    path: Path
    at_s: float


class LedgerSink:
    """Write documents as another sink does, and each as a run once it is not expected to change.

    The ledger is append-only and pins the file by its hash, so a run is written when its document was
    left alone for `settled_s`, and at the end. Trouble is noted and costs the run alone, never the document.
    """

    def __init__(
        self, sink: DirectorySink, settled_s: float, note: Note, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take the sink, the seconds after which a document is settled, and who hears of trouble."""
        self._sink = sink
        self._settled_s = settled_s
        self._note = note
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, _Written] = {}
        self._ending = False
        process.watch(self)

    def write(self, document: Document) -> Path:
        """Write the document, and the runs of those that are settled."""
        path = self._sink.write(document)
        with self._lock:
            self._waiting[document.name] = _Written(document, path, self._clock())
        self._settle(everything=self._ending)
        return path

    def discard(self, name: str) -> None:
        """Take a document back, and do not record it."""
        with self._lock:
            self._waiting.pop(name, None)
        self._sink.discard(name)

    def close(self) -> None:
        """Write all runs."""
        self._ending = True
        self._settle(everything=True)

    def flush(self, timeout_s: float, *, everything: bool) -> bool:  # noqa: ARG002 - what residents have
        """Write all runs where the process ends."""
        if everything:
            self.close()
        return True

    def after_fork(self) -> None:
        """Leave the parent's runs to the parent."""
        self._lock = threading.Lock()
        self._waiting = {}

    def _settle(self, *, everything: bool) -> None:
        for written in self._settled(everything=everything):
            try:
                self._record(written)
            except AtifoldError as error:
                self._note("runs_lost", f"a run cannot be recorded: {error}")
            except Exception as error:  # noqa: BLE001 - guards the user's program
                self._note("runs_lost", f"a run cannot be recorded: {type(error).__name__}")
            else:
                self._note("runs_recorded", "")

    def _settled(self, *, everything: bool) -> list[_Written]:
        before = self._clock() - self._settled_s
        with self._lock:
            found = [written for written in self._waiting.values() if everything or written.at_s <= before]
            for written in found:
                del self._waiting[written.document.name]
        return found

    def _record(self, written: _Written) -> None:
        with process.loading():
            from atifold.runs.trajectory import fields_of  # noqa: PLC0415 - only who keeps a ledger needs it
            from atifold.runs.workspace import locate  # noqa: PLC0415
            from atifold.runs.writing import Writer  # noqa: PLC0415

        workspace, path = locate(written.path.parent), written.path.resolve()
        ref = path.relative_to(workspace.folder) if path.is_relative_to(workspace.folder) else path
        fields = {**fields_of(written.document.trajectory), "transcript": {"path": ref.as_posix()}}
        Writer(workspace, workspace.folder).record(fields)
