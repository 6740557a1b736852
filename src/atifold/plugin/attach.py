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

from atifold import process
from atifold.plugin import doors
from atifold.plugin.forerunner import Forerunner
from atifold.plugin.intake import Intake, settings_of
from atifold.plugin.listener import Listener, quietly
from atifold.plugin.log_feed import feed_logs
from atifold.plugin.pipeline import Doors, put_in_front
from atifold.plugin.processor import AtifSpanProcessor
from atifold.plugin.shared import shared_bus
from atifold.plugin.signals import Signals, emitter_of, flushing, metrics_of
from atifold.redaction import Redact, minded
from atifold.settings import Settings
from atifold.spans import SideDoor

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider

    from atifold.bus import EventBus
    from atifold.emit import Emitter

_log = logging.getLogger("atifold")
_lock = threading.RLock()


class _Attachment:
    """What was done to one provider: who goes before its processors, its doors, and the buses it hears."""

    def __init__(self, provider: TracerProvider) -> None:
        self.doors = Doors(provider)
        self.forerunner = Forerunner()
        self.buses: weakref.WeakKeyDictionary[EventBus, Emitter] = weakref.WeakKeyDictionary()
        put_in_front(provider, self.forerunner)

    def feed(self, provider: TracerProvider, ours: AtifSpanProcessor) -> None:
        """Add a processor of ours, which is a door."""
        self.doors.known = (ours,)
        provider.add_span_processor(ours)


_attachments: weakref.WeakKeyDictionary[TracerProvider, _Attachment] = weakref.WeakKeyDictionary()
_globally: weakref.WeakSet[EventBus] = weakref.WeakSet()  # buses whose first attachment lives


def instrument(
    tracer_provider: trace.TracerProvider | None = None,
    *,
    directory: str | Path | None = None,
    bus: EventBus | None = None,
    processor: bool = True,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    redact: Redact | None = None,
    **settings: object,
) -> EventBus:
    """Attach atifold to a provider (None: the global one) and return the bus to emit events on.

    Adds an AtifSpanProcessor that writes to `directory`, unless `processor` is False or the provider
    feeds one or an AtifSpanExporter already, and makes spans of the events of `bus` (None: the shared
    one). Where no provider was set up at all, an SDK TracerProvider is made and set as the global one,
    with a warning. A second call for the same provider and bus changes nothing but who redacts.

    Metrics go to `meter_provider` (None: the global one, also one that is set later); where there is no
    MeterProvider of the SDK there are none. The same holds for log events and `logger_provider`; the
    log records that others emit there are part of the trajectories: an AtifLogProcessor is added to it,
    unless it feeds one or an AtifLogExporter already. Of a bus that is attached to several providers
    only the first attachment writes to the global ones, so that nothing is counted twice there; those
    that are given are written to by each.

    `redact(event, path, value)` is asked for every content value of every event before anything is made
    of it, and for what the provider's other spans say before it is folded; it returns the value, another
    one or `atifold.WITHHELD`. Where it is None, one that the provider's processor has is asked. One that a
    later call gives is asked from then on, in place of the one before.

    The provider's shutdown ends what is open and lets go of the bus. Where a bus is attached to two
    living providers, both get spans of all its events; what runs inside a block (a span of HTTP, say)
    hangs under the span of the provider that was attached first.

    Raises TypeError for a setting that there is not or that cannot be read, for an argument of another
    kind, and for a provider that is not the SDK's.
    """
    return attach(
        tracer_provider,
        directory=directory,
        bus=bus,
        processor=processor,
        meter_provider=meter_provider,
        logger_provider=logger_provider,
        redact=redact,
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
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    redact: Redact | None = None,
    **settings: object,
) -> Attached:
    """Do what `instrument` says, and return the way back too; where all was done before, that does nothing."""
    minded(redact)
    _mind("logger_provider", logger_provider, "a LoggerProvider", "get_logger")
    _mind("bus", bus, "an EventBus", "emit_made")
    chosen = settings_of(directory, settings)
    meters = metrics_of(chosen, meter_provider)
    provider = _sdk_provider(tracer_provider)
    if bus is None:
        bus = shared_bus()
    with _lock:
        attachment = _attachment_of(provider)
        if processor and not attachment.doors():
            attachment.feed(provider, AtifSpanProcessor(directory, redact=redact, **settings))
        _take_logs(attachment, logger_provider)
        before = attachment.buses.get(bus)
        agreed = _agreed(redact, attachment.doors(), None if before is None else before.redact)
        if before is not None:
            if redact is not None and redact is not before.redact:
                before.redact_with(redact)
            return Attached(bus, lambda: None)
        first = bus not in _globally
        _globally.add(bus)
        signals = Signals(
            meters if first or meter_provider is not None else None,
            logger_provider,
            agreed,
            meter_provider,
            logs=first or logger_provider is not None,
        )
        return Attached(bus, _connect(provider, bus, attachment, chosen, signals, first=first))


def _mind(argument: str, value: object, wanted: str, method: str) -> None:
    """Raise TypeError for a value (None: not given) that has no such method: another kind than the one that has."""
    if value is not None and not callable(getattr(value, method, None)):
        raise TypeError(f"{argument}: {wanted} is wanted, {type(value).__name__} was found")


def _attachment_of(provider: TracerProvider) -> _Attachment:
    attachment = _attachments.get(provider)
    if attachment is None:
        attachment = _attachments[provider] = _Attachment(provider)
    return attachment


def _connect(
    provider: TracerProvider,
    bus: EventBus,
    attachment: _Attachment,
    settings: Settings,
    signals: Signals,
    *,
    first: bool,
) -> Callable[[], None]:
    """Have the events of a bus become spans of a provider, metrics and log events; return the way to stop."""
    undo: list[Callable[[], object]] = []

    def flush_before_exit() -> None:
        # An exit handler that is registered after that of a provider runs before it: what is open still
        # reaches every processor. A LoggerProvider may be there only later.
        undo.append(process.before_exit(emitter.flush))
        _take_logs(attachment, signals.logger_provider)

    emitter = emitter_of(provider, settings, _side_doors(attachment.doors, bus), signals, flush_before_exit)
    attachment.buses[bus] = emitter
    undo.append(process.before_exit(emitter.flush))
    undo.append(process.before_leaving(flushing(provider, signals.logger_provider, signals.meter_provider)))
    undo += [emitter.attach(bus), *(door.feed_from(emitter) for door in attachment.doors())]
    process.watch_forks(emitter)

    def release() -> None:
        with _lock:
            if undo:
                attachment.buses.pop(bus, None)
                if first:
                    _globally.discard(bus)
            attachment.forerunner.leave(emitter)
        while undo:
            quietly(undo.pop())

    attachment.forerunner.go_before(emitter, release)
    return release


def _take_logs(attachment: _Attachment, provider: LoggerProvider | None) -> None:
    """Have log records come to where the spans are, where one of ours has them."""
    spans = next((door for door in attachment.doors() if isinstance(door, Intake)), None)
    if spans is not None:
        feed_logs(provider, spans)


def _agreed(redact: Redact | None, found: Sequence[Listener], before: Redact | None) -> Redact | None:
    """Return who is asked of events: the given one, else that of a door.

    Doors that have none, or the one that was asked `before`, ask the given one too.
    """
    if redact is None:
        return next((door.redact for door in found if door.redact is not None), None)
    for door in found:
        door.redact_with(redact, before)
    return redact


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
