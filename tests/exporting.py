"""Serialise what a harness got as an exporter would, to search it byte by byte."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from atifold.testing import Harness


def span_bytes(harness: Harness) -> bytes:
    """Return the exported spans with their resource as OTLP protobuf."""
    return encode_spans(harness.spans).SerializeToString()


def log_bytes(harness: Harness) -> bytes:
    """Return the exported log records with their resource as OTLP protobuf."""
    return encode_logs(harness.logs).SerializeToString()


def metric_bytes(harness: Harness) -> bytes:
    """Return the metrics with their resource as OTLP protobuf, nothing where none were measured."""
    measured = harness.metrics()
    return b"" if measured is None else encode_metrics(measured).SerializeToString()
