"""Keep what is open, and open, close and seal spans by the rules that hold for all events.

Closing has two phases: a span *ends* at its own end event's time, and is *sealed* (exported) when
nothing can still belong to it. Sealed records are collected and written by the caller after the
lock is released, since a user's exporter may be slow.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from atifold import semconv
from atifold.emit.current import sound
from atifold.emit.log import NO_LOG, Log
from atifold.emit.messages import write_answer
from atifold.emit.pauses import Pauses
from atifold.emit.record import Facts, Moment, Record, add, no_facts
from atifold.emit.state import Chat, Owner, Path, RunState, Tool, base_path, branch_name
from atifold.emit.unplaced import Unplaced
from atifold.emit.usage import sound_usage
from atifold.emit.withheld import Withheld
from atifold.emit.writer import SpanWriter
from atifold.events.envelope import Event, Meta
from atifold.jsontext import scrub, to_json_text

STILL_OPEN = "still open when the events ended"
NO_START = "the events before were not there"
ABANDONED = "never ended"
STOPPED = "stopped by the program"

STOPS: Final = "GeneratorExit"  # the error type of a block whose generator the program closed

UNKNOWN = "unknown"  # of a required attribute whose value stood in an event that is not there

NS_PER_MS: Final = 1_000_000
LONGEST_MS: Final = 1e12  # thirty years; beyond it, and for NaN, a duration says nothing
_MOST_WAITING: Final = 256  # facts that a run holds for calls that may never start
_MOST_RUNS: Final = 10_000  # runs at once; more are runs whose ends never came
_NAMING = (semconv.OPERATION, semconv.AGENT_NAME, semconv.WORKFLOW_NAME)
_IN_CONVERSATIONS = frozenset({"chat", "execute_tool", "invoke_agent", "invoke_workflow"})
"""Operations whose spans have `gen_ai.conversation.id` by the conventions (semconv §2)."""
_WORKFLOWS = frozenset({"Sequence", "Parallel", "Conditional", "Loop"})


class Machine:
    """The state behind an emitter; every method is called under the emitter's lock."""

    def __init__(self, writer: SpanWriter, *, live: bool, hashed_session: bool, log: Log = NO_LOG) -> None:
        """Take who writes spans and log events; `live` says that the thread's current span may be a parent."""
        self.writer = writer
        self.live = live
        self.hashed_session = hashed_session
        self.counts: Counter[str] = Counter()
        self.runs: dict[str, RunState] = {}
        self.pauses = Pauses(self.counts)
        self.to_seal = False  # something has ended that only time will seal
        self.ready: list[Record] = []  # sealed, to be written without the lock
        self.by_stage: dict[tuple[str, str], Record] = {}
        self.withheld = Withheld()  # argument values that must not leave
        self.time_chunks = False  # metrics want the time of each chunk
        self.unplaced = Unplaced(self.counts, log, self.runs, self.by_stage)

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

    # ---- model calls and tools -------------------------------------------------------------------

    def open_call(
        self, owner: Owner, name: str, kind: SpanKind, start_ns: int, first: dict[str, Any], key: tuple[object, ...]
    ) -> Record:
        """Start the span of something that an agent or composition does."""
        parent = self.outside() if owner.record is None else owner.record
        return self._start(owner.run, name, kind, start_ns, first, parent, key)

    def seal_chat(self, owner: Owner, chat: Chat, *, at_ns: int | None = None, incomplete: str | None = None) -> None:
        """Seal an inference: nothing can still belong to it."""
        record = chat.record
        if not chat.ended:
            record.end_ns = at_ns
            record.timed = record.error_type is not None
            if incomplete:
                record.unfinished(incomplete)
        owner.calls.infer(record.attributes.get(semconv.REQUEST_MODEL))
        if chat.usage is not None:
            chat.usage = sound_usage(chat.usage, self.counts)
        write_answer(self.writer, chat, self.withheld)
        owner.chats.remove(chat)
        if chat.told:
            owner.asked.update(chat.awaited())
        self.by_stage.pop((owner.run.run_id, chat.stage_id), None)
        self.unplaced.chat_ended(owner.run, chat)
        self.ready.append(record)

    def settle(self, owner: Owner, chat: Chat, *, last: object) -> None:
        """Note that nothing more is told of an inference after its end; `last` True: nor does it ask for more calls."""
        if last is True:
            self.seal_chat(owner, chat)
        elif last is False:
            chat.settling = False

    def seal_tool(self, owner: Owner, tool: Tool, *, at_ns: int | None = None, incomplete: str | None = None) -> None:
        """Seal a tool execution."""
        if not tool.ended:
            tool.record.end_ns = at_ns
            tool.record.timed = tool.record.error_type is not None
            if incomplete:
                tool.record.unfinished(incomplete)
            if tool.arguments is not None and self.writer.wants_content:
                # which arguments must not leave is said at the end: of a paused call it is yet to come
                paused = semconv.PAUSED in tool.record.attributes
                target = tool.record.door if paused else tool.record.content
                target[semconv.TOOL_ARGUMENTS] = to_json_text(tool.arguments)
        if semconv.DISPATCH not in tool.record.attributes and (tool.ended or _runs(tool)):
            owner.calls.tool_calls += 1
        tool.record.ended = tool.ended
        owner.tools.remove(tool)
        self.by_stage.pop((owner.run.run_id, tool.stage_id), None)
        self.unplaced.tool_ended(owner.run, tool)
        self.ready.append(tool.record)

    def seal_ended(self, owner: Owner, path: Path | None = None) -> None:
        """Seal what has ended of an owner: its iteration is over, or on `path` the next one starts.

        Another inference may start before all is told of one: that one waits.
        """
        for chat in list(owner.chats):
            if chat.ended and (path is None or (chat.path == path and not chat.settling)):
                self.seal_chat(owner, chat)
        for tool in list(owner.tools):
            if tool.ended:
                self.seal_tool(owner, tool)
        if owner.held:
            self.ready.extend(owner.held)
            owner.held = []

    def hold(self, owner: Owner, record: Record) -> None:
        """Keep a span that has ended until its owner's next inference: facts of it may follow."""
        owner.held.append(record)

    # ---- closing ---------------------------------------------------------------------------------

    def close_owner(
        self,
        owner: Owner,
        end_ns: int,
        *,
        incomplete: str | None = None,
        failure: tuple[str, str | None] | None = None,
        paused: bool = False,
    ) -> None:
        """Seal an agent's turn or a composition, and before it all that is open below it.

        `failure` fails what has not ended; `incomplete` says why something stays unfinished;
        `paused` says that all of it goes on in another leg.
        """
        how = _Closing(end_ns, incomplete, failure, paused)
        run = owner.run
        for below in [o for o in run.owners if _encloses(owner, o)]:
            if below in run.owners:  # else it was closed with what lies between
                self.close_owner(below, end_ns, incomplete=incomplete, failure=failure, paused=paused)
        self._close_calls(owner, how)
        if owner in run.owners:
            run.owners.remove(owner)
        self.unplaced.owner_ended(owner)
        record = owner.record
        if record is None:
            return
        if not owner.ended:
            record.end_ns = end_ns
            _settle(record, how, ended=False)
            record.timed = record.error_type is not None
            if incomplete:
                record.unfinished(incomplete)
        self.by_stage.pop((run.run_id, owner.stage_id), None)
        self.ready.append(record)

    def _close_calls(self, owner: Owner, how: _Closing) -> None:
        """Seal what an owner has open, and say of each why it did not end."""
        reason = how.incomplete or (None if how.failure is not None or how.paused else ABANDONED)
        for chat in list(owner.chats):
            _settle(chat.record, how, ended=chat.ended)
            self.seal_chat(owner, chat, at_ns=how.end_ns, incomplete=reason)
        for tool in list(owner.tools):
            _settle(tool.record, how, ended=tool.ended)
            self.seal_tool(owner, tool, at_ns=how.end_ns, incomplete=reason)
        for record in owner.discoveries.values():
            _settle(record, how, ended=False)
            record.end_ns = max(record.start_ns, how.end_ns)
            if reason:
                record.unfinished(reason)
        self.ready.extend([*owner.held, *owner.discoveries.values()])
        owner.held, owner.discoveries = [], {}

    def close_run(self, run: RunState, end_ns: int, **how: Any) -> None:
        """Seal everything that is open of a run, as `close_owner` does."""
        while run.owners:
            outermost = min(run.owners, key=lambda o: len(o.path))
            self.close_owner(outermost, end_ns, **how)

    def abandon(self, run: RunState) -> None:
        """Seal the spans of a run that cannot be closed in order, inner ones first, as they are; drop the run."""
        for owner in reversed(run.owners):
            inner = [*(chat.record for chat in owner.chats), *(tool.record for tool in owner.tools)]
            for record in (*inner, *owner.held, *owner.discoveries.values(), owner.record):
                if record is not None:
                    record.end_ns = run.last_ns if record.end_ns is None else record.end_ns
                    record.unfinished(ABANDONED)
                    self.ready.append(record)
        run.owners.clear()
        self.runs.pop(run.run_id, None)
        for key in [key for key in self.by_stage if key[0] == run.run_id]:
            del self.by_stage[key]

    def forget(self, run: RunState) -> None:
        """Drop a run that nothing is open of."""
        if not run.owners and self.runs.pop(run.run_id, None) is not None and run.waiting:
            self.unplaced.run_ended(run)

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


class _Closing(NamedTuple):
    """How something is closed; see `Machine.close_owner`."""

    end_ns: int
    incomplete: str | None
    failure: tuple[str, str | None] | None
    paused: bool


def _encloses(owner: Owner, other: Owner) -> bool:
    """Tell whether an owner is the outer of two: by its branch, on the same one by who was opened first."""
    if other is owner or other.path[: len(owner.path)] != owner.path:
        return False
    owners = owner.run.owners
    return other.path != owner.path or owners.index(owner) < owners.index(other)


def _runs(tool: Tool) -> bool:
    """Tell whether a call that has not ended is at work: one that waits is counted in the leg that answers it."""
    return not tool.refused and semconv.PAUSED not in tool.record.attributes


def _settle(record: Record, how: _Closing, *, ended: bool) -> None:
    if how.paused:
        record.attributes[semconv.PAUSED] = True
    elif how.failure is not None and not ended:
        kind, text = how.failure
        record.fail(kind, None if text is None else scrub(text))


def started_ns(run: RunState, meta: Meta, duration_ms: float | None) -> int:
    """Return when something started that ended now, not before its run's (or leg's) first event."""
    spent_ns = int(duration_ms * NS_PER_MS) if duration_ms is not None and 0 < duration_ms < LONGEST_MS else 0
    return min(meta.time_ns, max(run.first_ns, meta.time_ns - spent_ns))


Handler = Callable[["Machine", Event[Any]], None]
