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
from atifold.plugin.exporter import AtifSpanExporter
from atifold.plugin.processor import AtifSpanProcessor
from atifold.plugin.shared import shared_bus
from atifold.settings import Settings
from atifold.spans import SideDoor

if TYPE_CHECKING:
    from atifold.bus import EventBus
    from atifold.emit import Emitter

_log = logging.getLogger("atifold")
_lock = threading.Lock()
_processors: weakref.WeakKeyDictionary[TracerProvider, AtifSpanProcessor] = weakref.WeakKeyDictionary()
_connected: weakref.WeakKeyDictionary[TracerProvider, weakref.WeakSet[EventBus]] = weakref.WeakKeyDictionary()


def instrument(
    tracer_provider: trace.TracerProvider | None = None,
    *,
    directory: str | Path | None = None,
    bus: EventBus | None = None,
    processor: bool = True,
    **settings: object,
) -> EventBus:
    """Attach atifold to a provider (None: the global one) and return the bus to emit events on.

    Adds an AtifSpanProcessor that writes to `directory`, unless `processor` is False or the provider
    exports to an AtifSpanExporter already, and makes spans of the events of `bus` (None: the shared
    one). Where no provider was set up at all, an SDK TracerProvider is made and set as the global one,
    and that is logged. A second call for the same provider and bus changes nothing.

    Raises TypeError for a setting that there is not, and for a provider that is not the SDK's.
    """
    return attach(tracer_provider, directory=directory, bus=bus, processor=processor, **settings).bus


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
    **settings: object,
) -> Attached:
    """Do what `instrument` says, and return the way back too; where all was done before, that does nothing."""
    chosen = Settings.from_env(dir=directory, **settings)
    provider = _sdk_provider(tracer_provider)
    if bus is None:
        bus = shared_bus()
    with _lock:
        door = _door(provider)
        if door is None and processor:
            door = _processors[provider] = AtifSpanProcessor(directory, **settings)
            provider.add_span_processor(door)
        connected = _connected.setdefault(provider, weakref.WeakSet())
        if bus in connected:
            return Attached(bus, lambda: None)
        connected.add(bus)
        return Attached(bus, _connect(provider, bus, door, chosen))


def _connect(
    provider: TracerProvider, bus: EventBus, door: AtifSpanProcessor | AtifSpanExporter | None, settings: Settings
) -> Callable[[], None]:
    """Have the events of a bus become spans of a provider; return the way to stop."""
    emitter = _emitter(provider, settings, _side_doors(door, bus))
    # The exit handler is registered after the provider's own one, so run before it: spans that are
    # open still reach every processor.
    undo = [emitter.attach(bus), process.before_exit(emitter.flush)]
    if door is not None:
        undo.append(door.feed_from(emitter))
    process.watch_forks(emitter)

    def release() -> None:
        with _lock:
            if undo:
                _connected[provider].discard(bus)
        while undo:
            undo.pop()()

    return release


def _emitter(
    provider: TracerProvider, settings: Settings, side_doors: Sequence[SideDoor] | Callable[[], Sequence[SideDoor]]
) -> Emitter:
    from atifold.emit import Emitter  # noqa: PLC0415 - the events' half is loaded by who emits

    return Emitter(
        provider.get_tracer("atifold"),
        side_doors=side_doors,
        capture_content=settings.capture_content.on_spans,
        session_id=settings.session_id,
    )


def _side_doors(door: SideDoor | None, bus: EventBus) -> Sequence[SideDoor] | Callable[[], Sequence[SideDoor]]:
    if door is not None:
        return (door,)
    # an exporter that the SDK makes later, in another provider or by configuration, is found there
    return doors.doors if bus is shared_bus() else ()


def _sdk_provider(given: trace.TracerProvider | None) -> TracerProvider:
    found = trace.get_tracer_provider() if given is None else given
    if isinstance(found, TracerProvider):
        return found
    if given is None and isinstance(found, trace.ProxyTracerProvider):
        _log.info("no TracerProvider was set up: one of the SDK is made and set as the global one")
        made = TracerProvider()
        trace.set_tracer_provider(made)
        return made
    raise TypeError(f"an SDK TracerProvider is wanted to attach to, {type(found).__name__} was found")


def _door(provider: TracerProvider) -> AtifSpanProcessor | AtifSpanExporter | None:
    """Return what of ours the provider feeds already."""
    known = _processors.get(provider)
    if known is not None:
        return known
    # The SDK has no public way to ask; one that names it otherwise gets a processor of ours in any case.
    active = getattr(provider, "_active_span_processor", None)
    processors: Sequence[object] = getattr(active, "_span_processors", ())
    for attached in processors:
        if isinstance(attached, AtifSpanProcessor):
            return attached
        exporter = getattr(attached, "span_exporter", None)
        if isinstance(exporter, AtifSpanExporter):
            return exporter
    return None


def process_exporter() -> AtifSpanExporter | None:
    """Return an AtifSpanExporter that is alive in the process, None where there is none."""
    return next((door for door in doors.doors() if isinstance(door, AtifSpanExporter)), None)
