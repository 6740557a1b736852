"""Spans and log records of the SDK for the tests of their delivery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import Link, Status, StatusCode


class Maker:
    """Make finished spans and log records."""

    def __init__(self) -> None:
        """Start providers of one resource."""
        self._resource = Resource({"service.name": "shop"})
        self._provider = TracerProvider(resource=self._resource, shutdown_on_exit=False)

    def span(
        self,
        name: str = "chat",
        attributes: Mapping[str, Any] | None = None,
        *,
        events: Sequence[tuple[str, Mapping[str, Any]]] = (),
        links: Sequence[Link] = (),
        status: str | None = None,
        scope: str = "t",
    ) -> ReadableSpan:
        """Return a span that has ended."""
        span = self._provider.get_tracer(scope).start_span(name, attributes=attributes, links=links)
        for event, told in events:
            span.add_event(event, told)
        if status is not None:
            span.set_status(Status(StatusCode.ERROR, status))
        span.end()
        assert isinstance(span, ReadableSpan)
        return span

    def record(
        self, body: Any = None, attributes: Mapping[str, Any] | None = None, name: str = "e"
    ) -> ReadableLogRecord:
        """Return a log record that was emitted."""
        memory = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        provider = LoggerProvider(resource=self._resource, shutdown_on_exit=False)
        provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
        provider.get_logger("t").emit(event_name=name, body=body, attributes=attributes)
        return memory.get_finished_logs()[0]


@pytest.fixture(scope="session")
def make() -> Maker:
    """Return a maker of spans and log records."""
    return Maker()
