"""Write spans that an SDK exports to a file of OTLP JSON Lines."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold import otlp
from atifold.errors import OutputError
from atifold.readable import span_of


class SpanFile(SpanExporter):
    """An exporter that writes one OTLP/JSON request a line; the file is replaced, not added to."""

    def __init__(self, path: str | Path) -> None:
        """Open the file for writing; raises OutputError where that cannot be."""
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] | None = self.path.open("wb")
        except OSError as error:
            raise OutputError(self.path, error.strerror or str(error)) from error

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write the spans as one line."""
        data = otlp.encode_lines([span_of(span) for span in spans])
        with self._lock:
            if self._file is None:
                return SpanExportResult.FAILURE
            self._file.write(data)
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002  the SDK's signature
        """Write out what the file object holds."""
        with self._lock:
            if self._file is not None:
                self._file.flush()
        return True
