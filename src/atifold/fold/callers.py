"""Find the tool call that an agent answers which ran beside it, and not below it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from atifold.calls import ToolCall
from atifold.fold.continuity import Piece
from atifold.spans import SpanKey


class _Spans:
    """Tool calls in order of their start, and how far those up to each one reach."""

    def __init__(self) -> None:
        self._tools: list[ToolCall] = []
        self._starts: list[int] = []
        self._reach: list[int] = []

    def add(self, tool: ToolCall) -> None:
        """Add a call that starts no earlier than the last one."""
        end_ns = tool.end_ns or tool.start_ns
        self._tools.append(tool)
        self._starts.append(tool.start_ns)
        self._reach.append(max(end_ns, self._reach[-1]) if self._reach else end_ns)

    def around(self, piece: Piece) -> Iterator[ToolCall]:
        """Yield the calls within whose time a piece ran, the last that began first."""
        at = bisect_right(self._starts, piece.start_ns) - 1
        while at >= 0 and self._reach[at] >= piece.end_ns:
            tool = self._tools[at]
            if piece.end_ns <= (tool.end_ns or tool.start_ns):
                yield tool
            at -= 1


class Callers:
    """Find the tool call that an agent beside it answers.

    Known by content and time together: the agent ran within the tool's time, and its user text is
    an argument string of the call, or its answer the call's result.
    """

    def __init__(self, tools: Sequence[ToolCall]) -> None:
        """Take the tool calls that may have called an agent."""
        self._by_text: dict[str, _Spans] = {}
        for tool in sorted(tools, key=lambda tool: (tool.start_ns, tool.key)):
            for text in {*_strings(tool.arguments), *_strings(tool.result)}:
                self._by_text.setdefault(text, _Spans()).add(tool)

    def of(self, asked: str, answered: str, piece: Piece) -> SpanKey | None:
        """Return the key of the call that `piece` answers, None where there is none."""
        candidates = [self._by_text[text] for text in (answered, asked) if text in self._by_text]
        if not candidates:
            return None
        own = {call.key for call in piece.tools}
        around = (tool for spans in candidates for tool in spans.around(piece) if tool.key not in own)
        return next((tool.key for tool in around), None)


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value that says something."""
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
