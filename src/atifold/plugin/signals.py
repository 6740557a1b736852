"""Make the emitter that writes a bus's events to the three signals of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

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

    `logs` False: no log events.
    """

    metrics: Metrics | None
    logger_provider: LoggerProvider | None
    redact: Redact | None
    logs: bool = True


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
        spelling=spelling(settings.attributes, settings.cost_names),
    )
