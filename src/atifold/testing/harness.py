"""Play an agent's events on in-memory providers, and show what became of them."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricsData
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from typing_extensions import Self

from atifold import dialects, fold
from atifold.bus import EventBus
from atifold.plugin import instrument
from atifold.plugin.listener import Listener
from atifold.readable import span_of
from atifold.redaction import Redact
from atifold.spans import Span, SpanKey


class Harness:
    """A bus, providers of all three signals that keep everything in memory, and what they have got.

    Use it as a context manager and look after the block: its end seals what is still open. Agents
    that emit events do so on `bus`; instrumentation of any other kind takes `tracer_provider`,
    `meter_provider` and `logger_provider`. Nothing global is set, and nothing is written to disk.
    """

    def __init__(self, *, redact: Redact | None = None, **settings: object) -> None:
        """Take a redaction and settings by name, as `atifold.instrument` does: `Harness(capture_content=True)`."""
        self.bus: Final = EventBus()
        self.tracer_provider: Final = TracerProvider(shutdown_on_exit=False)
        self.meter_provider: Final = MeterProvider([reader := InMemoryMetricReader()], shutdown_on_exit=False)
        self.logger_provider: Final = LoggerProvider(shutdown_on_exit=False)
        self._exported = InMemorySpanExporter()
        self._reader = reader
        self._measured: MetricsData | None = None
        self._logged = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # the SDK leaves it so
        self._records = _Records()
        self._open = True
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._exported))
        self.tracer_provider.add_span_processor(self._records)
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self._logged))
        self._attach(settings, redact)

    def _attach(self, settings: dict[str, object], redact: Redact | None) -> None:
        """Have the bus's events become telemetry: the one place that says what is attached to what."""
        instrument(
            self.tracer_provider,
            directory=None,
            bus=self.bus,
            processor=False,
            meter_provider=self.meter_provider,
            logger_provider=self.logger_provider,
            redact=redact,
            **settings,
        )

    def __enter__(self) -> Self:
        """Return the harness itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Seal what is open, and stop listening; what was got stays."""
        self.close()

    def close(self) -> None:
        """Seal what is open, and stop listening; a second call does nothing."""
        if self._open:
            self._open = False
            self.tracer_provider.shutdown()  # the bus's spans end here, and are measured and logged as they do
            self._measured = self._reader.get_metrics_data()
            self.meter_provider.shutdown()
            self.logger_provider.shutdown()

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """Return the spans that were exported so far: what a tracing backend gets."""
        return self._exported.get_finished_spans()

    @property
    def records(self) -> tuple[Span, ...]:
        """Return the whole record of each span so far, content included, as trajectories are made of."""
        return self._records.spans()

    @property
    def logs(self) -> tuple[Any, ...]:
        """Return the log records that were exported so far, in the form that the installed SDK has."""
        return tuple(self._logged.get_finished_logs())

    def metrics(self) -> MetricsData | None:
        """Return what was measured so far, None where nothing was."""
        return self._reader.get_metrics_data() if self._open else self._measured

    def trajectories(self) -> list[dict[str, Any]]:
        """Return the ATIF trajectories that the records fold to."""
        return [document.trajectory for document in fold.fold(dialects.read(self.records)).documents]


class _Records(Listener, SpanProcessor):
    """Keep the whole record of each span: the side door's where there is one, else the SDK's."""

    quiet_at_start: Final = True  # see `atifold.emit.lane`

    def __init__(self) -> None:
        super().__init__()
        self._whole: dict[SpanKey, Span] = {}
        self._told: dict[SpanKey, Span] = {}

    def opened(self, trace_id: str, span_id: str, **_: object) -> None:
        """Leave a start unnoted: its end brings all of it."""

    def closed(self, span: Callable[[], Span], *, sampled: bool = True) -> None:  # noqa: ARG002 - the door's signature
        record = span()
        self._whole.setdefault(record.key, record)

    def on_end(self, span: ReadableSpan) -> None:
        record = span_of(span)
        self._told.setdefault(record.key, record)

    def spans(self) -> tuple[Span, ...]:
        return tuple({**self._told, **self._whole}.values())
