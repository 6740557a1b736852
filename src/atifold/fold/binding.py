"""Bind the spans of tools to the calls that steps ask for.

By id, then by name and arguments, then by name in order; always nearest the step that was running,
for ids and names come back in later steps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from atifold.calls import MISSING, ToolCall
from atifold.fold.messages import arguments_mark, plain_id, result_text, spoken
from atifold.fold.toolcalls import Asked, Step
from atifold.spans import SpanKey
from atifold.times import microseconds


class _Known:
    """Calls that one span may mean, in order of their steps; what is bound is passed over once."""

    def __init__(self) -> None:
        self._places: list[int] = []
        self._calls: list[Asked] = []
        self._first: dict[int, int] = {}
        self._below: dict[int, int] = {}
        self._above: dict[int, int] = {}

    def add(self, place: int, asked: Asked) -> None:
        """Add a call of the step at `place`; steps come in order."""
        self._first.setdefault(place, len(self._calls))
        self._places.append(place)
        self._calls.append(asked)

    def latest(self, home: int) -> Asked | None:
        """Return the last call of the steps up to `home`."""
        until = bisect_right(self._places, home)
        return self._calls[until - 1] if until else None

    def last_of(self, tool: str) -> Asked | None:
        """Return the last call that a span of a tool is bound to."""
        return next((a for a in reversed(self._calls) if a.span and a.span.tool == tool), None)

    def free(self, home: int) -> Asked | None:
        """Return the first free call of the latest step up to `home`, else the first after it."""
        until = bisect_right(self._places, home)
        at = self._next(until - 1, -1, self._below)
        if at >= 0:
            return self._calls[self._next(self._first[self._places[at]], 1, self._above)]
        at = self._next(until, 1, self._above)
        return self._calls[at] if at < len(self._calls) else None

    def _next(self, at: int, direction: int, known: dict[int, int]) -> int:
        """Return the nearest free place from `at` on; the way there is remembered."""
        path: list[int] = []
        while 0 <= at < len(self._calls) and self._calls[at].span is not None:
            path.append(at)
            at = known.get(at, at + direction)
        for passed in path:
            known[passed] = at
        return at


class Binding:
    """Bind tool spans to the calls of a thread's steps."""

    def __init__(self, steps: Sequence[Step], earlier: Sequence[Step] = ()) -> None:
        """Take the steps of model calls, in order; `earlier` ones, copied, are known by ids alone."""
        self._steps = steps
        self._place = {step.call.key: at for at, step in enumerate(steps) if step.call}
        self._starts: list[int] = []
        for step in steps:
            start = microseconds(step.time_ns)
            self._starts.append(max(start, self._starts[-1]) if self._starts else start)
        self._by_id: dict[str, _Known] = defaultdict(_Known)
        self._by_id_and_told: dict[tuple[str, str], _Known] = defaultdict(_Known)
        self._by_told: dict[tuple[str, str], _Known] = defaultdict(_Known)
        self._by_name: dict[str, _Known] = defaultdict(_Known)
        for at, step in [*((-1, step) for step in earlier), *enumerate(steps)]:
            self._know_ids(at, step)
        self.bound: dict[SpanKey, Asked] = {}

    def bind(self, tools: Sequence[ToolCall]) -> list[ToolCall]:
        """Bind spans, given in order of time; return those that no step asked for."""
        rest = [tool for tool in tools if not self._bind_by_id(tool)]
        if not rest:
            return []
        self._know_names()
        rest = [tool for tool in rest if not self._bind_one(tool, self._told(tool))]
        rest = [tool for tool in rest if not self._bind_one(tool, self._by_name.get(tool.tool))]
        return [tool for tool in rest if not (_is_silent(tool) and self._bind_one(tool, self._nameless(tool)))]

    def _know_ids(self, at: int, step: Step) -> None:
        """Note the calls of a step by id; where one id stands for several, also by their arguments."""
        several = len(step.asked) > 1
        counts = Counter(plain_id(asked.id) for asked in step.asked if asked.id) if several else Counter[str]()
        for asked in step.asked:
            if not asked.id:
                continue
            known = plain_id(asked.id)
            self._by_id[known].add(at, asked)
            if counts[known] > 1:
                self._by_id_and_told[known, arguments_mark(asked.arguments)].add(at, asked)

    def _know_names(self) -> None:
        """Note the calls by name, and by name with what else a span may show."""
        for at, step in enumerate(self._steps):
            for asked in step.asked:
                self._by_name[asked.name].add(at, asked)
                for mark in _argument_marks(asked):
                    self._by_told[asked.name, mark].add(at, asked)

    def home(self, tool: ToolCall) -> int | None:
        """Return the place of the step that a tool ran in: its parent's, else the last one begun."""
        if tool.parent in self._place:
            return self._place[tool.parent]
        at = bisect_right(self._starts, microseconds(tool.start_ns)) - 1
        return at if at >= 0 else None

    def _bind_by_id(self, tool: ToolCall) -> bool:
        """Bind a span whose id is known; a second span of a call is merged into it."""
        known = self._by_id.get(plain_id(tool.id)) if tool.id else None
        if known is None:
            return False
        waiting = known.latest(self._at(tool))
        if waiting is not None and waiting.span is not None and waiting.span.paused:
            self._take(waiting, tool)  # the end of a paused call, not the next one of its id
            return True
        if self._bind_one(tool, self._twice(tool)) or self._bind_one(tool, known):
            return True
        same = known.last_of(tool.tool)
        if same is None:
            return False
        self._take(same, tool)
        return True

    def _twice(self, tool: ToolCall) -> _Known | None:
        """Return the calls of a span's id and arguments, where one id stands for several in a step."""
        if not self._by_id_and_told:
            return None
        return self._by_id_and_told.get((plain_id(tool.id or ""), arguments_mark(tool.arguments)))

    def _told(self, tool: ToolCall) -> _Known | None:
        """Return the calls of a span's name and arguments; without arguments, of its name and result."""
        if tool.arguments is not MISSING:
            return self._by_told.get((tool.tool, arguments_mark(tool.arguments)))
        if tool.result is MISSING:
            return None
        return self._by_told.get((tool.tool, "result " + spoken(result_text(tool.result))))

    def _nameless(self, tool: ToolCall) -> _Known | None:
        """Return the calls of the step that a span which does not tell what it ran for ran in."""
        at = self.home(tool)
        if at is None:
            return None
        known = _Known()
        for asked in self._steps[at].asked:
            known.add(at, asked)
        return known

    def _at(self, tool: ToolCall) -> int:
        """Return the place of the step that a tool ran in, -1 for before all."""
        home = self.home(tool)
        return -1 if home is None else home

    def _bind_one(self, tool: ToolCall, known: _Known | None) -> bool:
        """Bind a span to the free call nearest its time: in its step, else before, else after it."""
        asked = known.free(self._at(tool)) if known else None
        if asked is None:
            return False
        self._take(asked, tool)
        return True

    def _take(self, asked: Asked, tool: ToolCall) -> None:
        """Bind a span to a call."""
        asked.bind(tool)
        self.bound[tool.key] = asked


def _is_silent(tool: ToolCall) -> bool:
    """Tell whether a span has no name, or nothing but a name, which nobody asked for, and did not fail."""
    told = tool.id or tool.failure or tool.arguments is not MISSING or tool.result is not MISSING
    return not tool.tool or not told


def _argument_marks(asked: Asked) -> Iterator[str]:
    """Yield what a span of a call may show: its arguments, a lone argument's value, or its result."""
    yield arguments_mark(asked.arguments)
    if isinstance(asked.arguments, Mapping) and len(asked.arguments) == 1:
        value = next(iter(asked.arguments.values()))
        if not isinstance(value, Mapping):
            yield arguments_mark(value)
    if asked.told is not None and asked.told.result is not MISSING:
        yield "result " + spoken(result_text(asked.told.result))
