"""Find the call that the span of a tool tells of again: two instrumentations told of it, side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from atifold.calls import MISSING, ToolCall
from atifold.fold.messages import arguments_mark, plain_id, result_text
from atifold.fold.toolcalls import Asked
from atifold.jsontext import parsed
from atifold.nesting import is_within
from atifold.spans import SpanKey
from atifold.times import NS_PER_MS

_Place = tuple[str, "SpanKey | None", str]


class Retellings:
    """Know the calls of which a span told, to tell a call of its own from one that is told again.

    It is told again by a span of the same id and tool within one step, by one that was exported under another
    id, and by one of another dialect of the same tool and parent, where one ran within the other's time and
    nothing that both tell differs. Of one dialect two such spans are two calls.
    """

    def __init__(self, asked: Iterable[Asked]) -> None:
        """Take the calls that spans were bound to."""
        self._by_export: dict[tuple[object, ...], Asked] = {}
        self._by_id: dict[tuple[str, str, int | None], Asked] = {}
        self._by_place: dict[_Place, list[Asked]] = defaultdict(list)
        self._dialects: dict[int, set[str]] = defaultdict(set)
        for each in asked:
            if each.span is not None:
                self._put(each.span, each)

    def add(self, tool: ToolCall, step: int | None, asked: Asked) -> None:
        """Take in the call of a span that ran in a step, None for before all."""
        self._put(tool, asked)
        if tool.id:
            self._by_id[tool.id, tool.tool, step] = asked

    def again(self, tool: ToolCall, step: int | None) -> Asked | None:
        """Return the call that a span tells of once more, None for a call of its own."""
        known = self._by_export.get(_export(tool))
        if known is None and tool.id:
            known = self._by_id.get((tool.id, tool.tool, step))
        return known or self._of_another_dialect(tool)

    def _put(self, span: ToolCall, asked: Asked) -> None:
        self._by_export[_export(span)] = asked
        if id(asked) not in self._dialects:
            self._by_place[_place(span)].append(asked)
        self._dialects[id(asked)].add(span.dialect)

    def _of_another_dialect(self, tool: ToolCall) -> Asked | None:
        for asked in self._by_place.get(_place(tool), ()):
            if tool.dialect not in self._dialects[id(asked)] and _is_same(asked, tool):
                self._dialects[id(asked)].add(tool.dialect)
                return asked
        return None


def _export(tool: ToolCall) -> tuple[object, ...]:
    """Return what two spans share that are one, exported under two ids: all that they tell, both times too.

    Two that tell nothing share their times by chance where the clock counts milliseconds.
    """
    says_something = tool.id or tool.arguments is not MISSING or tool.result is not MISSING
    if not says_something and not (tool.start_ns % NS_PER_MS or (tool.end_ns or 0) % NS_PER_MS):
        return tool.key
    told = (arguments_mark(tool.arguments), result_text(tool.result) if tool.result is not MISSING else None)
    return tool.key[0], tool.parent, tool.id, tool.tool, tool.start_ns, tool.end_ns, *told


def _place(tool: ToolCall) -> _Place:
    return tool.key[0], tool.parent, tool.tool


def _is_same(asked: Asked, tool: ToolCall) -> bool:
    span = asked.span
    if span is None or not (is_within(span, tool) or is_within(tool, span)):
        return False
    if asked.id and tool.id and plain_id(asked.id) != plain_id(tool.id):
        return False
    given = span.arguments if asked.arguments is MISSING else asked.arguments
    if MISSING not in (given, tool.arguments) and arguments_mark(given) != arguments_mark(tool.arguments):
        return False
    return MISSING in (span.result, tool.result) or _plain(span.result) == _plain(tool.result)


def _plain(result: object) -> str:
    """Return a result as a text, without the quotes that JSON puts around one."""
    text = result_text(result)
    inner = parsed(text) if text.startswith('"') else None
    return inner if isinstance(inner, str) else text
