"""Make the emitter that writes a bus's events to the three signals of a program."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.sdk.trace import TracerProvider

from atifold.redaction import Redact
from atifold.settings import Settings
from atifold.spans import SideDoor

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider

    from atifold.emit import Emitter
    from atifold.emit.metrics import Metrics


class Signals(NamedTuple):
    """What leaves beside spans: metrics (None: off), log events (None: to the global provider), and who is asked.

    `meter_provider` is the one that the metrics go to (None: the global one); `logs` False: no log events.
    """

    metrics: Metrics | None
    logger_provider: LoggerProvider | None
    redact: Redact | None
    meter_provider: MeterProvider | None = None
    logs: bool = True


def flushing(
    provider: TracerProvider, logger_provider: LoggerProvider | None, meter_provider: MeterProvider | None
) -> Callable[[], None]:
    """Return what flushes the providers of all three signals (None: the global one); it keeps none of them alive."""
    kept = weakref.ref(provider)
    given = tuple(each if each is None else weakref.ref(each) for each in (logger_provider, meter_provider))

    def flush() -> None:
        from opentelemetry._logs import get_logger_provider  # noqa: PLC0415 - where a process ends
        from opentelemetry.metrics import get_meter_provider  # noqa: PLC0415 - the same

        found: list[Any] = [kept()]
        for each, of_the_process in zip(given, (get_logger_provider, get_meter_provider), strict=True):
            found.append(of_the_process() if each is None else each())
        for each in found:
            force_flush = getattr(each, "force_flush", None)
            if force_flush is not None:
                force_flush()

    return flush


def metrics_of(settings: Settings, provider: MeterProvider | None) -> Metrics | None:
    """Return what records metrics, None where they are off; raises TypeError for a provider that is none."""
    if settings.metrics == "off":
        return None
    from atifold.emit.metrics import Metrics  # noqa: PLC0415 - loaded by who wants metrics

    return Metrics(provider, names=settings.metrics, per_chunk=settings.chunk_metrics)


def emitter_of(
    provider: TracerProvider,
    settings: Settings,
    side_doors: Callable[[], Sequence[SideDoor]],
    signals: Signals,
    logger_found: Callable[[], object],
) -> Emitter:
    """Return an emitter that nothing feeds yet; `logger_found` is called once somebody takes log events."""
    from atifold.emit import Emitter  # noqa: PLC0415 - the events' half is loaded by who emits
    from atifold.emit.log import NO_LOG  # noqa: PLC0415 - the same
    from atifold.emit.logs import EventLog  # noqa: PLC0415 - the same
    from atifold.emit.scope import SCOPE  # noqa: PLC0415 - the same
    from atifold.emit.spellings import spelling  # noqa: PLC0415 - the same

    return Emitter(
        provider.get_tracer(*SCOPE),
        side_doors=side_doors,
        capture_content=settings.capture_content.on_spans,
        session_id=settings.session_id,
        observers=() if signals.metrics is None else (signals.metrics,),
        log=NO_LOG
        if not signals.logs
        else EventLog(
            signals.logger_provider,
            events=settings.events,
            content=settings.capture_content.on_events,
            unsampled=settings.log_unsampled,
            max_value=settings.max_value,
            found=logger_found,
        ),
        redact=signals.redact,
        max_value=settings.max_value,
        time_chunks=settings.chunk_metrics and signals.metrics is not None,
        spelling=spelling(settings.attributes, settings.cost_names, openinference=settings.openinference),
    )
