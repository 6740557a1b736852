"""Emit the events of one execution of a tool."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

from atifold.bus.block import Block, error_type, reset
from atifold.bus.clock import now_ns
from atifold.jsontext import words

if TYPE_CHECKING:
    from atifold.bus.run import Run

_TOOL: ContextVar[str | None] = ContextVar("atifold_tool", default=None)


def current_tool() -> str | None:
    """Return the call id of the innermost `run.tool(...)` of this thread or task, None outside of one."""
    return _TOOL.get()


class ToolBlock(Block):
    """One execution of a tool: say with `result(...)` what it gave, or with `fail(...)` why not."""

    def __init__(self, run: Run, name: str, arguments: dict[str, Any], call_id: str) -> None:
        """Take the run, the tool's name, its arguments and the id of the call."""
        super().__init__(run.bus)
        self._run = run
        self.name = name
        self.arguments = arguments
        self.id = call_id
        self._stage_id = run.next_stage("tool-calls")
        self._started_ns = 0
        self._end: dict[str, Any] = {"result": None}
        self._error_type: str | None = None
        self._said = False
        self._token: Token[str | None] | None = None

    def result(self, value: object) -> None:
        """State what the tool gave: any JSON value; of several the last counts."""
        self._end = {"result": value}
        self._error_type = None
        self._said = True

    def fail(self, text: str, *, type: str | None = None) -> None:  # noqa: A002  the field's own word
        """State that the tool failed, with the text that the model reads; the run goes on."""
        self._end = {"result": text, "error": True}
        self._error_type = type
        self._said = True

    def _enter(self) -> None:
        self._started_ns = now_ns()
        fields = {"tool_name": self.name, "tool_call_id": self.id, "args": self.arguments}
        meta = self._run.meta(self._stage_id, self._started_ns)
        self.bus.emit_made("agentfootprint.stream.tool_start", fields, {}, meta)
        self._release = self.bus.activate(self._run.run_id, self._stage_id)
        self._token = _TOOL.set(self.id)

    def _leave(self, error: BaseException | None) -> None:
        self._deactivate()
        reset(self._token)
        if isinstance(error, GeneratorExit):
            if not self._said:
                self._end, self._error_type = {}, error_type(error)
        elif error is not None:
            self.fail(words(error), type=error_type(error))
        ended_ns = now_ns()
        duration_ms = (ended_ns - self._started_ns) // 1_000_000
        fields = {"tool_call_id": self.id, "duration_ms": duration_ms, **self._end}
        more: dict[str, Any] = {"atifold.last": True}
        if self._error_type is not None:
            more["atifold.errorType"] = self._error_type
        meta = self._run.meta(self._stage_id, ended_ns)
        self.bus.emit_made("agentfootprint.stream.tool_end", fields, more, meta)
