"""Play events with a real MeterProvider and read its metrics: tools of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider, TraceBasedExemplarFilter
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, Metric
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from story import Story, play

from atifold.emit.metrics import Metrics

Point = tuple[dict[str, Any], Any]


class Meters:
    """A provider whose metrics can be read."""

    def __init__(self) -> None:
        """Make a provider that keeps exemplars of sampled spans."""
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader], exemplar_filter=TraceBasedExemplarFilter(), shutdown_on_exit=False)

    def scopes(self) -> dict[str, InstrumentationScope]:
        """Return the scope of each metric, by the metric's name."""
        return {metric.name: scope for scope, metric in self._all()}

    def metrics(self) -> dict[str, Metric]:
        """Return what was recorded, by the metric's name."""
        return {metric.name: metric for _, metric in self._all()}

    def points(self, name: str) -> list[Point]:
        """Return a metric's attributes and sums; a metric that nothing was recorded of has none."""
        metric = self.metrics().get(name)
        found = [] if metric is None else metric.data.data_points
        return [(dict(point.attributes or {}), _figure(point)) for point in found]

    def counts(self, name: str) -> int:
        """Return how many measurements a histogram has."""
        metric = self.metrics().get(name)
        return 0 if metric is None else sum(point.count for point in metric.data.data_points)

    def _all(self) -> list[tuple[InstrumentationScope, Metric]]:
        data = self.reader.get_metrics_data()
        resources = [] if data is None else data.resource_metrics
        scopes = [scope for resource in resources for scope in resource.scope_metrics]
        return [(scope.scope, metric) for scope in scopes for metric in scope.metrics]


def _figure(point: Any) -> Any:
    return point.sum if hasattr(point, "sum") else point.value


def measured(story: Story, *, emitter: Mapping[str, Any] | None = None, **metrics: Any) -> Meters:
    """Play a story with metrics of these settings and return what was measured."""
    meters = Meters()
    play(story, observers=(Metrics(meters.provider, **metrics),), **(emitter or {}))
    return meters


def asks(story: Story, number: int = 1, *, tools: list[str] | None = None, **more: Any) -> Story:
    """Start an inference that offers tools."""
    payload: dict[str, Any] = {"iteration": number, "provider": "openai", "model": "m-1", **more}
    if tools is not None:
        payload["tools"] = [{"name": name} for name in tools]
    return story.tell("stream.llm_start", payload, stage=f"call-llm#{number}")
