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

_Place = tuple[str, "SpanKey | None", str]


class Told:
    """Know the calls of which a span told.

    A second span is of the same call when it is of another dialect, of the same tool and parent, one ran
    within the other's time, and nothing that both tell differs. Of one dialect two such spans are two calls.
    """

    def __init__(self, asked: Iterable[Asked]) -> None:
        """Take the calls that have a span."""
        self._by_place: dict[_Place, list[Asked]] = defaultdict(list)
        self._dialects: dict[int, set[str]] = defaultdict(set)
        for each in {id(each): each for each in asked}.values():
            self.add(each)

    def add(self, asked: Asked) -> None:
        """Take in one more call; one without a span tells nothing."""
        if asked.span is not None:
            self._by_place[_place(asked.span)].append(asked)
            self._dialects[id(asked)].add(asked.span.dialect)

    def again(self, tool: ToolCall) -> Asked | None:
        """Return the call that a span tells of once more, None for a call of its own."""
        for asked in self._by_place.get(_place(tool), ()):
            if tool.dialect not in self._dialects[id(asked)] and _is_same(asked, tool):
                self._dialects[id(asked)].add(tool.dialect)
                return asked
        return None


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
