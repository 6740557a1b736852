"""Send spans to an OTLP backend, and know in the end whether it took them."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold.errors import OutputError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from typing_extensions import Self

BATCH = 512
"""Spans in one request, as in the SDK's batch processor."""

_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_LOGGER = "opentelemetry.exporter"
_LONGEST = 200


def fault_of(url: str) -> str | None:
    """Return what is wrong with a base URL, None where nothing is."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "http://HOST:PORT or https://HOST:PORT was wanted"
    return None


def protocol() -> str:
    """Return the protocol that the environment asks for, `http/protobuf` where it says nothing."""
    return next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), "http/protobuf")


def exporter_to(url: str) -> SpanExporter:
    """Return the SDK's exporter to a base URL; raises OutputError for a protocol it does not speak."""
    match protocol():
        case "http/protobuf":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            base = url.rstrip("/")
            return OTLPSpanExporter(endpoint=base if base.endswith("/v1/traces") else f"{base}/v1/traces")
        case "grpc":
            from opentelemetry.exporter.otlp.proto.grpc import trace_exporter

            return trace_exporter.OTLPSpanExporter(endpoint=url, insecure=url.startswith("http://"))
        case other:
            raise OutputError(url, f"the protocol {other!r} was asked for, http/protobuf or grpc was wanted")


class Backend(SpanExporter):
    """Hand spans on in batches, and stop at the first batch that is refused.

    The SDK's exporters write their troubles to the log; here they are kept, so that the user sees
    one line in the end (`error`) and not one per try. Use as a context manager.
    """

    def __init__(self, url: str) -> None:
        """Take the base URL; raises OutputError where it names no protocol that we speak."""
        self.url = url
        self.sent = 0
        self.lost = 0
        self._exporter = exporter_to(url)
        self._waiting: list[ReadableSpan] = []
        self._troubles = _Troubles()
        self._closed = False

    def __enter__(self) -> Self:
        """Take the exporter's log lines over."""
        logger = logging.getLogger(_LOGGER)
        logger.addHandler(self._troubles)
        self._propagated, logger.propagate = logger.propagate, False
        return self

    def __exit__(self, *_: object) -> None:
        """Send what waits and give the log back."""
        self.shutdown()
        logger = logging.getLogger(_LOGGER)
        logger.removeHandler(self._troubles)
        logger.propagate = self._propagated

    @property
    def error(self) -> OutputError | None:
        """Return why spans were lost, None when all were taken."""
        if not self.lost:
            return None
        spans = "1 span was" if self.lost == 1 else f"{self.lost:,} spans were"
        return OutputError(self.url, f"{spans} not taken ({self._troubles.last or 'no reason given'})")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep the spans until a batch is full."""
        self._waiting += spans
        while len(self._waiting) >= BATCH:
            self._send(self._waiting[:BATCH])
            del self._waiting[:BATCH]
        return SpanExportResult.FAILURE if self.lost else SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - the SDK's signature
        """Send what waits."""
        if self._waiting:
            self._send(self._waiting)
            self._waiting = []
        return not self.lost

    def shutdown(self) -> None:
        """Send what waits and close the connection; a second call does nothing."""
        self.force_flush()
        if not self._closed:
            self._closed = True
            self._exporter.shutdown()

    def _send(self, spans: list[ReadableSpan]) -> None:
        if not self.lost and self._exporter.export(spans) is SpanExportResult.SUCCESS:
            self.sent += len(spans)
        else:
            self.lost += len(spans)


class _Troubles(logging.Handler):
    """Keep the last line that was logged, on one line and not too long."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().split())
        self.last = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
