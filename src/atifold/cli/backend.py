"""Send spans and log events to an OTLP backend, and know in the end whether it took them."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold.cli.troubles import Troubles
from atifold.delivery.limits import max_bytes_of
from atifold.delivery.parts import RECORDS, SPANS
from atifold.delivery.splitting import Outcome, Splitter
from atifold.errors import OutputError

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk._logs.export import LogRecordExporter
    from opentelemetry.sdk.trace import ReadableSpan
    from typing_extensions import Self

BATCH = 512
"""Spans or log events in one request, as in the SDK's batch processors."""

_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_LOGGER = "opentelemetry.exporter"
_PATHS = {"traces": "/v1/traces", "logs": "/v1/logs"}
_NO_LOGS = re.compile(r"(?<![\w:.])40[45]\b|UNIMPLEMENTED")
"""What a backend that takes spans alone answers to log events, over HTTP and over gRPC; no port of a URL."""

T = TypeVar("T")


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

            return OTLPSpanExporter(endpoint=_endpoint(url, "traces"))
        case "grpc":
            from opentelemetry.exporter.otlp.proto.grpc import trace_exporter

            return trace_exporter.OTLPSpanExporter(endpoint=url, insecure=url.startswith("http://"))
        case other:
            raise _not_spoken(url, other)


def log_exporter_to(url: str) -> LogRecordExporter:
    """Return the SDK's exporter of log events to a base URL, by the protocol that spans are sent with."""
    match protocol():
        case "http/protobuf":
            from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

            return OTLPLogExporter(endpoint=_endpoint(url, "logs"))
        case "grpc":
            from opentelemetry.exporter.otlp.proto.grpc import _log_exporter

            return _log_exporter.OTLPLogExporter(endpoint=url, insecure=url.startswith("http://"))
        case other:
            raise _not_spoken(url, other)


def _not_spoken(url: str, asked: str) -> OutputError:
    return OutputError(url, f"the protocol {asked!r} was asked for, http/protobuf or grpc was wanted")


def _endpoint(url: str, signal: str) -> str:
    """Return the URL of a signal, of a base URL or of the one of the traces."""
    return url.rstrip("/").removesuffix(_PATHS["traces"]) + _PATHS[signal]


class Sender(Generic[T]):
    """Hand things on in batches, and stop at the first request that is refused.

    A batch is cut into requests that the backend takes; what no request can hold is lost by itself.

    The SDK's exporters write their troubles to the log; here they are kept, so that the user sees
    one line in the end (`error`) and not one per try. Use as a context manager.
    """

    noun = ""

    def __init__(self, url: str, send: Callable[[list[T]], Outcome], close: Callable[[], object]) -> None:
        """Take the base URL, what sends a batch and tells what was lost, and what ends the connection."""
        self.url = url
        self.sent = 0
        self.lost = 0
        self.refused = False
        self._give = send
        self._too_large = ""
        self._close = close
        self._waiting: list[T] = []
        self._troubles = Troubles()
        self._closed = False

    def __enter__(self) -> Self:
        """Take the exporter's log lines over."""
        logger = logging.getLogger(_LOGGER)
        logger.addHandler(self._troubles)
        self._propagated, logger.propagate = logger.propagate, False
        # Their filters let a line through once in twenty seconds; here every one may be the reason.
        self._filters = [(each, each.filters) for each in _loggers()]
        for each, _ in self._filters:
            each.filters = []
        return self

    def __exit__(self, *_: object) -> None:
        """Send what waits and give the log back."""
        self.shutdown()
        logger = logging.getLogger(_LOGGER)
        logger.removeHandler(self._troubles)
        logger.propagate = self._propagated
        for each, filters in self._filters:
            each.filters = filters

    @property
    def reason(self) -> str:
        """Return the last trouble, empty where there was none."""
        return self._troubles.last or self._too_large

    @property
    def error(self) -> OutputError | None:
        """Return why something was lost, None when all was taken."""
        if not self.lost:
            return None
        lost = f"1 {self.noun} was" if self.lost == 1 else f"{self.lost:,} {self.noun}s were"
        return OutputError(self.url, f"{lost} not taken ({self.reason or 'no reason given'})")

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
            self._close()

    def _take(self, things: Sequence[T]) -> bool:
        """Keep things until a batch is full; return whether all was taken so far."""
        self._waiting += things
        while len(self._waiting) >= BATCH:
            self._send(self._waiting[:BATCH])
            del self._waiting[:BATCH]
        return not self.lost

    def _send(self, things: list[T]) -> None:
        outcome = Outcome(refused=len(things)) if self.refused else self._give(things)
        self.refused = outcome.refused > 0
        self.sent += len(things) - outcome.lost
        self.lost += outcome.lost
        for large in outcome.too_large:
            self._too_large = f"{large.name} is {large.size:,} bytes, more than a request takes"


class Backend(Sender["ReadableSpan"], SpanExporter):
    """An exporter of spans."""

    noun = "span"

    def __init__(self, url: str) -> None:
        """Take the base URL; raises OutputError where it names no protocol that we speak."""
        exporter = exporter_to(url)

        def send(spans: Sequence[ReadableSpan]) -> bool:
            return exporter.export(spans) is SpanExportResult.SUCCESS

        splitter = Splitter(SPANS, send, max_bytes_of(exporter), persistent=False)
        super().__init__(url, splitter.deliver, exporter.shutdown)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep the spans until a batch is full."""
        return SpanExportResult.SUCCESS if self._take(spans) else SpanExportResult.FAILURE


class LogBackend(Sender["ReadableLogRecord"]):
    """Log events, sent when the spans have arrived."""

    noun = "log event"

    def __init__(self, url: str) -> None:
        """Take the base URL; raises OutputError where it names no protocol that we speak."""
        exporter = log_exporter_to(url)

        def send(events: Sequence[ReadableLogRecord]) -> bool:
            return _is_success(exporter.export(events))

        splitter = Splitter(RECORDS, send, max_bytes_of(exporter), persistent=False)
        super().__init__(url, splitter.deliver, exporter.shutdown)

    def send(self, events: Sequence[ReadableLogRecord]) -> None:
        """Send all of them, in batches."""
        self._take(events)
        self.force_flush()

    @property
    def is_without_logs(self) -> bool:
        """Tell whether the backend refused because it takes no log events at all."""
        return bool(self.lost) and not self.sent and _NO_LOGS.search(self.reason) is not None


def _loggers() -> list[logging.Logger]:
    """Return the loggers of the SDK's exporters."""
    known = list(logging.root.manager.loggerDict.items())
    return [logger for name, logger in known if name.startswith(_LOGGER) and isinstance(logger, logging.Logger)]


def _is_success(result: object) -> bool:
    return getattr(result, "name", "") == "SUCCESS"
