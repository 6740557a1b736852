"""Bring together what is told of one tool call: the model's request, the tool's span, the replay.

Matched by id, then by name and arguments, then by name in order, always nearest the step that was
running: ids may be missing, differ on both sides, or come back in later steps.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from atifold.calls import MISSING, Media, Message, ModelCall, Reasoning, Text, ToolCall, ToolRequest, ToolResponse
from atifold.fold.messages import arguments_mark, is_placeholder, parts_of, plain_id, requests_of, text_of

_ASKS_TOOLS: Final = frozenset(("tool_calls", "tool_call", "tool_use", "function_call", "tool-calls"))


@dataclass(slots=True, eq=False)
class Asked:
    """One tool call of a step.

    `span` is the tool's own record, `told` the result as the next request shows it to the model,
    `inline` one that stands beside the request. `replayed` says that a later request alone tells of the call,
    `unasked` that its spans do.
    """

    id: str | None = None
    name: str = ""
    arguments: Any = MISSING
    extra: dict[str, Any] = field(default_factory=dict)
    span: ToolCall | None = None
    told: ToolResponse | None = None
    inline: ToolResponse | None = None
    replayed: bool = False
    unasked: bool = False

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
        return MISSING if self._answer is None else self._answer.result

    @property
    def shown(self) -> tuple[Text | Media, ...]:
        """Return the parts of a result that holds an image, where it is whole; empty for any other."""
        answers = (answer for answer in (self._answer, self.told, self.inline) if answer is not None)
        return next((answer.shown for answer in answers if answer.shown), ())

    @property
    def _answer(self) -> ToolCall | ToolResponse | None:
        """Return what tells the most trusted result."""
        told = [answer for answer in (self.span, self.told, self.inline) if answer and answer.result is not MISSING]
        return next((answer for answer in told if not is_placeholder(answer.result)), told[0] if told else None)


def _completed(span: ToolCall, other: ToolCall) -> ToolCall:
    """Return a tool's span with what only another span of the same call tells."""
    arguments = other.arguments if span.arguments is MISSING else span.arguments
    failure = span.failure if other.paused else span.failure or other.failure
    return replace(
        span,
        arguments=arguments,
        failure=failure,
        lookups=(*other.lookups, *span.lookups),
        scores=(*other.scores, *span.scores),
        extra={**other.extra, **span.extra},
    )


@dataclass(slots=True, eq=False)
class Step:
    """One step in the making.

    `messages` hold its text; `call` is the inference of an agent step, None where there was none or
    it is not known; `counted` is what llm_call_count will be (None: not tracked). `loose` are
    results that belong to no call. `subagents` name what a system step refers to, `shows`
    are its results. `claimed` are the metrics that only the agent's own span tells, for all of its run.
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
    shows: tuple[dict[str, Any], ...] = ()
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
    return asked.name if asked.arguments is MISSING or not asked.arguments else None


def take_replay(
    steps: Sequence[Step], messages: Sequence[Message], is_known: Callable[[ToolRequest], bool] = lambda _: False
) -> list[Asked]:
    """Fill in the last answer from its replay in the next request: lost calls, ids, texts and thoughts.

    A text is taken over only from a replay that shows the calls too, or for an answer of which
    nothing was captured: some frameworks replay calls as a text of their own making. `is_known` tells
    whether an earlier answer asked for a call: its turn was lost between two others. Returns the lost calls.
    """
    lost: list[Asked] = []
    free = _Free(asked for step in steps for asked in step.asked)
    requests = requests_of(messages)
    for request in requests:
        asked = _repeated(free, request)
        if asked is None:
            if not is_known(request):
                lost.append(replace(Asked.of(request), replayed=True))
            continue
        free.take(asked)
        asked.id = asked.id or request.id
        if asked.arguments is MISSING or not asked.arguments:
            asked.arguments = request.arguments
    last = steps[-1]
    last.asked += lost
    if not last.messages:
        last.messages = tuple(messages)
    elif requests and not text_of(last.messages):
        last.messages += tuple(Message(m.role, tuple(p for p in m.parts if isinstance(p, Text))) for m in messages)
    thoughts = tuple(parts_of(messages, Reasoning))
    if thoughts and not any(parts_of(last.messages, Reasoning)):
        last.messages = (Message("assistant", thoughts), *last.messages)
    return lost


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
        self._asked: dict[str, list[Asked]] = defaultdict(list)
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

    def is_known(self, request: ToolRequest) -> bool:
        """Tell whether a step asked for a call of the same id, name and arguments, as far as these are known."""
        known = self._with_id(request.id)
        return any(
            asked.name == request.name
            and (request.arguments is MISSING or arguments_mark(asked.arguments) == arguments_mark(request.arguments))
            for asked in known
        )

    def note(self, calls: Iterable[Asked]) -> None:
        """Take in calls that a step was found to have asked for."""
        for asked in calls:
            if asked.id:
                self._by_id[plain_id(asked.id)].append(asked)
                self._asked[plain_id(asked.id)].append(asked)

    def _with_id(self, call_id: str | None) -> Sequence[Asked]:
        """Return the calls of an id, among all steps."""
        for step in self._steps[self._indexed :]:
            self.note(step.asked)
        self._indexed = len(self._steps)
        return self._asked.get(plain_id(call_id), ()) if call_id else ()

    def _late(self, wanted: str) -> Asked | None:
        """Return the latest call of an id, among all steps, that has no result yet."""
        self._with_id(wanted)
        known = self._by_id.get(wanted, [])
        while known and known[-1].told is not None:  # a call keeps its result: it need not be looked at again
            known.pop()
        return known[-1] if known else None

    def _unasked(self, step: Step, response: ToolResponse) -> None:
        """Keep a result that nobody is known to have asked for, unless it was told before."""
        if any(asked.told and asked.told.result == response.result for asked in self._with_id(response.id)):
            return
        if response.id and (response.name or step.may_have_asked_more):
            step.asked.append(Asked(response.id, response.name or "", told=response, replayed=True))
        else:
            step.loose.append(response)


def unasked(tool: ToolCall) -> Asked:
    """Return the call of a tool span that no model asked for."""
    asked = Asked(tool.id, tool.tool, tool.arguments, unasked=True)
    asked.bind(tool)
    return asked
