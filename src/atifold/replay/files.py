"""Write what an SDK exports, spans and log events, to files of OTLP JSON Lines."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from atifold import otlp
from atifold.errors import OutputError
from atifold.readable import span_of


class _Lines:
    """A file or stream that one request a line is written to; a file is replaced, not added to.

    Nothing raises: `error` is the first reason for which something is missing, None while all is there. The
    SDK exports on a thread of its own, where an error that is raised is a traceback in the log.
    """

    def __init__(self, target: str | Path | BinaryIO) -> None:
        """Open a file for writing, or take a stream, which stays its owner's to close."""
        self.error: OutputError | None = None
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._is_ours = isinstance(target, (str, Path))
        self._where = str(target) if isinstance(target, (str, Path)) else str(getattr(target, "name", "the stream"))
        try:
            self._file = _opened(Path(target)) if isinstance(target, (str, Path)) else target
        except OSError as error:
            self._keep(error)

    def _write(self, data: bytes) -> bool:
        with self._lock:
            if self._file is None or self.error is not None:
                return False
            try:
                self._file.write(data)
            except OSError as error:
                self._keep(error)
                return False
        return True

    def shutdown(self) -> None:
        """Close the file, or flush the stream; the last bytes may be what does not fit any more."""
        with self._lock:
            file, self._file = self._file, None
            try:
                if file is not None and self._is_ours:
                    file.close()
                elif file is not None:
                    file.flush()
            except OSError as error:
                self._keep(error)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002  the SDK's signature
        """Write out what the file object holds; return whether all so far is in the file."""
        with self._lock:
            try:
                if self._file is not None:
                    self._file.flush()
            except OSError as error:
                self._keep(error)
            return self.error is None

    def _keep(self, error: OSError) -> None:
        if self.error is None:
            self.error = OutputError(self._where, error.strerror or str(error))
            self.error.__cause__ = error


class SpanFile(_Lines, SpanExporter):
    """An exporter of spans to a file."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write the spans as one line; FAILURE where that or something before it failed."""
        done = self._write(otlp.encode_lines([span_of(span) for span in spans]))
        return SpanExportResult.SUCCESS if done else SpanExportResult.FAILURE


class LogFile(_Lines, LogRecordExporter):
    """An exporter of log events to a file."""

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Write the log events as one line; FAILURE where that or something before it failed."""
        done = self._write(otlp.encode_log_lines([_event_of(record) for record in batch]))
        return LogRecordExportResult.SUCCESS if done else LogRecordExportResult.FAILURE


def _event_of(readable: ReadableLogRecord) -> otlp.LogEvent:
    record, scope = readable.log_record, readable.instrumentation_scope
    severity = record.severity_number
    return otlp.LogEvent(
        name=record.event_name or "",
        time_ns=record.timestamp or 0,
        observed_ns=record.observed_timestamp or 0,
        severity=0 if severity is None else severity.value,
        trace_id=f"{record.trace_id:032x}" if record.trace_id else None,
        span_id=f"{record.span_id:016x}" if record.span_id else None,
        flags=int(record.trace_flags or 0),
        attributes=dict(record.attributes or {}),
        dropped_attributes=readable.dropped_attributes,
        resource=dict(readable.resource.attributes),
        scope=_NO_SCOPE if scope is None else _scope_of(scope),
    )


_NO_SCOPE: Final = otlp.Scope("", "", "", {})


def _scope_of(scope: InstrumentationScope) -> otlp.Scope:
    return otlp.Scope(scope.name, scope.version or "", scope.schema_url or "", dict(scope.attributes or {}))


def _opened(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")
