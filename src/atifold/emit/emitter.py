"""Turn the events of a bus into spans of a tracer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal, Protocol

from opentelemetry import trace
from opentelemetry.trace import SpanContext

from atifold.bus.bus import EventBus, Release
from atifold.bus.clock import now_ns
from atifold.emit.current import Current
from atifold.emit.log import NO_LOG, Log
from atifold.emit.machine import Handler, Machine
from atifold.emit.places import PLACES
from atifold.emit.reasons import STILL_OPEN
from atifold.emit.record import Moment, Record
from atifold.emit.redaction import Redactor
from atifold.emit.spellings import Spelling
from atifold.emit.state import Owner, RunState
from atifold.emit.sweeper import Sweeper
from atifold.emit.unplaced import Fact
from atifold.emit.writer import NextIds, SpanWriter
from atifold.events import full_name
from atifold.events.envelope import LATEST_NS, Event, UnknownEvent
from atifold.jsontext import scrub
from atifold.redaction import Redact
from atifold.spans import SideDoor

_LOG = logging.getLogger("atifold")
_ROWS = {full_name(row.event): row for row in PLACES}


class Observer(Protocol):
    """Hear what an emitter seals, outside of its lock: metrics and log events are made so.

    What it raises is logged once and counted.
    """

    def sealed(self, record: Record) -> None:
        """Hear that a span was ended; its record does not change any more."""

    def said(self, moment: Moment, at: SpanContext | None) -> None:
        """Hear a fact that stands on no span; `at` is the span it belongs to, None where none is known.

        Only while the log is ready: without one such facts are counted.
        """


class Emitter:
    """A state machine per run that writes spans from agent events.

    `side_doors` get the whole record of each span, whatever the tracing backend is allowed or able
    to take: a sequence, or a callable that returns one. `live` False is for replays: no parent is
    taken from the running program, and `ids` is told before each start what the span is. `observers`
    hear of each sealed span after it was ended, and of facts that stand on none; `log` is one that
    takes log events. `capture_content` is for spans; the log has a setting of its own. `redact` is
    asked for every content value of every event before anything is made of it (`atifold.redaction`). A
    content value of more than `max_value` characters is left out of spans; 0 is no limit. `time_chunks`
    keeps the time of each streamed chunk for observers. `spelling` writes attributes by other names, on
    spans only.
    Safe from any thread; nothing it does raises into the program.
    """

    def __init__(  # noqa: PLR0913  what may leave, and where to, is said at once
        self,
        tracer: trace.Tracer,
        *,
        side_doors: Sequence[SideDoor] | Callable[[], Sequence[SideDoor]] = (),
        capture_content: bool = False,
        session_id: Literal["raw", "hashed"] = "raw",
        live: bool = True,
        grace_s: float = 0.5,
        ids: NextIds | None = None,
        observers: Sequence[Observer] = (),
        log: Log = NO_LOG,
        redact: Redact | None = None,
        max_value: int = 0,
        time_chunks: bool = False,
        spelling: Spelling | None = None,
    ) -> None:
        """Take a tracer and what may leave through it; see the class."""
        doors = side_doors if callable(side_doors) else lambda: side_doors
        writer = SpanWriter(
            tracer,
            doors,
            capture=capture_content,
            ids=ids,
            log=log,
            max_value=max_value,
            redacted=redact is not None,
            spelling=spelling,
        )
        self._machine = Machine(writer, live=live, hashed_session=session_id == "hashed", log=log)
        self._machine.time_chunks = time_chunks
        self._handlers: dict[str, Handler] = {}
        self._parents_runs: set[str] = set()  # runs that were open when this process was forked
        self._grace_s = grace_s if live else None
        self._observers: tuple[Observer, ...] = (*observers, log) if log is not NO_LOG else tuple(observers)
        self._redactor = None if redact is None else Redactor(redact, self._redaction_failed)
        self._redact = redact
        self._start_clean()
        self.counts = self._machine.counts

    @property
    def redact(self) -> Redact | None:
        """Return who is asked of events, None for nobody."""
        return self._redact

    def redact_with(self, redact: Redact) -> None:
        """Ask `redact` of every event from now on, in place of whoever was asked before."""
        self._machine.writer.redacted = True
        self._redact, self._redactor = redact, Redactor(redact, self._redaction_failed)

    def _start_clean(self) -> None:
        self._lock = threading.RLock()
        self._sweeper = None if self._grace_s is None else Sweeper(self.sweep, self._grace_s)

    def attach(self, bus: EventBus) -> Release:
        """Handle every event of `bus`; returns the way to stop."""
        stop = bus.subscribe("*", self.handle)
        remove = bus.add_activator(self.activate)

        def detach() -> None:
            stop()
            remove()
            self.flush()

        return detach

    def handle(self, event: Event[Any]) -> None:  # noqa: C901  a call more for each event costs more than a branch
        """Take one event; never raises."""
        machine = self._machine
        if self._redactor is not None:
            event = self._redacted(self._redactor, event)
        handler = self._handlers.get(event.type) or self._handler(event.type)
        if not 0 < event.meta.time_ns <= LATEST_NS and not event.meta.is_dated:
            event = self._dated(event)
        payload = event.payload
        if type(payload) is UnknownEvent and payload.reason == "unreadable":
            handler = _count_unreadable
        elif self._parents_runs and event.meta.run_id in self._parents_runs:
            handler = _count_parents
        with self._lock:
            machine.counts["events"] += 1
            try:
                handler(machine, event)
            except Exception as error:  # noqa: BLE001  guards the user's program
                self._complain("events_failed", f"event {event.type} could not be written", error)
            ready: Sequence[Record] = ()  # an empty list stays the machine's: another thread may fill it by now
            if machine.ready:
                ready, machine.ready = machine.ready, []
            said = machine.unplaced.take() if machine.unplaced.said else None
        if ready or said:
            self._write(ready, said or ())
        if machine.to_seal and self._sweeper is not None:
            self._sweeper.wake()

    def activate(self, run_id: str, stage_id: str) -> Release | None:
        """Make the span that (run id, runtime stage id) opened the current one."""
        record = self._machine.by_stage.get((run_id, stage_id))
        return None if record is None else Current(record.span)

    def sweep(self, quiet_since_ns: int) -> bool:
        """Seal what has ended and was quiet since the given time; return whether anything is left to seal."""
        machine = self._machine
        with self._lock:
            waiting = False
            for run in list(machine.runs.values()):
                ended = run.owners and all(_over(owner) for owner in run.owners)
                if ended and run.last_ns <= quiet_since_ns:
                    self._close(run)
                else:
                    waiting = waiting or bool(ended)
            machine.to_seal = waiting
            ready, machine.ready = machine.ready, []
            said = machine.unplaced.take()
        self._write(ready, said)
        return waiting

    def flush(self) -> None:
        """Seal everything: the events have ended, and what is still open says so."""
        machine = self._machine
        with self._lock:
            for run in list(machine.runs.values()):
                whole = all(_over(owner) for owner in run.owners)
                self._close(run, None if whole else STILL_OPEN)
            ready, machine.ready = machine.ready, []
            said = machine.unplaced.take()
            machine.forget_everything()
        self._write(ready, said)

    def after_fork(self) -> None:
        """Start clean in a forked child: what is open belongs to the parent, which ends it."""
        self._start_clean()
        self._parents_runs.update(self._machine.runs)
        self._machine.forget_everything()

    # ---- inside ----------------------------------------------------------------------------------

    def _dated(self, event: Event[Any]) -> Event[Any]:
        """Return an event whose time cannot be one with the last good time of its run, else with the present."""
        meta = event.meta
        self.counts["times_refused"] += 1
        if self.counts["times_refused"] == 1:
            _LOG.warning("event %s has a time that cannot be one; another is used, later ones are counted", event.type)
        run = self._machine.runs.get(meta.run_id)
        time_ns = now_ns() if run is None else run.last_ns
        dated = meta.at(time_ns, meta.run_offset_ms or 0, meta.runtime_stage_id)
        dated.extra = {"wallClockMs": meta.wall_clock_ms or meta.time_ns // 1_000_000, **meta.extra}
        return replace(event, meta=dated)

    def _close(self, run: RunState, incomplete: str | None = None) -> None:
        """Seal all of a run; where that fails its spans end as they are, and no other run hears of it."""
        machine = self._machine
        try:
            machine.close_run(run, run.last_ns, incomplete=incomplete)
            machine.forget(run)
        except Exception as error:  # noqa: BLE001  guards the user's program and the other runs
            self._complain("runs_failed", "a run could not be closed in order", error)
            machine.abandon(run)

    def _write(self, ready: Sequence[Record], said: Sequence[Fact]) -> None:
        """End sealed spans and tell facts, each whatever became of the others: a user's processor may raise."""
        for record in ready:
            try:
                self._machine.writer.finish(record)
            except Exception as error:  # noqa: BLE001  guards the user's program and the other spans
                self._complain("spans_failed", f"span {record.name} could not be ended", error)
            for observer in self._observers:
                try:
                    observer.sealed(record)
                except Exception as error:  # noqa: BLE001  guards the user's program and the other spans
                    self._complain("observers_failed", f"span {record.name} could not be observed", error)
        for moment, at in said:
            for observer in self._observers:
                try:
                    observer.said(moment, at)
                except Exception as error:  # noqa: BLE001  guards the user's program and the other facts
                    self._complain("observers_failed", f"event {moment.name} could not be told", error)

    def _handler(self, name: str) -> Handler:
        """Return who handles an event; only names of the table are kept, unknown ones may be many."""
        row = _ROWS.get(name)
        if row is None:
            return _count_unmapped
        handler: Handler = _count
        if row.does is not None:
            module, function = row.does.split(":")
            handler = getattr(import_module(f"atifold.emit.on.{module}"), function)
        self._handlers[name] = handler
        return handler

    def _redacted(self, redactor: Redactor, event: Event[Any]) -> Event[Any]:
        """Return what may leave of an event; where that cannot be told, nothing of its payload."""
        try:
            return redactor.apply(event)
        except Exception as error:  # noqa: BLE001  guards the user's program
            self._complain("redactions_failed", f"event {event.type} could not be redacted", error)
            return replace(event, payload=UnknownEvent({}, "unreadable"))

    def _redaction_failed(self, how: str) -> None:
        self.counts["redactions_failed"] += 1
        if self.counts["redactions_failed"] == 1:
            _LOG.warning("redact %s; the value is withheld, later ones are counted", how)

    def _complain(self, kind: str, what: str, error: Exception) -> None:
        self.counts[kind] += 1
        if self.counts[kind] == 1:
            _LOG.warning("%s (%s); later ones are counted", what, type(error).__name__)


def _count(machine: Machine, _: Event[Any]) -> None:
    machine.counts["events_counted"] += 1


def _count_unmapped(machine: Machine, event: Event[Any]) -> None:
    machine.counts["events_unmapped"] += 1
    machine.unplaced.tell_name(event, scrub(event.type))


def _count_unreadable(machine: Machine, event: Event[Any]) -> None:
    machine.counts["events_unreadable"] += 1
    machine.unplaced.tell_name(event, event.type)


def _count_parents(machine: Machine, _: Event[Any]) -> None:
    machine.counts["events_of_the_parent_process"] += 1


def _over(owner: Owner) -> bool:
    """Tell whether nothing of an owner is open: its turn has ended, or a run without agent has no call under way."""
    if owner.record is not None:
        return owner.ended
    return all(chat.ended for chat in owner.chats) and all(tool.ended for tool in owner.tools)
