"""Tell the log what stands on no span, in the context it belongs to; without a log it is counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from opentelemetry.trace import SpanContext

from atifold.emit.ended import Ended, EndedChat
from atifold.emit.facts import moment_of, read_field
from atifold.emit.log import Log
from atifold.emit.record import Moment, Record
from atifold.emit.state import Chat, Owner, RunState, Tool
from atifold.events.envelope import Event, Meta

Fact = tuple[Moment, "SpanContext | None"]
"""What is told, and the span that it belongs to."""


class Unplaced:
    """Facts on their way to the log; they leave when the emitter's lock is released.

    Ended spans are remembered only while there is a log.
    """

    def __init__(
        self, counts: Counter[str], log: Log, runs: dict[str, RunState], by_stage: dict[tuple[str, str], Record]
    ) -> None:
        """Take where facts that nobody hears are counted, the log, and what is open."""
        self.log = log
        self.ended = Ended()
        self.said: list[Fact] = []
        self._counts = counts
        self._runs = runs
        self._by_stage = by_stage

    def clear(self) -> None:
        """Forget all."""
        self.ended.clear()
        self.said = []

    def take(self) -> list[Fact]:
        """Return what is to be told now."""
        said, self.said = self.said, []
        return said

    # ---- telling ---------------------------------------------------------------------------------

    def tell(self, event: Event[Any], *, counted_as: str = "facts_dropped") -> None:
        """Tell an event that no span takes."""
        if self.log.ready():
            call_id = read_field(event, "tool_call_id")
            self.said.append((moment_of(event), self.place(event.meta, str(call_id) if call_id else None)))
        else:
            self._counts[counted_as] += 1

    def tell_moment(self, moment: Moment, at: SpanContext | None) -> None:
        """Tell a fact that its span does not take."""
        if self.log.ready():
            self.said.append((moment, at))
        else:
            self._counts["facts_dropped"] += 1

    def tell_name(self, event: Event[Any], name: str) -> None:
        """Tell that there was an event of which nothing but its name may be said; uncounted where nobody hears."""
        if self.log.ready():
            self.said.append((Moment(name, event.meta.time_ns, {}, {}), self.place(event.meta)))

    def repeat(self, event: Event[Any], at: SpanContext | None) -> None:
        """Tell an event that stands on a span's attributes, where the catalogue's events are logged."""
        if self.log.catalogue and self.log.ready():
            self.said.append((moment_of(event), at))

    # ---- where it belongs ------------------------------------------------------------------------

    def place(self, meta: Meta, call_id: str | None = None) -> SpanContext | None:
        """Return the span that an envelope and a call's id name: open or ended, the nearest that is known."""
        run = self._runs.get(meta.run_id)
        tool = None if run is None or call_id is None else run.tool(call_id, meta.subflow_path)
        if tool is not None:
            return tool.record.at
        ended = self.ended
        found = None if call_id is None else ended.calls.get((meta.run_id, call_id))
        return found or self._stage(meta) or self._owner(run, meta)

    def _stage(self, meta: Meta) -> SpanContext | None:
        key = meta.run_id, meta.runtime_stage_id
        record = self._by_stage.get(key)
        return self.ended.stages.get(key) if record is None else record.at

    def _owner(self, run: RunState | None, meta: Meta) -> SpanContext | None:
        owner = None if run is None else run.owner(meta.subflow_path)
        if owner is not None and owner.record is not None:
            return owner.record.at
        ended = self.ended.runs.get(meta.run_id)
        return None if ended is None else ended.at

    # ---- what has ended --------------------------------------------------------------------------

    def chat_ended(self, run: RunState, chat: Chat) -> None:
        """Remember where an inference was."""
        if not self.log.ready():
            return
        at = chat.record.at
        if chat.stage_id:
            self.ended.add_stage(run.run_id, chat.stage_id, at)
        if chat.iteration is not None:
            self.ended.add_chat(run.run_id, chat.iteration, EndedChat(at, chat.response_id))

    def tool_ended(self, run: RunState, tool: Tool) -> None:
        """Remember where a tool ran."""
        if not self.log.ready():
            return
        at = tool.record.at
        if tool.stage_id:
            self.ended.add_stage(run.run_id, tool.stage_id, at)
        if tool.call_id:
            self.ended.add_call(run.run_id, run.session_id, tool.call_id, at)

    def owner_ended(self, owner: Owner) -> None:
        """Remember where an agent or composition was, and tell what waited for a next inference in vain."""
        record, run = owner.record, owner.run
        for moment in owner.waiting:
            self.tell_moment(moment, None if record is None else record.at)
        if record is None or not self.log.ready():
            return
        if owner.stage_id:
            self.ended.add_stage(run.run_id, owner.stage_id, record.at)
        self.ended.add_run(run.run_id, run.session_id, record.at)

    def run_ended(self, run: RunState) -> None:
        """Tell what waited for calls that never started, or had ended before."""
        agent = self.ended.runs.get(run.run_id)
        for call_id, moments in run.waiting.items():
            at = self.ended.calls.get((run.run_id, call_id)) or (None if agent is None else agent.at)
            for moment in moments:
                self.tell_moment(moment, at)
