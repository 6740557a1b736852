"""Be the OTLP exporters that `OTEL_TRACES_EXPORTER=atif_otlp` and `OTEL_LOGS_EXPORTER=atif_otlp` load.

The exporter within speaks what OTEL_EXPORTER_OTLP_PROTOCOL (or the variable of the signal) says, and takes
everything else from the environment, as the SDK's own do.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold.delivery.exporters import SplittingLogRecordExporter, SplittingSpanExporter
from atifold.delivery.limits import max_bytes_over
from atifold.delivery.per_process import PerProcess

_log = logging.getLogger("atifold")

_DEFAULT: Final = "http/protobuf"
_HOMES: Final = {"grpc": "opentelemetry.exporter.otlp.proto.grpc", _DEFAULT: "opentelemetry.exporter.otlp.proto.http"}


class _Signal(NamedTuple):
    """Where the SDK has its exporter of a signal, and the variable that names its protocol."""

    module: str
    exporter: str
    variable: str


_TRACES: Final = _Signal("trace_exporter", "OTLPSpanExporter", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
_LOGS: Final = _Signal("_log_exporter", "OTLPLogExporter", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL")


class OtlpSpanExporter(SplittingSpanExporter):
    """Export spans over OTLP, in requests that the receiver takes.

    A declarative configuration gives `protocol`, `max_bytes` and the arguments of the SDK's exporter
    (`endpoint`, `headers`, `timeout`) as keyword arguments.
    """

    def __init__(self, *, protocol: str | None = None, max_bytes: int | None = None, **options: Any) -> None:
        """Take the protocol (None: the environment's), the bytes of a request and options of the exporter."""
        spoken = _protocol(_TRACES, protocol)
        made = _Spans(lambda: _made(_TRACES, spoken, options))
        super().__init__(made, max_bytes=max_bytes_over(spoken, max_bytes))


class OtlpLogRecordExporter(SplittingLogRecordExporter):
    """Export log records over OTLP, as `OtlpSpanExporter` does spans."""

    def __init__(self, *, protocol: str | None = None, max_bytes: int | None = None, **options: Any) -> None:
        """Take the protocol (None: the environment's), the bytes of a request and options of the exporter."""
        spoken = _protocol(_LOGS, protocol)
        made = _Records(lambda: _made(_LOGS, spoken, options))
        super().__init__(made, max_bytes=max_bytes_over(spoken, max_bytes))


class _Spans(PerProcess[SpanExporter], SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self.own().export(spans)


class _Records(PerProcess[LogRecordExporter], LogRecordExporter):
    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        return self.own().export(batch)


def _protocol(signal: _Signal, given: str | None) -> str:
    """Return the protocol to speak; raises ValueError where code gave one that is not spoken."""
    if given is not None:
        if given not in _HOMES:
            raise ValueError(f"protocol: {given!r} was found, {' or '.join(_HOMES)} was wanted")
        return given
    for variable in (signal.variable, "OTEL_EXPORTER_OTLP_PROTOCOL"):
        asked = os.environ.get(variable, "").strip()
        if asked in _HOMES:
            return asked
        if asked:
            _log.warning("%s: %r was found, %s was wanted", variable, asked, " or ".join(_HOMES))
    return _DEFAULT


def _made(signal: _Signal, protocol: str, options: dict[str, Any]) -> Any:
    """Return an exporter of the SDK; only the protocol that is spoken is loaded."""
    return getattr(import_module(f"{_HOMES[protocol]}.{signal.module}"), signal.exporter)(**options)
