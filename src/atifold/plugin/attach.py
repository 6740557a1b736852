"""Attach to a TracerProvider in one call: trajectories of its spans, and spans of a bus's events."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from atifold import __version__, process, semconv
from atifold.plugin import doors
from atifold.plugin.exporter import AtifSpanExporter
from atifold.plugin.forerunner import Forerunner
from atifold.plugin.intake import settings_of
from atifold.plugin.pipeline import Doors, put_in_front
from atifold.plugin.processor import AtifSpanProcessor
from atifold.plugin.shared import shared_bus
from atifold.settings import Settings
from atifold.spans import SideDoor

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider

    from atifold.bus import EventBus
    from atifold.emit import Emitter

_log = logging.getLogger("atifold")
_lock = threading.RLock()


class _Attachment:
    """What was done to one provider: who goes before its processors, its doors, and the buses it hears."""

    def __init__(self, provider: TracerProvider) -> None:
        self.doors = Doors(provider)
        self.forerunner = Forerunner()
        self.buses: weakref.WeakSet[EventBus] = weakref.WeakSet()
        put_in_front(provider, self.forerunner)


_attachments: weakref.WeakKeyDictionary[TracerProvider, _Attachment] = weakref.WeakKeyDictionary()


def instrument(
    tracer_provider: trace.TracerProvider | None = None,
    *,
    directory: str | Path | None = None,
    bus: EventBus | None = None,
    processor: bool = True,
    logger_provider: LoggerProvider | None = None,
    **settings: object,
) -> EventBus:
    """Attach atifold to a provider (None: the global one) and return the bus to emit events on.

    Adds an AtifSpanProcessor that writes to `directory`, unless `processor` is False or the provider
    feeds one or an AtifSpanExporter already, and makes spans of the events of `bus` (None: the shared
    one). Where no provider was set up at all, an SDK TracerProvider is made and set as the global one,
    with a warning. A second call for the same provider and bus changes nothing.

    Log events go to `logger_provider` (None: the global one, also one that is set later); where there is
    no LoggerProvider of the SDK there are none.

    The provider's shutdown ends what is open and lets go of the bus. Where a bus is attached to two
    living providers, both get spans of all its events; what runs inside a block (a span of HTTP, say)
    hangs under the span of the provider that was attached first.

    Raises TypeError for a setting that there is not or that cannot be read, and for a provider that is
    not the SDK's.
    """
    return attach(
        tracer_provider,
        directory=directory,
        bus=bus,
        processor=processor,
        logger_provider=logger_provider,
        **settings,
    ).bus


class Attached(NamedTuple):
    """The bus whose events become spans, and the way to stop that; the provider keeps its processors."""

    bus: EventBus
    release: Callable[[], None]


def attach(
    tracer_provider: trace.TracerProvider | None = None,
    *,
    directory: str | Path | None = None,
    bus: EventBus | None = None,
    processor: bool = True,
    logger_provider: LoggerProvider | None = None,
    **settings: object,
) -> Attached:
    """Do what `instrument` says, and return the way back too; where all was done before, that does nothing."""
    chosen = settings_of(directory, settings)
    provider = _sdk_provider(tracer_provider)
    if bus is None:
        bus = shared_bus()
    with _lock:
        attachment = _attachments.get(provider)
        if attachment is None:
            attachment = _attachments[provider] = _Attachment(provider)
        if processor and not attachment.doors():
            ours = AtifSpanProcessor(directory, **settings)
            attachment.doors.known = (ours,)
            provider.add_span_processor(ours)
        if bus in attachment.buses:
            return Attached(bus, lambda: None)
        attachment.buses.add(bus)
        return Attached(bus, _connect(provider, bus, attachment, chosen, logger_provider))


def _connect(
    provider: TracerProvider,
    bus: EventBus,
    attachment: _Attachment,
    settings: Settings,
    logger_provider: LoggerProvider | None,
) -> Callable[[], None]:
    """Have the events of a bus become spans of a provider; return the way to stop."""
    found = attachment.doors
    undo: list[Callable[[], object]] = []
    # An exit handler that is registered after that of a provider runs before it: what is open still
    # reaches every processor. A LoggerProvider may be there only later.
    emitter = _emitter(
        provider,
        settings,
        _side_doors(found, bus),
        logger_provider,
        lambda: undo.append(process.before_exit(emitter.flush)),
    )
    undo += [emitter.attach(bus), process.before_exit(emitter.flush), *(door.feed_from(emitter) for door in found())]
    process.watch_forks(emitter)

    def release() -> None:
        with _lock:
            if undo:
                attachment.buses.discard(bus)
            attachment.forerunner.leave(emitter)
        while undo:
            undo.pop()()

    attachment.forerunner.go_before(emitter, release)
    return release


def _emitter(
    provider: TracerProvider,
    settings: Settings,
    side_doors: Callable[[], Sequence[SideDoor]],
    logger_provider: LoggerProvider | None,
    logger_found: Callable[[], object],
) -> Emitter:
    from atifold.emit import Emitter  # noqa: PLC0415 - the events' half is loaded by who emits
    from atifold.emit.logs import EventLog  # noqa: PLC0415 - the same

    return Emitter(
        provider.get_tracer(semconv.SCOPE, __version__, semconv.SCHEMA_URL, semconv.SCOPE_ATTRIBUTES),
        side_doors=side_doors,
        capture_content=settings.capture_content.on_spans,
        session_id=settings.session_id,
        log=EventLog(
            logger_provider,
            events=settings.events,
            content=settings.capture_content.on_events,
            unsampled=settings.log_unsampled,
            found=logger_found,
        ),
    )


def _side_doors(found: Doors, bus: EventBus) -> Callable[[], Sequence[SideDoor]]:
    if bus is not shared_bus():
        return found
    # an exporter that the SDK makes later, in another provider or by configuration, is found there
    return lambda: found() or doors.doors()


def _sdk_provider(given: trace.TracerProvider | None) -> TracerProvider:
    found = trace.get_tracer_provider() if given is None else given
    if isinstance(found, TracerProvider):
        return found
    if given is None and isinstance(found, trace.ProxyTracerProvider):
        _log.warning(
            "atifold: no TracerProvider was set up, so one of the SDK is set as the global one, and a later "
            "set_tracer_provider will be refused; call instrument after it, or pass it your provider"
        )
        made = TracerProvider()
        trace.set_tracer_provider(made)
        return made
    raise TypeError(f"an SDK TracerProvider is wanted to attach to, {type(found).__name__} was found")


def process_exporter() -> AtifSpanExporter | None:
    """Return an AtifSpanExporter that is alive in the process, None where there is none."""
    return next((door for door in doors.doors() if isinstance(door, AtifSpanExporter)), None)
