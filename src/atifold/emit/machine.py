"""Keep what is open, and open runs, agents, compositions and calls by the rules that hold for all events."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.current import sound
from atifold.emit.log import NO_LOG, Log
from atifold.emit.pauses import Pauses
from atifold.emit.reasons import ABANDONED, NO_START
from atifold.emit.record import Facts, Moment, Record, add, no_facts
from atifold.emit.sealing import Sealer
from atifold.emit.state import Owner, Path, RunState, base_path, branch_name
from atifold.emit.writer import SpanWriter
from atifold.events.envelope import Event, Meta
from atifold.jsontext import scrub

UNKNOWN = "unknown"  # of a required attribute whose value stood in an event that is not there

NS_PER_MS: Final = 1_000_000
LONGEST_MS: Final = 1e12  # thirty years; beyond it, and for NaN, a duration says nothing
_MOST_WAITING: Final = 256  # facts that a run holds for calls that may never start
_MOST_RUNS: Final = 10_000  # runs at once; more are runs whose ends never came
_NAMING = (semconv.OPERATION, semconv.AGENT_NAME, semconv.WORKFLOW_NAME)
_IN_CONVERSATIONS = frozenset({"chat", "execute_tool", "invoke_agent", "invoke_workflow"})
"""Operations whose spans have `gen_ai.conversation.id` by the conventions (semconv §2)."""
_WORKFLOWS = frozenset({"Sequence", "Parallel", "Conditional", "Loop"})


class Machine(Sealer):
    """The state behind an emitter; every method is called under the emitter's lock."""

    def __init__(self, writer: SpanWriter, *, live: bool, hashed_session: bool, log: Log = NO_LOG) -> None:
        """Take who writes spans and log events; `live` says that the thread's current span may be a parent."""
        super().__init__(writer, log)
        self.live = live
        self.hashed_session = hashed_session
        self.pauses = Pauses(self.counts)
        self.to_seal = False  # something has ended that only time will seal
        self.time_chunks = False  # metrics want the time of each chunk

    def forget_everything(self) -> None:
        """Drop all that is open, unsealed: in a forked child it belongs to the parent."""
        self.runs.clear()
        self.pauses.clear()
        self.by_stage.clear()
        self.unplaced.clear()
        self.ready = []

    # ---- runs and owners -------------------------------------------------------------------------

    def run(self, meta: Meta) -> RunState:
        """Return the run that an envelope names, opened with this event where it is new."""
        run = self.runs.get(meta.run_id)
        if run is not None:
            run.last_ns = max(run.last_ns, meta.time_ns)
            return run
        if len(self.runs) >= _MOST_RUNS:
            self._abandon_oldest()
        run = self.runs[meta.run_id] = RunState(meta.run_id, meta.time_ns, meta.time_ns, meta.composition_path)
        if meta.session_id:
            run.identity[semconv.CONVERSATION] = self.conversation(meta.session_id)
            run.session_id = meta.session_id
        for name, value in (("principal", meta.principal), ("tenant", meta.tenant)):
            if value is not None:
                run.owner_identity[f"agentfootprint.{name}"] = self.conversation(value)
        return run

    def _abandon_oldest(self) -> None:
        oldest = next(iter(self.runs.values()))
        if oldest.owners:
            self.counts["runs_abandoned"] += 1
            try:
                self.close_run(oldest, oldest.last_ns, incomplete=ABANDONED)
            except Exception:  # noqa: BLE001  guards the run that comes
                self.counts["runs_failed"] += 1
                self.abandon(oldest)
        self.forget(oldest)

    def find(self, event: Event[Any]) -> Owner | None:
        """Return the open agent or composition that an event belongs to; None where none is open."""
        run = self.runs.get(event.meta.run_id)
        return None if run is None else run.owner(event.meta.subflow_path)

    def owner(self, event: Event[Any]) -> Owner:
        """Return who an event belongs to; what opened it may have been cut off, then it is opened now."""
        run = self.run(event.meta)
        owner = run.owner(event.meta.subflow_path)
        if owner is not None and owner.record is not None:
            return owner
        kind, _, name = (event.meta.composition_path or ("",))[0].partition(":")
        if kind == "Agent":
            return self.open_agent(run, (), name, run.first_ns, cut=NO_START)
        if kind in _WORKFLOWS:
            return self.open_workflow(run, (), kind, name, run.first_ns, cut=NO_START)
        if owner is None:
            owner = Owner("none", (), "", None, run)
            run.owners.append(owner)
        return owner

    def agent(self, event: Event[Any]) -> Owner:
        """Return the agent whose turn an `agent.*` event belongs to."""
        owner = self.owner(event)
        path = base_path(event.meta.subflow_path)
        if owner.kind == "agent" or len(path) <= len(owner.path):
            return owner
        return self.open_agent(owner.run, path, branch_name(path), event.meta.time_ns, cut=NO_START)

    def open_agent(
        self,
        run: RunState,
        path: Path,
        name: str,
        start_ns: int,
        *,
        cut: str | None = None,
        parent: Record | Context | None = None,
    ) -> Owner:
        """Open the span of an agent's turn under `parent`, else under whoever encloses its branch."""
        before = next((o for o in run.owners if o.path == path and o.kind == "agent"), None)
        if before is not None:
            self.close_owner(before, start_ns, incomplete=None if before.ended else ABANDONED)
        first: dict[str, Any] = {semconv.OPERATION: "invoke_agent", semconv.AGENT_NAME: name}
        return self._open_owner(
            run, _Opening("agent", path, name, f"invoke_agent {name}", start_ns), first, cut, parent
        )

    def open_workflow(
        self, run: RunState, path: Path, kind: str, name: str, start_ns: int, *, cut: str | None = None
    ) -> Owner:
        """Open the span of a composition under whoever encloses its branch."""
        first = {
            semconv.OPERATION: "invoke_workflow",
            semconv.WORKFLOW_NAME: name,
            "agentfootprint.composition.kind": kind,
        }
        return self._open_owner(run, _Opening("workflow", path, name, f"invoke_workflow {name}", start_ns), first, cut)

    def open_resumed(self, run: RunState, paused: Owner, before: Record, link: trace.Link) -> Owner:
        """Open the span that carries a paused one on, from the leg's first event."""
        first = {name: before.attributes[name] for name in _NAMING if name in before.attributes}
        kind: Literal["agent", "workflow"] = "agent" if paused.kind == "agent" else "workflow"
        opening = _Opening(kind, paused.path, paused.name, before.name, run.first_ns)
        return self._open_owner(run, opening, first, links=(link,))

    def _open_owner(
        self,
        run: RunState,
        opening: _Opening,
        first: dict[str, Any],
        cut: str | None = None,
        parent: Record | Context | None = None,
        links: tuple[trace.Link, ...] = (),
    ) -> Owner:
        if parent is None:
            above = run.owner(opening.path)
            parent = above.record if above is not None and above.record is not None else self.outside()
        first[semconv.RUN_ID] = scrub(run.run_id)
        first.update(run.owner_identity)
        key = (opening.kind, opening.path, opening.start_ns)
        name = opening.span_name.strip()
        record = self._start(run, name, SpanKind.INTERNAL, opening.start_ns, first, parent, key, links)
        at = parent.at if isinstance(parent, Record) else trace.get_current_span(parent).get_span_context()
        self.writer.tell(record, remote_parent=at.is_remote)
        if cut is not None:
            record.unfinished(cut)
        owner = Owner(opening.kind, opening.path, opening.name, record, run)
        if owner.kind == "agent":
            record.tally = owner.calls
        run.owners.append(owner)
        return owner

    def outside(self) -> Context:
        """Return the context that a run's outermost span starts in."""
        return sound(otel_context.get_current()) if self.live else Context()

    def _start(
        self,
        run: RunState,
        name: str,
        kind: SpanKind,
        start_ns: int,
        first: dict[str, Any],
        parent: Record | Context,
        key: tuple[object, ...],
        links: tuple[trace.Link, ...] = (),
    ) -> Record:
        run.sequence += 1
        first[semconv.SEQUENCE] = run.sequence
        if run.identity and first.get(semconv.OPERATION) in _IN_CONVERSATIONS:
            first.update(run.identity)
        if not name.isascii():
            name = scrub(name)  # one name that UTF-8 cannot hold would cost an exporter its whole batch
            first.update({key: scrub(value) for key, value in first.items() if isinstance(value, str)})
        return self.writer.start(name, kind, start_ns, first, parent, (run.run_id, key), links)

    def conversation(self, session_id: str) -> str:
        """Return what names a session or a person: as it is, or hashed where the user wants that."""
        return (
            hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
            if self.hashed_session
            else scrub(session_id)
        )

    def open_call(
        self, owner: Owner, name: str, kind: SpanKind, start_ns: int, first: dict[str, Any], key: tuple[object, ...]
    ) -> Record:
        """Start the span of something that an agent or composition does."""
        parent = self.outside() if owner.record is None else owner.record
        return self._start(owner.run, name, kind, start_ns, first, parent, key)

    # ---- facts -----------------------------------------------------------------------------------

    def drop_fact(self) -> None:
        """Count a fact that is told no further."""
        self.counts["facts_dropped"] += 1

    def note_on_call(self, meta: Meta, call_id: str, moment: Moment) -> None:
        """Note a fact on the call it names; one that has not started yet gets it then."""
        run = self.runs.get(meta.run_id)
        tool = None if run is None else run.tool(call_id, meta.subflow_path)
        if tool is not None:
            tool.record.note(moment)
        elif run is not None and sum(map(len, run.waiting.values())) < _MOST_WAITING:
            run.waiting.setdefault(call_id, []).append(moment)
        else:
            self.unplaced.tell_moment(moment, self.unplaced.place(meta, call_id))

    def put_on_call(self, meta: Meta, call_id: str, facts: Facts) -> None:
        """Put facts on the call they name; one that has not started yet gets them then."""
        run = self.runs.get(meta.run_id)
        tool = None if run is None else run.tool(call_id, meta.subflow_path)
        if tool is not None:
            tool.record.take(facts)
        elif run is not None and len(run.coming) < _MOST_WAITING:
            add(run.coming.setdefault(call_id, no_facts()), facts)
        else:
            self.drop_fact()

    def note_on_next_chat(self, owner: Owner, moment: Moment) -> None:
        """Note a fact on the inference that an owner starts next."""
        if len(owner.waiting) < _MOST_WAITING:
            owner.waiting.append(moment)
        else:
            self.unplaced.tell_moment(moment, None if owner.record is None else owner.record.at)


class _Opening(NamedTuple):
    """Which agent or composition is opened."""

    kind: Literal["agent", "workflow"]
    path: Path
    name: str
    span_name: str
    start_ns: int


def started_ns(run: RunState, meta: Meta, duration_ms: float | None) -> int:
    """Return when something started that ended now, not before its run's (or leg's) first event."""
    spent_ns = int(duration_ms * NS_PER_MS) if duration_ms is not None and 0 < duration_ms < LONGEST_MS else 0
    return min(meta.time_ns, max(run.first_ns, meta.time_ns - spent_ns))


Handler = Callable[["Machine", Event[Any]], None]
