"""Wrap an OTLP exporter, so that a batch never is more than its receiver takes."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold.delivery.limits import max_bytes_of
from atifold.delivery.parts import RECORDS, SPANS, Framed
from atifold.delivery.splitting import Splitter


class _Exporter(Protocol):
    def shutdown(self) -> None: ...


E = TypeVar("E", bound=_Exporter)
T = TypeVar("T", bound=Framed)


class _Wrapper(Generic[E, T]):
    """What both signals share: the exporter within, its end, and the counts."""

    _inner: E
    _splitter: Splitter[T]

    @property
    def counts(self) -> Counter[str]:
        """Return what happened so far: batches `split`; things `mended`, `too_large` and `refused`."""
        return self._splitter.counts

    @property
    def max_bytes(self) -> int:
        """Return the bytes that one request may have."""
        return self._splitter.max_bytes

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Pass a flush on."""
        flush = getattr(self._inner, "force_flush", None)
        return True if flush is None else bool(flush(timeout_millis))

    def shutdown(self, timeout_millis: float = 30_000) -> None:
        """Pass the shutdown on; parts that still wait are not sent."""
        self._splitter.stop()
        shutdown = self._inner.shutdown
        if "timeout_millis" in inspect.signature(shutdown).parameters:
            shutdown(timeout_millis=timeout_millis)  # type: ignore[call-arg]  # as the SDK asks too
        else:
            shutdown()


class SplittingSpanExporter(_Wrapper[SpanExporter, ReadableSpan], SpanExporter):
    """Export spans through another exporter, in requests below the limit of the receiver.

    `provider.add_span_processor(BatchSpanProcessor(SplittingSpanExporter(OTLPSpanExporter())))`. A span that
    passes no request is named in one log line and counted, those beside it arrive; halves of surrogate
    pairs become U+FFFD instead of costing the batch. It never raises.
    """

    def __init__(self, exporter: SpanExporter, *, max_bytes: int | None = None) -> None:
        """Take the exporter and the bytes of a request (None: the environment's, else by its protocol)."""
        self._inner = exporter
        self._splitter = Splitter(SPANS, self._send, max_bytes_of(exporter, max_bytes))

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send the spans; FAILURE where one was lost."""
        return SpanExportResult.FAILURE if self._splitter.deliver(spans).lost else SpanExportResult.SUCCESS

    def _send(self, spans: Sequence[ReadableSpan]) -> bool:
        return self._inner.export(spans) is SpanExportResult.SUCCESS


class SplittingLogRecordExporter(_Wrapper[LogRecordExporter, ReadableLogRecord], LogRecordExporter):
    """Export log records through another exporter, as `SplittingSpanExporter` does spans."""

    def __init__(self, exporter: LogRecordExporter, *, max_bytes: int | None = None) -> None:
        """Take the exporter and the bytes of a request (None: the environment's, else by its protocol)."""
        self._inner = exporter
        self._splitter = Splitter(RECORDS, self._send, max_bytes_of(exporter, max_bytes))

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Send the log records; FAILURE where one was lost."""
        return LogRecordExportResult.FAILURE if self._splitter.deliver(batch).lost else LogRecordExportResult.SUCCESS

    def _send(self, batch: Sequence[ReadableLogRecord]) -> bool:
        return self._inner.export(batch) is LogRecordExportResult.SUCCESS
