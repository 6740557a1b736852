"""Know which traces name which session, so that log records without a trace find them."""

from __future__ import annotations

from collections.abc import Sequence

from atifold.assemble.trace import Trace


class Sessions:
    """An index of the traces at hand by the sessions that their spans and records name."""

    def __init__(self) -> None:
        """Start with none."""
        self._traces: dict[str, dict[str, Trace]] = {}
        self._records: dict[str, Trace] = {}

    @staticmethod
    def trace_id(session: str) -> str:
        """Return the id under which the records of a session that name no trace are kept; no trace has such a one."""
        return f"session {session}"

    def with_records(self, trace: Trace, session: str | None) -> Sequence[Trace]:
        """Note that a trace names a session (None: none); return which others it has to be folded with.

        For the session's records without a trace these are all its traces, for a trace these records:
        traces alone are not tied.
        """
        if session is None or session in trace.sessions:
            return ()
        trace.sessions.add(session)
        if trace.sessional:
            self._records[session] = trace
            return tuple(self._traces.get(session, {}).values())
        self._traces.setdefault(session, {})[trace.id] = trace
        records = self._records.get(session)
        return () if records is None else (records,)

    def forget(self, trace: Trace) -> None:
        """Let go of a trace."""
        for session in trace.sessions:
            if trace.sessional:
                del self._records[session]
                continue
            known = self._traces[session]
            del known[trace.id]
            if not known:
                del self._traces[session]
