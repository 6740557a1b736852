"""Have traces folded together that refer to each other, or name one conversation or session."""

from __future__ import annotations

from collections.abc import Mapping

from atifold.assemble.references import conversation, linked_traces, resumed_trace, session
from atifold.assemble.remembered import Remembered
from atifold.assemble.sessions import Sessions
from atifold.assemble.trace import Trace, join
from atifold.spans import Span


class Tying:
    """Tie traces by what their spans and records say, as these come.

    What a trace refers to and is not at hand waits under its id, a conversation always under its name.
    """

    def __init__(self, traces: Mapping[str, Trace], past: Remembered, *, by_conversation: bool) -> None:
        """Take the traces at hand, what was let go, and whether a conversation's traces are folded together."""
        self._traces = traces
        self._past = past
        self._by_conversation = by_conversation
        self._keys: dict[str, Trace] = {}
        self._sessions = Sessions()

    def welcome(self, trace: Trace) -> None:
        """Tie a new trace to the one that waits for it."""
        waiting = self._keys.get(trace.id)
        if waiting is not None:
            join(waiting, trace)

    def tie_span(self, trace: Trace, span: Span) -> None:
        """Tie a trace by what one of its spans says."""
        self._tie_session(trace, session(span))
        for other in (resumed_trace(span), *linked_traces(span, by_conversation=self._by_conversation)):
            if other is not None and other != trace.id:
                self._tie(trace, other)
        self._tie_conversation(trace, conversation(span) if self._by_conversation else None)

    def tie_record(self, trace: Trace, named: str | None) -> None:
        """Tie a trace by the session that one of its log records names; where asked for, that is a conversation too."""
        self._tie_session(trace, named)
        self._tie_conversation(trace, named if self._by_conversation else None)

    def forget(self, trace: Trace, last_part: int) -> None:
        """Let go of a trace, of which `last_part` is the last that was written."""
        self._sessions.forget(trace)
        for key in trace.keys:
            del self._keys[key]
            if trace.lasting:
                self._past.let_go(key, last_part)

    def _tie_session(self, trace: Trace, named: str | None) -> None:
        """Have the records of a session that name no trace folded with the traces that name the session."""
        for other in self._sessions.with_records(trace, named):
            join(trace, other)
            trace.lasting = other.lasting = True

    def _tie_conversation(self, trace: Trace, named: str | None) -> None:
        if named is not None:
            trace.lasting = True
            self._tie(trace, f"conversation {named}")

    def _tie(self, trace: Trace, key: str) -> None:
        other = self._traces.get(key) or self._keys.get(key)
        if other is not None:
            join(trace, other)
            return
        self._keys[key] = trace
        trace.keys.append(key)
        last_part = self._past.take_up(key) if trace.lasting else None
        if last_part is not None:
            trace.group.part = max(trace.group.part, last_part + 1)
