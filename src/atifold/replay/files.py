"""Write spans that an SDK exports to a file of OTLP JSON Lines."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold import otlp
from atifold.errors import OutputError
from atifold.readable import span_of


class SpanFile(SpanExporter):
    """An exporter that writes one OTLP/JSON request a line; a file is replaced, not added to.

    Nothing raises: `error` is the first reason for which spans are missing, None while all are there. The
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

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write the spans as one line; FAILURE where that or something before it failed."""
        data = otlp.encode_lines([span_of(span) for span in spans])
        with self._lock:
            if self._file is None or self.error is not None:
                return SpanExportResult.FAILURE
            try:
                self._file.write(data)
            except OSError as error:
                self._keep(error)
                return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

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
        """Write out what the file object holds; return whether all spans so far are in the file."""
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


def _opened(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")
