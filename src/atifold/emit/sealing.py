"""Seal what is open, by the rules that hold for all events: calls, agents and compositions, whole runs.

Closing has two phases: a span *ends* at its own end event's time, and is *sealed* (exported) when
nothing can still belong to it. Sealed records are collected and written by the caller after the
lock is released, since a user's exporter may be slow.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from atifold import semconv
from atifold.emit.log import Log
from atifold.emit.messages import write_answer
from atifold.emit.reasons import ABANDONED
from atifold.emit.record import Record
from atifold.emit.state import Chat, Owner, Path, RunState, Tool
from atifold.emit.unplaced import Unplaced
from atifold.emit.usage import sound_usage
from atifold.emit.withheld import Withheld
from atifold.emit.writer import SpanWriter
from atifold.jsontext import scrub, to_json_text


class Sealer:
    """What is open of all runs, and how it is sealed; every method is called under the emitter's lock."""

    def __init__(self, writer: SpanWriter, log: Log) -> None:
        """Take who writes spans, and the log that hears what stands on none."""
        self.writer = writer
        self.counts: Counter[str] = Counter()
        self.runs: dict[str, RunState] = {}
        self.by_stage: dict[tuple[str, str], Record] = {}
        self.withheld = Withheld()  # argument values that must not leave
        self.unplaced = Unplaced(self.counts, log, self.runs, self.by_stage)
        self.ready: list[Record] = []  # sealed, to be written without the lock

    # ---- model calls and tools -------------------------------------------------------------------

    def seal_chat(self, owner: Owner, chat: Chat, *, at_ns: int | None = None, incomplete: str | None = None) -> None:
        """Seal an inference: nothing can still belong to it."""
        record = chat.record
        if not chat.ended:
            _break_off(record, at_ns, incomplete)
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
            _break_off(tool.record, at_ns, incomplete)
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

    # ---- agents, compositions and runs -----------------------------------------------------------

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
            _say_how(record, how, ended=False)
            _break_off(record, end_ns, incomplete)
        self.by_stage.pop((run.run_id, owner.stage_id), None)
        self.ready.append(record)

    def _close_calls(self, owner: Owner, how: _Closing) -> None:
        """Seal what an owner has open, and say of each why it did not end."""
        reason = how.incomplete or (None if how.failure is not None or how.paused else ABANDONED)
        for chat in list(owner.chats):
            _say_how(chat.record, how, ended=chat.ended)
            self.seal_chat(owner, chat, at_ns=how.end_ns, incomplete=reason)
        for tool in list(owner.tools):
            _say_how(tool.record, how, ended=tool.ended)
            self.seal_tool(owner, tool, at_ns=how.end_ns, incomplete=reason)
        for record in owner.discoveries.values():
            _say_how(record, how, ended=False)
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


class _Closing(NamedTuple):
    """How something is closed; see `Sealer.close_owner`."""

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


def _break_off(record: Record, end_ns: int | None, incomplete: str | None) -> None:
    """End what has no end of its own: how long it took is known where it failed."""
    record.end_ns = end_ns
    record.timed = record.error_type is not None
    if incomplete:
        record.unfinished(incomplete)


def _say_how(record: Record, how: _Closing, *, ended: bool) -> None:
    """Note that what is closed is paused, or why it failed where it has not `ended`."""
    if how.paused:
        record.attributes[semconv.PAUSED] = True
    elif how.failure is not None and not ended:
        kind, text = how.failure
        record.fail(kind, None if text is None else scrub(text))
