"""Bring the SDK's log records to the assembler that has the spans: as a processor, or as an exporter.

The exporter is what `OTEL_LOGS_EXPORTER=otlp,atif` loads.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk._logs import LogRecordProcessor, ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from atifold import semconv
from atifold.plugin import doors
from atifold.plugin.intake import Intake, settings_of
from atifold.readable import event_name_of, record_of
from atifold.spans import tells

_log = logging.getLogger("atifold")
_SAMPLED: Final = 1


class AtifLogProcessor(LogRecordProcessor):
    """Fold what log records say into the trajectories of the traces that they name.

    Add it to a LoggerProvider: `logger_provider.add_log_record_processor(AtifLogProcessor(span_processor))`.
    Without a span processor or exporter of ours it is the process's, once there is one. Plain lines of a
    log, which have no event name, are none of its business, but for those that a dialect reads. It never
    raises into the program, and has nothing of its own to flush or to shut down later than the spans:
    shut the LoggerProvider down first.
    """

    def __init__(self, spans: Intake | None = None) -> None:
        """Take the AtifSpanProcessor or AtifSpanExporter that has the spans, None for the process's."""
        self._spans = spans

    @property
    def spans(self) -> Intake | None:
        """Return what has the spans, None where nothing does yet."""
        return self._spans if self._spans is not None else doors.first(Intake)

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        """Take the record's values: a later processor may change them."""
        intake = self.spans
        if intake is not None:
            take(intake, log_record)

    def enabled(
        self,
        *,
        context: Context | None = None,  # noqa: ARG002 - the SDK's signature
        instrumentation_scope: InstrumentationScope | None = None,
        **_: object,
    ) -> bool:
        """Return False for what we would emit ourselves: the side door brings that whole."""
        return not _is_ours(instrumentation_scope)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what is finished now; return whether all of it was written in time."""
        intake = self.spans
        return intake is None or intake.flush(timeout_millis)

    def shutdown(self) -> None:
        """Do nothing: who has the spans is shut down with their provider."""


class AtifLogExporter(LogRecordExporter):
    """Fold what exported log records say into the trajectories of the traces that they name.

    They go to the process's AtifSpanProcessor or AtifSpanExporter. Where there is none, as in a program
    that tells of its agent in log records alone, this writes documents itself: to the folder and by the
    settings that it was given, or those of the environment. It never raises.
    """

    def __init__(self, directory: str | Path | None = None, **settings: object) -> None:
        """Take the folder and settings by name, for when nothing else has the spans.

        Raises TypeError for a setting that there is not or that cannot be read.
        """
        settings_of(directory, settings)
        self._given = (directory, settings)
        self._lock = threading.Lock()
        self._own: Intake | None = None
        self._shut = False

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Take log records; FAILURE after the shutdown or where one could not be taken."""
        events = [readable for readable in batch if _tells(readable)]
        if self._shut:
            return LogRecordExportResult.FAILURE
        if not events:
            return LogRecordExportResult.SUCCESS
        intake = self._intake()
        taken = [take(intake, readable) for readable in events]
        return LogRecordExportResult.SUCCESS if all(taken) else LogRecordExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what is finished now; return whether all of it was written in time."""
        intake = doors.first(Intake, but=self._own) or self._own
        return intake is None or intake.flush(timeout_millis)

    def shutdown(self) -> None:
        """Stop; write everything where nothing else did."""
        self._shut = True
        if self._own is not None:
            self._own.close()

    def _intake(self) -> Intake:
        found = doors.first(Intake, but=self._own)
        if found is not None:
            return found
        with self._lock:
            if self._own is None:
                directory, settings = self._given
                self._own = Intake(directory, redact=None, **settings)
            return self._own


def _tells(readable: ReadableLogRecord | ReadWriteLogRecord) -> bool:
    return bool(event_name_of(readable)) or tells(readable.log_record.body)


def take(intake: Intake, readable: ReadableLogRecord | ReadWriteLogRecord) -> bool:
    """Hand a log record on; return whether it could be taken.

    A plain line is left out, and so is what we emitted ourselves: the side door brings that whole.
    """
    try:
        if _tells(readable) and not _is_ours(readable.instrumentation_scope):
            flags = readable.log_record.trace_flags
            intake.logged(record_of(readable), sampled=flags is None or bool(flags & _SAMPLED))
    except Exception as error:  # noqa: BLE001 - guards the user's program and the records beside it
        _log.warning("a log record could not be taken: %s", type(error).__name__)
        return False
    return True


def _is_ours(scope: InstrumentationScope | None) -> bool:
    return scope is not None and scope.name == semconv.SCOPE
