"""Take the SDK's finished items apart, so that the rules need no SDK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from opentelemetry.sdk.metrics.export import (
    ExponentialHistogram,
    Histogram,
    InMemoryMetricReader,
    Metric,
    MetricsData,
    Sum,
)
from opentelemetry.sdk.trace import ReadableSpan

from atifold.readable import span_of
from atifold.spans import Span
from atifold.testing.log_checks import Logged
from atifold.testing.metric_checks import Measured, Point


def span_from(span: ReadableSpan | Span) -> Span:
    """Return the neutral record of a span."""
    return span if isinstance(span, Span) else span_of(span)


def metrics_from(metrics: MetricsData | InMemoryMetricReader | None) -> Iterator[Measured]:
    """Yield each metric of what was collected; a reader is asked to collect first. None has none."""
    data = metrics.get_metrics_data() if isinstance(metrics, InMemoryMetricReader) else metrics
    for resource in data.resource_metrics if data is not None else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                yield Measured(metric.name, metric.unit or "", _instrument(metric), tuple(_points(metric)))


def _instrument(metric: Metric) -> Literal["counter", "updowncounter", "gauge", "histogram"]:
    data = metric.data
    if isinstance(data, Sum):
        return "counter" if data.is_monotonic else "updowncounter"
    return "histogram" if isinstance(data, (Histogram, ExponentialHistogram)) else "gauge"


def _points(metric: Metric) -> Iterator[Point]:
    for point in metric.data.data_points:
        bounds = getattr(point, "explicit_bounds", None)  # exponential histograms and sums have none
        yield Point(dict(point.attributes or {}), None if bounds is None else tuple(bounds))


def log_from(record: Any) -> Logged:
    """Return what counts of a log record: the API's own, or the SDK's with a resource around it."""
    inner = getattr(record, "log_record", record)
    severity = getattr(inner, "severity_number", None)
    return Logged(
        name=getattr(inner, "event_name", None) or "",
        severity=0 if severity is None else int(severity.value),
        body=inner.body,
        attributes=dict(inner.attributes or {}),
        # the fields, not the context: the SDK's batch processor empties that
        in_span=bool(inner.trace_id) and bool(inner.span_id),
    )
