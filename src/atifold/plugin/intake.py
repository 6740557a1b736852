"""Make the assembler of a plugin from settings, and be its side door."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan

from atifold.assemble import Assembler, Bounds, Folding
from atifold.assemble.inbox import Ended, Logged, Started
from atifold.plugin import doors
from atifold.plugin.ledger import LedgerSink
from atifold.plugin.listener import Listener, quietly
from atifold.plugin.screening import Screen
from atifold.readable import context_of, span_id_of, span_of, trace_id_of
from atifold.redaction import Redact, Redaction, minded
from atifold.settings import Settings
from atifold.sinks import DirectorySink
from atifold.sinks.folder import hindrance
from atifold.spans import LogRecord, Span

_log = logging.getLogger("atifold")


def settings_of(directory: str | Path | None, settings: Mapping[str, object]) -> Settings:
    """Return the settings that code gave by name; what it left open is the environment's.

    Raises TypeError for a setting that there is not or that cannot be read.
    """
    if directory is not None and not isinstance(directory, (str, Path)):
        raise TypeError(f"directory: a path is wanted, {type(directory).__name__} was found")
    if "dir" in settings:
        raise TypeError("atifold has no setting named dir; the folder is given as `directory`")
    return Settings.from_env(dir=directory, **settings)


class Intake(Listener):
    """Bring spans from the SDK and the side door, and log records, to one assembler (what all plugins share)."""

    def __init__(
        self, directory: str | Path | None = None, *, redact: Redact | None = None, **settings: object
    ) -> None:
        """Take the folder for documents and settings by name; what is not given is the environment's.

        `redact` is asked for what spans say before it is folded, unless a redaction saw the events that
        they were made of.

        From then on it is among the process's side doors. A folder that cannot be written to is only
        said: it may be mended while the program runs.
        """
        super().__init__()
        minded(redact)
        self.settings = settings_of(directory, settings)
        chosen = self.settings
        folder = chosen.dir.absolute()  # a program may change its folder
        hindered = hindrance(folder)
        if hindered is not None:
            _log.warning("atifold cannot write to %s: %s; documents are lost until it can", folder, hindered)
        sink = DirectorySink(folder)
        self._ledger = LedgerSink(sink, chosen.retain_s, self._note_run) if chosen.runs else None
        folding = Folding(chosen.group, note=self._note, files=True)
        self._assembler = Assembler(
            folding,
            self._ledger or sink,
            Bounds.of(chosen),
            by_conversation=chosen.group == "conversation",
            read=self._read,
            prepare=folding.prepare,
        )
        self._follow_sampler = chosen.follow_sampler
        # takes a span of the SDK: as started where it is the live one, else as finished
        self._put: Callable[[ReadableSpan], None] = self._put_sampled if self._follow_sampler else self._assembler.put
        self._screen: Screen | None = None
        if redact is not None:
            self.redact_with(redact)
        doors.register(self)

    @property
    def counts(self) -> dict[str, int]:
        """Return what happened so far: documents written, and each kind of loss or trouble."""
        return self._assembler.counts

    def redact_with(self, redact: Redact, instead_of: Redact | None = None) -> None:
        """Ask `redact` from now on, unless one is asked already that is not `instead_of`."""
        if self.redact is None or self.redact is instead_of:
            self.redact = redact
            self._screen = Screen(Redaction(redact, self._redaction_failed))

    def flush(self, timeout_millis: int) -> bool:
        """Write what is finished now; return whether all of it was written in time."""
        for source in tuple(self._sources):
            quietly(source.sweep, time.time_ns())
        return self._assembler.flush(timeout_millis / 1000)

    def close(self) -> None:
        """Write everything, unfinished traces as incomplete, and stop."""
        for source in tuple(self._sources):
            quietly(source.flush)
        doors.unregister(self)
        self._assembler.shutdown()
        if self._ledger is not None:
            self._ledger.close()
            self._assembler.say()

    def opened(
        self,
        trace_id: str,
        span_id: str,
        *,
        parent_span_id: str | None = None,
        remote_parent: bool = False,
        sampled: bool = True,
    ) -> None:
        """Hear that a span was started (side door)."""
        if sampled or not self._follow_sampler:
            self._assembler.opened(trace_id, span_id, parent_span_id, remote_parent=remote_parent)

    def closed(self, span: Callable[[], Span], *, sampled: bool = True) -> None:
        """Take the whole record of a span, to be made when there is time (side door)."""
        if sampled or not self._follow_sampler:
            self._assembler.put(span)

    def logged(self, record: LogRecord, *, sampled: bool = True) -> None:
        """Take a log record; `sampled` says that its span was, or that it has none."""
        if sampled or not self._follow_sampler:
            self._assembler.put(record)

    def _note(self, kind: str, words: str, n: int) -> None:
        self._assembler.note(kind, words, n)

    def _note_run(self, kind: str, words: str) -> None:
        self._assembler.note(kind, words, 1, level=logging.WARNING)

    def _redaction_failed(self, how: str) -> None:
        self._assembler.note("redactions_failed", f"redact {how}; the value is withheld", 1, level=logging.WARNING)

    def _put_sampled(self, span: ReadableSpan) -> None:
        if context_of(span).trace_flags.sampled:
            self._assembler.put(span)

    def _read(self, span: ReadableSpan | LogRecord | Callable[[], Span]) -> Started | Ended | Logged | None:
        if isinstance(span, LogRecord):
            return Logged(span if self._screen is None else self._screen.record(span))
        if not isinstance(span, ReadableSpan):
            record = span()
            if self._screen is not None and not getattr(span, "redacted", False):
                record = self._screen(record)
            return Ended(record, remote_parent=False, whole=True)
        context, parent = context_of(span), span.parent
        trace_id, span_id = trace_id_of(context), span_id_of(context)
        remote = parent is not None and parent.is_remote
        if isinstance(span, trace.Span):
            return Started(trace_id, span_id, parent is None or remote)
        if self._assembler.knows(trace_id, span_id):
            return None  # the side door brought the whole record before
        found = span_of(span)
        return Ended(found if self._screen is None else self._screen(found), remote)
