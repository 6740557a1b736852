"""Dispatch events synchronously, on the emitter's own thread, to handlers found by name."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from atifold.bus.clock import now_ns
from atifold.bus.record import Recorder
from atifold.events import full_name
from atifold.events.envelope import Event, Meta, builder

if TYPE_CHECKING:
    from atifold.bus.made import Make
    from atifold.bus.run import Run

Handler = Callable[[Event], object]
Release = Callable[[], None]
Activator = Callable[[str, str], "Release | None"]
"""Makes what (run id, runtime stage id) opened the current span; returns the way back."""

_LOG = logging.getLogger("atifold")
_MOST_ROUTES = 1024  # names resolved and kept; the catalogue has 128, so only a flood of unknown names passes it


class _Subscription(NamedTuple):
    pattern: str
    handler: Handler

    def wants(self, name: str) -> bool:
        if self.pattern in ("*", name):
            return True
        return self.pattern.endswith(".*") and name.startswith(self.pattern[:-1])


class _Route(NamedTuple):
    full: str
    handlers: tuple[Handler, ...]
    build: Callable[[Any, Meta], Event]


class EventBus:
    """Join those who emit agent events and those who handle them.

    A handler runs on the thread of `emit`, in order of subscription. One that raises reaches
    neither the emitter nor the other handlers: it is logged once per handler and kind of error,
    and counted in `counts["handler_errors"]`. Safe from any thread.
    """

    def __init__(self) -> None:
        """Start without handlers: until one subscribes, `emit` returns before it looks at anything."""
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._subscriptions: tuple[_Subscription, ...] = ()
        self._routes: dict[str, _Route] = {}
        self._makers: dict[str, Make] = {}
        self._activators: tuple[Activator, ...] = ()
        self._complained: set[tuple[int, type[BaseException]]] = set()
        self._loose_run: str | None = None

    # ---- listening -------------------------------------------------------------------------------

    def subscribe(self, pattern: str, handler: Handler) -> Release:
        """Call `handler` with each event that `pattern` names; return the way to unsubscribe.

        `pattern` is a name (`stream.llm_start`), a domain (`stream.*`) or `*`.
        """
        subscription = _Subscription(_full_pattern(pattern), handler)
        with self._lock:
            self._subscriptions = (*self._subscriptions, subscription)
            self._routes = {}

        def unsubscribe() -> None:
            with self._lock:
                self._subscriptions = tuple(s for s in self._subscriptions if s is not subscription)
                self._routes = {}

        return unsubscribe

    def events(self, pattern: str = "*", *, max_waiting: int = 10_000) -> AsyncIterator[Event]:
        """Return an async iterator over the events from now on; closing it unsubscribes.

        Of more than `max_waiting` events that nobody took yet the oldest are dropped and counted in
        `counts["dropped_by_iterator"]`.
        """
        from atifold.bus.iteration import EventStream  # noqa: PLC0415  asyncio costs more than all of the bus

        return EventStream(self, pattern, max_waiting)

    def __aiter__(self) -> AsyncIterator[Event]:
        """Iterate over all events from now on."""
        return self.events()

    def record(self, path: str | Path) -> Recorder:
        """Write each event to a file, a JSON object a line, in the producer's own wire form.

        Returns a context manager; `close()` ends the recording. Raises OutputError where the file
        cannot be opened.
        """
        return Recorder(self.subscribe, path)

    # ---- emitting --------------------------------------------------------------------------------

    def emit(
        self,
        event: Event | str,
        payload: Mapping[str, Any] | object | None = None,
        *,
        meta: Meta | Mapping[str, Any] | None = None,
    ) -> None:
        """Hand an event to its handlers: an `Event`, or a name with its payload.

        `payload` is a mapping in wire form or a payload model; what cannot be read as the event's
        payload is kept as an `UnknownEvent`. Without `meta` the event belongs to the `bus.run(...)`
        it is emitted in, else to a run that lasts until the next turn starts. Never raises for
        what a handler does, nor for what a payload or an envelope holds.

        Raises TypeError where `event` is neither an `Event` nor a name, or `meta` neither a `Meta` nor a
        mapping: that is a mistake in the caller's code.
        """
        if not isinstance(event, (str, Event)):
            raise TypeError(f"event: {type(event).__name__} was found, a name or an Event was wanted")
        if meta is not None and not isinstance(meta, (Meta, Mapping)):
            raise TypeError(f"meta: {type(meta).__name__} was found, a Meta or a mapping was wanted")
        name = event if isinstance(event, str) else event.type
        route = self._routes.get(name) or self._route(name)
        if not route.handlers:
            return
        if isinstance(event, str):
            envelope = meta if isinstance(meta, Meta) else self._meta(route.full, meta)
            event = route.build({} if payload is None else payload, envelope)
        for handler in route.handlers:
            try:
                handler(event)
            except Exception as error:  # noqa: BLE001  guards the user's program from its listeners
                self._complain(handler, error)

    def emit_made(self, name: str, fields: dict[str, Any], extra: dict[str, Any], meta: Meta) -> None:
        """Hand on an event of a block: its fields by Python names, and extension fields; see `atifold.bus.made`.

        Both dicts are the event's from then on.
        """
        route = self._routes.get(name) or self._route(name)
        if route.handlers:
            make = self._makers.get(name) or self._maker(name)
            event = make(fields, extra, meta)
            for handler in route.handlers:
                try:
                    handler(event)
                except Exception as error:  # noqa: BLE001  guards the user's program from its listeners
                    self._complain(handler, error)

    def wants(self, name: str) -> bool:
        """Tell whether anybody listens to an event (so that a costly payload need not be built)."""
        return bool((self._routes.get(name) or self._route(name)).handlers)

    def run(self, agent: str, prompt: str | None = None, **details: Any) -> Run:
        """Return a context manager for one turn of an agent; see `Run` for what it takes and gives."""
        from atifold.bus.run import Run  # noqa: PLC0415  the two name each other

        return Run(self, agent, prompt, **details)

    # ---- being current ---------------------------------------------------------------------------

    def add_activator(self, activator: Activator) -> Release:
        """Register who can make the span of a run, call or tool the current one."""
        with self._lock:
            self._activators = (*self._activators, activator)

        def remove() -> None:
            with self._lock:
                self._activators = tuple(a for a in self._activators if a is not activator)

        return remove

    def activate(self, run_id: str, stage_id: str) -> Release | None:
        """Make the span that (run id, runtime stage id) opened the current one, where there is one."""
        for activator in self._activators:
            release = activator(run_id, stage_id)
            if release is not None:
                return release
        return None

    # ---- inside ----------------------------------------------------------------------------------

    def _maker(self, name: str) -> Make:
        from atifold.bus.made import MAKERS  # noqa: PLC0415  it loads models, for which somebody has to listen

        self._makers = MAKERS
        return MAKERS[name]

    def _route(self, name: str) -> _Route:
        full = full_name(name)
        with self._lock:
            handlers = tuple(s.handler for s in self._subscriptions if s.wants(full))
            route = _Route(full, handlers, builder(full) if handlers else _never)
            if len(self._routes) < _MOST_ROUTES:
                self._routes[name] = route
        return route

    def _meta(self, name: str, meta: Mapping[str, Any] | None) -> Meta:
        if meta is not None:
            given = Meta.from_wire(dict(meta))
            if given.time_ns or not given.is_dated:  # a time that was refused is for handlers to replace
                return given
            return given.at(now_ns(), given.run_offset_ms or 0, given.runtime_stage_id)
        from atifold.bus.run import current_run  # noqa: PLC0415  the two name each other

        run = current_run()
        return run.meta() if run is not None else self._loose_meta(name)

    def _loose_meta(self, name: str) -> Meta:
        """Return the envelope of an event that was emitted outside any run."""
        time_ns = now_ns()
        with self._lock:
            if self._loose_run is None or name == "agentfootprint.agent.turn_start":
                self._loose_run = f"run-{time_ns // 1_000_000}-{time_ns // 1000 % 1_000_000:06d}"
            run_id = self._loose_run
        return Meta(wall_clock_ms=time_ns // 1_000_000, run_offset_ms=0, run_id=run_id, time_ns=time_ns)

    def _complain(self, handler: Handler, error: Exception) -> None:
        kind = (id(handler), type(error))
        with self._lock:
            self.counts["handler_errors"] += 1
            if kind in self._complained:
                return
            self._complained.add(kind)
        name = getattr(handler, "__qualname__", None) or type(handler).__name__
        _LOG.warning("event handler %s raised %s; it is said once, later ones are counted", name, type(error).__name__)


def _never(payload: Any, meta: Meta) -> Event:
    """Stand where nobody listens: no payload is read there."""
    raise AssertionError(payload, meta)


def _full_pattern(pattern: str) -> str:
    if pattern == "*":
        return pattern
    if pattern.endswith(".*"):
        domain = pattern[:-2]
        return f"{domain}.*" if domain.startswith("agentfootprint.") else f"agentfootprint.{domain}.*"
    return full_name(pattern)
