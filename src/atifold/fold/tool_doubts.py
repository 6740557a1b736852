"""Tell which tool calls may be told elsewhere too, where what ties a call's tellings together is lost.

A call may be told by a model's request, by spans, and by later requests that repeat the first. Only the request
proves a call of its own: what a span or a repetition alone tells is weak, and in doubt where another telling
fits that lacks what the weak one has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from atifold.calls import MISSING, AgentCall, Call, ModelCall, ToolCall, ToolRequest
from atifold.fold.messages import plain_id, requests_of
from atifold.fold.order import LOOK_BACK
from atifold.fold.toolcalls import Asked, Step
from atifold.nesting import may_share_a_place
from atifold.spans import SpanKey

_MOMENT_NS: Final = 1_000_000_000
_Telling = Asked | ToolCall | ToolRequest


class ToolDoubts:
    """Know all tellings of tool calls of a fold."""

    def __init__(self, calls: Mapping[SpanKey, Call]) -> None:
        """Take every call of the fold."""
        self._calls = calls
        self._spans: list[ToolCall] = []
        requests: list[ToolRequest] = []
        repeated: list[ToolRequest] = []
        found = list(calls.values())
        for call in found:
            if isinstance(call, ToolCall):
                self._spans.append(call)
            elif isinstance(call, ModelCall):
                requests += requests_of(call.output or ())
                repeated += requests_of((call.input or ())[-LOOK_BACK:])
            elif isinstance(call, AgentCall):  # its span may tell the calls of all its requests
                repeated += requests_of((*(call.input or ()), *(call.output or ())))
        self._pauses = any(call.paused or call.resumes is not None for call in found)
        self._requests = _by_name(requests)
        self._repeated = _by_name(repeated)
        self._spans_by_name = _by_name(self._spans)
        self._all_spans = {"": self._spans}
        asked = Counter(plain_id(request.id) for request in requests if request.id)
        ran = Counter(plain_id(span.id) for span in self._spans if span.id and not span.paused)
        told = {plain_id(request.id) for request in repeated if request.id}
        self._open_ids = {call_id for call_id, count in asked.items() if count > ran[call_id]}
        self._open_ids |= told - ran.keys()
        self._ids = asked.keys() | told

    def asked_again(self, call: ModelCall) -> int:
        """Return how many calls without an id an answer asks for that fit one with an id, or one that was shown to it.

        What is written onto the span around several requests stays there until the next one overwrites it.
        """
        new = [request for request in requests_of(call.output or ()) if not request.id]
        shown = list(requests_of(call.input or ())) if new else []
        named = (chain(shown, (r for r in _fitting(self._requests, request.name) if r.id)) for request in new)
        return sum(any(_fits(request, other) for other in known) for request, known in zip(new, named, strict=True))

    def told_elsewhere(self, weak: Asked, step: Step, own: Sequence[Asked]) -> bool:
        """Tell whether a call of a step that no answer asked for may be another one; `own` are its document's."""
        if weak.replayed:
            return self._repeats(weak, step, own)
        return self._was_asked(weak) or self._ran_elsewhere(weak)

    def _repeats(self, weak: Asked, step: Step, own: Sequence[Asked]) -> bool:
        """Tell whether a request that only a repetition tells may be one that is told elsewhere, without its id."""
        beside = (asked for asked in step.asked if not asked.replayed)
        if any(asked.name == weak.name or not (asked.name and asked.id) for asked in beside):
            return True
        others = chain((asked for asked in own if asked is not weak), _fitting(self._requests, weak.name))
        return any(_may_be_one(weak, other) for other in others)

    def _was_asked(self, weak: Asked) -> bool:
        """Tell whether a model asked for what a span alone tells here: by id, or by what else both say.

        Ids that only spans have, or only requests, tell nothing: some writers give each its own.
        """
        if weak.id and plain_id(weak.id) in self._ids:
            return True
        requests = chain(_fitting(self._requests, _name(weak)), _fitting(self._repeated, _name(weak)))
        return any(self._is_open(request) and _fits(weak, request) for request in requests)

    def _is_open(self, request: ToolRequest) -> bool:
        """Tell whether no span has the id of a request."""
        return not request.id or plain_id(request.id) in self._open_ids

    def _ran_elsewhere(self, weak: Asked) -> bool:
        """Tell whether another span may tell of the same call: at the same time, or as the part before a pause."""
        span = weak.span
        if span is None:
            return False
        others = (other for other in _fitting(self._spans_by_name, _name(weak)) if other.key != span.key)
        return any(self._is_export(span, o) or (_may_be_one(span, o) and self._ran_together(span, o)) for o in others)

    def _is_export(self, one: ToolCall, other: ToolCall) -> bool:
        """Tell whether two spans may be one that was exported under two ids, of which one has lost something."""
        if one.end_ns is None or one.end_ns <= one.start_ns or not _same_or_unknown(one.id, other.id):
            return False
        alike = (one.key[0], one.name, one.start_ns, one.end_ns) == (
            other.key[0], other.name, other.start_ns, other.end_ns,
        )  # fmt: skip
        return alike and may_share_a_place(one, other, self._calls)

    def _ran_together(self, one: ToolCall, other: ToolCall) -> bool:
        """Tell whether two spans' times are those of one call.

        With one id they are one; else they share some time, or where agents pause are before and after it.
        Where neither has an id, as one writer leaves them all out, both times are the same to the nanosecond.
        """
        if (one.id and other.id) or (self._pauses and (one.id or other.id or one.paused or other.paused)):
            return True
        if one.sequence is not None and other.sequence is not None:
            return True  # their emitter gives every call its id: one was lost
        if one.id or other.id:
            return _share_time(one, other) or _complete_each_other(one, other)
        return (one.start_ns, one.end_ns) == (other.start_ns, other.end_ns)


def _by_name(tellings: Iterable[Any]) -> Mapping[str, Sequence[Any]]:
    """Return tellings by what their tools are called; those of which that is not plain are under ""."""
    found: dict[str, list[Any]] = defaultdict(list)
    for telling in tellings:
        found[_name(telling)].append(telling)
    return found


def _fitting(tellings: Mapping[str, Sequence[Any]], name: str) -> Iterator[Any]:
    """Return the tellings whose name may be this one."""
    if not name:
        return chain.from_iterable(tellings.values())
    return chain(tellings.get(name, ()), tellings.get("", ()))


def _name(telling: _Telling) -> str:
    """Return what a tool is called, "" where only the name of its span is known."""
    if isinstance(telling, Asked):
        return "" if telling.span is not None and telling.name == telling.span.name else telling.name
    if isinstance(telling, ToolCall):
        return "" if telling.tool == telling.name else telling.tool
    return telling.name


def _may_be_one(one: _Telling, other: _Telling) -> bool:
    """Tell whether nothing that both of two tellings say differs."""
    return _same_or_unknown(one.id, other.id) and _fits(one, other)


def _same_or_unknown(one: str | None, other: str | None) -> bool:
    return not (one and other) or plain_id(one) == plain_id(other)


def _fits(one: _Telling, other: _Telling) -> bool:
    """Tell whether neither name nor arguments, where both of two tellings say them, differ."""
    if _name(one) and _name(other) and _name(one) != _name(other):
        return False
    given, taken = one.arguments, other.arguments
    known = given is not MISSING and taken is not MISSING and bool(given) and bool(taken)
    return not known or _one_holds_the_other(given, taken)


def _one_holds_the_other(given: Any, taken: Any) -> bool:
    if isinstance(given, Mapping) and isinstance(taken, Mapping):
        both = given.keys() & taken.keys()
        return len(both) == min(len(given), len(taken)) and all(given[name] == taken[name] for name in both)
    return bool(given == taken)


def _complete_each_other(one: ToolCall, other: ToolCall) -> bool:
    """Tell whether one span has the id of a call that was left, and the other, which has none, a result."""
    called, answered = (one, other) if one.id else (other, one)
    return not answered.id and called.result is MISSING and answered.result is not MISSING


def _share_time(one: ToolCall, other: ToolCall) -> bool:
    """Tell whether two spans share some time; what a record tells, which has no length, comes a moment later."""
    first, second = sorted((one, other), key=lambda span: (span.start_ns, -(span.end_ns or span.start_ns)))
    slack = _MOMENT_NS if second.end_ns == second.start_ns else 0
    return first.end_ns is None or second.start_ns <= first.end_ns + slack
