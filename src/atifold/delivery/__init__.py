"""Bring spans and log records to a receiver that takes only so many bytes a request, and only whole characters.

`BatchSpanProcessor` cuts by count, never by bytes: sixty spans with prompts of 100 KB are one request of 6 MB,
which a gRPC receiver at its default (4 MiB) refuses whole. One half of a surrogate pair in a span's name costs
its whole batch too.
"""

from __future__ import annotations

from atifold.delivery.exporters import SplittingLogRecordExporter, SplittingSpanExporter
from atifold.delivery.otlp import OtlpLogRecordExporter, OtlpSpanExporter

__all__ = ["OtlpLogRecordExporter", "OtlpSpanExporter", "SplittingLogRecordExporter", "SplittingSpanExporter"]
