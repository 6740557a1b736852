"""Bring together what is told of one tool call: the model's request, the tool's span, the replay.

Matched by id, then by name and arguments, then by name in order, always nearest the step that was
running: ids may be missing, differ on both sides, or come back in later steps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from atifold.calls import MISSING, Message, ModelCall, Text, ToolCall, ToolRequest, ToolResponse
from atifold.fold.messages import arguments_mark, is_placeholder, plain_id, requests_of, result_text, spoken, text_of
from atifold.spans import SpanKey
from atifold.times import microseconds

_ASKS_TOOLS: Final = frozenset(("tool_calls", "tool_call", "tool_use", "function_call", "tool-calls"))


@dataclass(slots=True, eq=False)
class Asked:
    """One tool call of a step.

    `span` is the tool's own record, `told` the result as the next request shows it to the model,
    `inline` one that stands beside the request.
    """

    id: str | None = None
    name: str = ""
    arguments: Any = MISSING
    extra: dict[str, Any] = field(default_factory=dict)
    span: ToolCall | None = None
    told: ToolResponse | None = None
    inline: ToolResponse | None = None

    @classmethod
    def of(cls, request: ToolRequest) -> Asked:
        """Return the call that a model asked for."""
        return cls(request.id, request.name, request.arguments, dict(request.extra))

    def bind(self, span: ToolCall) -> None:
        """Take in the tool's span; of several the one with the better result counts."""
        if self.span is None or (is_placeholder(self.span.result) and not is_placeholder(span.result)):
            self.span = span if self.span is None else _completed(span, self.span)
        self.name = self.name or span.tool
        self.id = self.id or span.id

    @property
    def result(self) -> Any:
        """Return the most trusted result, MISSING where none is known: a placeholder only at need."""
        if self.span is not None and not is_placeholder(self.span.result):
            return self.span.result
        told = [self.span.result] if self.span else []
        told += [response.result for response in (self.told, self.inline) if response]
        known = [result for result in told if result is not MISSING]
        return next((result for result in known if not is_placeholder(result)), known[0] if known else MISSING)


def _completed(span: ToolCall, other: ToolCall) -> ToolCall:
    """Return a tool's span with what only another span of the same call tells."""
    arguments = other.arguments if span.arguments is MISSING else span.arguments
    failure = span.failure if other.paused else span.failure or other.failure
    return replace(span, arguments=arguments, failure=failure, extra={**other.extra, **span.extra})


@dataclass(slots=True, eq=False)
class Step:
    """One step in the making.

    `messages` hold its text; `call` is the inference of an agent step, None where there was none or
    it is not known; `counted` is what llm_call_count will be (None: not tracked). `loose` are
    results that belong to no call. `subagents` name what a system step refers to. `claimed` are the
    metrics that only the agent's own span tells, for all of its run.
    """

    source: str
    time_ns: int
    messages: tuple[Message, ...] = ()
    call: ModelCall | None = None
    asked: list[Asked] = field(default_factory=list)
    counted: int | None = None
    copied: bool = False
    agent: str | None = None
    loose: list[ToolResponse] = field(default_factory=list)
    subagents: tuple[str, ...] = ()
    claimed: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def may_have_asked_more(self) -> bool:
        """Tell whether the model may have asked for calls that its captured output does not show."""
        if self.call is None or self.copied:
            return False
        if self.call.output is None or not (self.messages or self.asked):
            return True
        return not self.asked and any(str(r).lower() in _ASKS_TOOLS for r in self.call.finish_reasons)


class _Free:
    """Calls that nothing was given to yet, in order; an index is made when it is first asked for."""

    def __init__(self, calls: Iterable[Asked]) -> None:
        self._calls = list(calls)
        self._taken: set[int] = set()
        self._queues: dict[Callable[[Asked], Any], dict[Any, deque[Asked]]] = {}

    def first(self, mark_of: Callable[[Asked], Any], mark: Any) -> Asked | None:
        """Return the first free call of which `mark_of` gives the mark; a mark of None is none."""
        if mark_of not in self._queues:
            self._queues[mark_of] = self._index(mark_of)
        queue = self._queues[mark_of].get(mark)
        while queue and id(queue[0]) in self._taken:
            queue.popleft()
        return queue[0] if queue else None

    def take(self, asked: Asked) -> None:
        """Note that a call is no longer free."""
        self._taken.add(id(asked))

    def _index(self, mark_of: Callable[[Asked], Any]) -> dict[Any, deque[Asked]]:
        queues: dict[Any, deque[Asked]] = defaultdict(deque)
        for asked in self._calls:
            if id(asked) not in self._taken and (mark := mark_of(asked)) is not None:
                queues[mark].append(asked)
        return queues


def _any(_asked: Asked) -> bool:
    return True


def _plain_id(asked: Asked) -> str | None:
    return plain_id(asked.id) if asked.id else None


def _name(asked: Asked) -> str:
    return asked.name


def _name_and_arguments(asked: Asked) -> tuple[str, str]:
    return asked.name, arguments_mark(asked.arguments)


def _name_alone(asked: Asked) -> str | None:
    return asked.name if asked.arguments is MISSING else None


def take_replay(steps: Sequence[Step], messages: Sequence[Message]) -> None:
    """Fill in the last answer from its replay in the next request: lost calls, ids and texts.

    A text is taken over only from a replay that shows the calls too, or for an answer of which
    nothing was captured: some frameworks replay calls as a text of their own making.
    """
    free = _Free(asked for step in steps for asked in step.asked)
    requests = requests_of(messages)
    for request in requests:
        asked = _repeated(free, request)
        if asked is None:
            steps[-1].asked.append(Asked.of(request))
            continue
        free.take(asked)
        asked.id = asked.id or request.id
        if asked.arguments is MISSING:
            asked.arguments = request.arguments
    last = steps[-1]
    if not last.messages:
        last.messages = tuple(messages)
    elif requests and not text_of(last.messages):
        last.messages += tuple(Message(m.role, tuple(p for p in m.parts if isinstance(p, Text))) for m in messages)


def _repeated(free: _Free, request: ToolRequest) -> Asked | None:
    """Return the call that a replayed request repeats, None for one not seen before."""
    by_id = free.first(_plain_id, plain_id(request.id)) if request.id else None
    if by_id is not None or free.first(_name, request.name) is None:
        return by_id
    equal = free.first(_name_and_arguments, (request.name, arguments_mark(request.arguments)))
    return equal or free.first(_name if request.arguments is MISSING else _name_alone, request.name)


class Results:
    """Give tool results of the history to the calls that they answer."""

    def __init__(self) -> None:
        """Start with no step known."""
        self._steps: list[Step] = []
        self._by_id: dict[str, list[Asked]] = defaultdict(list)
        self._indexed = 0

    def know(self, step: Step) -> None:
        """Take in a step, so that late results find its calls."""
        self._steps.append(step)

    def give(self, steps: Sequence[Step], responses: Sequence[ToolResponse]) -> int:
        """Attach results: first by id, then by name and by order among the calls of `steps`.

        Returns how many could not be kept, for want of a step.
        """
        free = _Free(asked for step in steps for asked in step.asked if asked.told is None)
        rest = [response for response in responses if not self._by_own_id(free, response)]
        for response in rest:
            asked = free.first(_name, response.name) if response.name else free.first(_any, mark=True)
            if asked is not None:
                free.take(asked)
                asked.told = response
            elif steps:
                self._unasked(steps[-1], response)
        return 0 if steps else len(rest)

    def _by_own_id(self, free: _Free, response: ToolResponse) -> bool:
        """Attach a result whose id is known; tell whether it is done."""
        if not response.id:
            return False
        wanted = plain_id(response.id)
        asked = free.first(_plain_id, wanted) or self._late(wanted)
        if asked is None:
            return False
        free.take(asked)
        asked.told = response
        return True

    def _late(self, wanted: str) -> Asked | None:
        """Return the latest call of an id, among all steps, that has no result yet."""
        for step in self._steps[self._indexed :]:
            for asked in step.asked:
                if asked.id:
                    self._by_id[plain_id(asked.id)].append(asked)
        self._indexed = len(self._steps)
        known = self._by_id.get(wanted, [])
        while known and known[-1].told is not None:  # a call keeps its result: it need not be looked at again
            known.pop()
        return known[-1] if known else None

    def _unasked(self, step: Step, response: ToolResponse) -> None:
        """Keep a result that nobody is known to have asked for."""
        if response.id and (response.name or step.may_have_asked_more):
            step.asked.append(Asked(response.id, response.name or "", told=response))
        else:
            step.loose.append(response)


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
        self._by_id: dict[str, list[tuple[int, Asked]]] = defaultdict(list)
        self._by_told: dict[tuple[str, str], list[tuple[int, Asked]]] = defaultdict(list)
        self._by_name: dict[str, list[tuple[int, Asked]]] = defaultdict(list)
        for at, step in [*((-1, step) for step in earlier), *enumerate(steps)]:
            for asked in step.asked:
                if asked.id:
                    self._by_id[plain_id(asked.id)].append((at, asked))
        self.bound: dict[SpanKey, Asked] = {}

    def bind(self, tools: Sequence[ToolCall]) -> list[ToolCall]:
        """Bind spans, given in order of time; return those that no step asked for."""
        rest = [tool for tool in tools if not self._bind_by_id(tool)]
        if not rest:
            return []
        self._know_names()
        rest = [tool for tool in rest if not self._bind_one(tool, self._told(tool))]
        rest = [tool for tool in rest if not self._bind_one(tool, self._by_name.get(tool.tool, []))]
        return [tool for tool in rest if tool.tool or not self._bind_one(tool, self._nameless(tool))]

    def _know_names(self) -> None:
        """Note the calls by name, and by name with what else a span may show."""
        for at, step in enumerate(self._steps):
            for asked in step.asked:
                self._by_name[asked.name].append((at, asked))
                for mark in _argument_marks(asked):
                    self._by_told[asked.name, mark].append((at, asked))

    def home(self, tool: ToolCall) -> int | None:
        """Return the place of the step that a tool ran in: its parent's, else the last one begun."""
        if tool.parent in self._place:
            return self._place[tool.parent]
        at = bisect_right(self._starts, microseconds(tool.start_ns)) - 1
        return at if at >= 0 else None

    def _bind_by_id(self, tool: ToolCall) -> bool:
        """Bind a span whose id is known; a second span of a call is merged into it."""
        known = self._by_id.get(plain_id(tool.id), []) if tool.id else []
        if len(known) == 1 and known[0][1].span is None:
            self._take(known[0][1], tool)
            return True
        if self._bind_one(tool, known):
            return True
        same = [asked for _, asked in known if asked.span and asked.span.tool == tool.tool]
        if not same:
            return False
        self._take(same[-1], tool)
        return True

    def _told(self, tool: ToolCall) -> list[tuple[int, Asked]]:
        """Return the calls of a span's name and arguments; without arguments, of its name and result."""
        if tool.arguments is not MISSING:
            return self._by_told.get((tool.tool, arguments_mark(tool.arguments)), [])
        if tool.result is MISSING:
            return []
        return self._by_told.get((tool.tool, "result " + spoken(result_text(tool.result))), [])

    def _nameless(self, tool: ToolCall) -> list[tuple[int, Asked]]:
        """Return the calls of the step that a span without a name ran in."""
        at = self.home(tool)
        return [] if at is None else [(at, asked) for asked in self._steps[at].asked]

    def _bind_one(self, tool: ToolCall, known: Sequence[tuple[int, Asked]]) -> bool:
        """Bind a span to the free call nearest its time: in its step, else before, else after it."""
        home = self.home(tool)
        home = -1 if home is None else home
        until = bisect_right(known, home, key=lambda pair: pair[0])
        asked = self._free(known, until)
        if asked is None:
            return False
        self._take(asked, tool)
        return True

    def _free(self, known: Sequence[tuple[int, Asked]], until: int) -> Asked | None:
        """Return the first free call of the latest step before the place `until`, else the first after it."""
        at = until - 1
        while at >= 0 and known[at][1].span is not None:
            at -= 1
        if at >= 0:
            while at > 0 and known[at - 1][0] == known[at][0] and known[at - 1][1].span is None:
                at -= 1
            return known[at][1]
        return next((asked for _, asked in known[until:] if asked.span is None), None)

    def _take(self, asked: Asked, tool: ToolCall) -> None:
        """Bind a span to a call."""
        asked.bind(tool)
        self.bound[tool.key] = asked


def _argument_marks(asked: Asked) -> Iterator[str]:
    """Yield what a span of a call may show: its arguments, a lone argument's value, or its result."""
    yield arguments_mark(asked.arguments)
    if isinstance(asked.arguments, Mapping) and len(asked.arguments) == 1:
        value = next(iter(asked.arguments.values()))
        if not isinstance(value, Mapping):
            yield arguments_mark(value)
    if asked.told is not None and asked.told.result is not MISSING:
        yield "result " + spoken(result_text(asked.told.result))


def unasked(tool: ToolCall) -> Asked:
    """Return the call of a tool span that no model asked for."""
    asked = Asked(tool.id, tool.tool, tool.arguments)
    asked.bind(tool)
    return asked
