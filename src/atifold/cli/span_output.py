"""Write spans to a file, and know in the end whether they are there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold.errors import OutputError
from atifold.replay import SpanFile


class SpanOutput(SpanExporter):
    """A file of OTLP JSON Lines that keeps its first error instead of raising it.

    The SDK exports on a thread of its own and would log an error that is raised there, with a
    traceback; here it is kept for the one line that the user gets.
    """

    def __init__(self, path: str | Path) -> None:
        """Open the file; where that fails the error is kept, and spans are let go."""
        self.path = Path(path)
        self.error: OutputError | None = None
        self._file: SpanFile | None = None
        try:
            self._file = SpanFile(path)
        except OutputError as error:
            self.error = error

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write the spans as one line."""
        if self._file is None or self.error is not None:
            return SpanExportResult.FAILURE
        try:
            return self._file.export(spans)
        except OSError as error:
            self._keep(error)
            return SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write out what the file object holds."""
        try:
            return self._file is not None and self._file.force_flush(timeout_millis)
        except OSError as error:
            self._keep(error)
            return False

    def shutdown(self) -> None:
        """Close the file; the last bytes may be what does not fit any more."""
        try:
            if self._file is not None:
                self._file.shutdown()
        except OSError as error:
            self._keep(error)

    def _keep(self, error: OSError) -> None:
        self.error = self.error or OutputError(self.path, error.strerror or str(error))
