"""Tell what may be one and the same call, where a trace has lost what would tell.

Nothing is joined on a suspicion: the calls stay apart, and the report says that they may be one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from atifold.calls import Call, ModelCall
from atifold.fold.messages import body_of, requests_of, spoken, text_of
from atifold.fold.tool_doubts import ToolDoubts
from atifold.fold.toolcalls import Step
from atifold.nesting import may_share_a_place, share_time
from atifold.spans import SpanKey

_SLACK_TOKENS: Final = 1
"""How many output tokens the spans of one streamed call may differ by."""


_BY_RECORDS: Final = frozenset({"claude-code", "codex", "gemini-cli"})
"""Programs that tell one call in spans and in log records, tied by ids alone."""


class Doubts:
    """Know all calls of a fold, and tell which of a document's may have been told elsewhere too."""

    def __init__(self, calls: Mapping[SpanKey, Call]) -> None:
        """Take every call of the fold."""
        self._calls = calls
        self._models: set[SpanKey] | None = None
        self._tools: ToolDoubts | None = None

    def models(self, models: Iterable[ModelCall]) -> int:
        """Return how many of some model calls may be the one around them or the one before them."""
        if self._models is None:
            self._models = _twins(self._calls)
        return sum(model.key in self._models for model in models)

    def tools(self, steps: Sequence[Step]) -> int:
        """Return how many tool calls may be others of the fold (`ToolDoubts`)."""
        calls = [step.call for step in steps if step.call is not None and not step.copied]
        nameless = [call for call in calls if any(not request.id for request in requests_of(call.output or ()))]
        weak = [(asked, step) for step in steps for asked in step.asked if asked.unasked or asked.replayed]
        if not weak and not nameless:
            return 0
        if self._tools is None:
            self._tools = ToolDoubts(self._calls)
        own = [asked for step in steps for asked in step.asked]
        told_again = sum(self._tools.asked_again(call) for call in nameless)
        return told_again + sum(self._tools.told_elsewhere(asked, step, own) for asked, step in weak)

    def surplus(self, models: Iterable[ModelCall]) -> int:
        """Return how many model calls may count too many tokens."""
        return sum(model.usage is not None and model.usage.surplus for model in models)

    def choices(self, models: Iterable[ModelCall]) -> int:
        """Return how many model calls have several answers that each ask for tools, and may be alternatives."""
        return sum(sum(bool(requests_of((answer,))) for answer in model.output or ()) > 1 for model in models)

    def stand_ins(self, steps: Iterable[Step]) -> int:
        """Return how many steps of an agent's own answer may be what a model call tells that no agent owns."""
        alone = [step for step in steps if step.source == "agent" and step.call is None and step.counted is None]
        alone = [step for step in alone if not step.copied]
        if not alone:
            return 0
        return len(alone) if any(isinstance(c, ModelCall) and c.parent is None for c in self._calls.values()) else 0


# ---- model calls ---------------------------------------------------------------------------------


def _twins(calls: Mapping[SpanKey, Call]) -> set[SpanKey]:
    """Return the keys of the model calls that may be another one."""
    models = sorted((c for c in calls.values() if isinstance(c, ModelCall)), key=lambda c: (c.start_ns, c.key))
    found = (_nested(models, calls), _side_by_side(models), _exported(models, calls), _recorded(models))
    return {model.key for model in chain.from_iterable(found)}


def _nested(models: Sequence[ModelCall], calls: Mapping[SpanKey, Call]) -> Iterator[ModelCall]:
    """Yield model calls that may be the one around them, as a framework tells what its provider does."""
    for model in models:
        outer = calls.get(model.parent) if model.parent else None
        if isinstance(outer, ModelCall) and (_count_alike(outer, model) or not _told_apart(outer, model, nested=True)):
            yield model


def _side_by_side(models: Sequence[ModelCall]) -> Iterator[ModelCall]:
    """Yield model calls that may be one before them of the same place."""
    for before, model in _neighbours(models, lambda call: (call.key[0], call.parent)):
        together = share_time(before, model) or _is_record(before, model)
        if _took_as_long(before, model) or (together and not _told_apart(before, model)):
            yield model
    for before, model in _neighbours(models, _request_of):
        if (_unanswered_call(before) or _unanswered_call(model)) and not _told_apart(before, model):
            yield model


def _exported(models: Sequence[ModelCall], calls: Mapping[SpanKey, Call]) -> Iterator[ModelCall]:
    """Yield model calls that may be one before them, exported with all around it under other ids."""
    for before, model in _neighbours(models, lambda call: (call.key[0], call.name, call.start_ns, call.end_ns)):
        if may_share_a_place(before, model, calls) and _took_as_long(before, model):
            yield model


def _recorded(models: Sequence[ModelCall]) -> Iterator[ModelCall]:
    """Yield model calls that log records may tell, and a span elsewhere too."""
    for record in [model for model in models if model.dialect in _BY_RECORDS]:
        if any(_may_be_recorded(record, model) for model in models):
            yield record


def _neighbours(
    models: Sequence[ModelCall], group_of: Callable[[ModelCall], Hashable]
) -> Iterable[tuple[ModelCall, ModelCall]]:
    """Yield each model call with the one before it of its group; a group of None is none."""
    last: dict[Hashable, ModelCall] = {}
    for model in models:
        group = group_of(model)
        if group is None:
            continue
        if group in last:
            yield last[group], model
        last[group] = model


def _request_of(call: ModelCall) -> Hashable:
    """Return what a call was asked in its place, None where that is not known."""
    return (call.key[0], call.parent, len(call.input), repr(call.input[-1])) if call.input else None


def _unanswered_call(call: ModelCall) -> bool:
    """Tell whether a call tells nothing of a response, nor of its failure."""
    return not call.output and call.usage is None and call.failure is None


def _may_be_recorded(record: ModelCall, span: ModelCall) -> bool:
    """Tell whether a call that records may tell can be one that a span elsewhere tells: its time, its prompt."""
    if record.key == span.key or (record.key[0], record.parent) == (span.key[0], span.parent):
        return False
    pairs = [(record.conversation, span.conversation), (_figures(record)[0], _figures(span)[0])]
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return False
    ends = [call.end_ns or call.start_ns for call in (record, span)]
    shared = min(ends) - max(record.start_ns, span.start_ns)
    return shared > 0 and shared * 2 >= min(ends[0] - record.start_ns, ends[1] - span.start_ns)


def _took_as_long(before: ModelCall, model: ModelCall) -> bool:
    """Tell whether two calls of one name share both times, to the nanosecond: one span exported under two ids.

    What a damaged copy has lost may make the two differ, but no call has the response id of another.
    """
    if before.end_ns is None or before.end_ns <= before.start_ns or before.sequence is not None:
        return False
    ids = {before.response_id, model.response_id} - {None}
    same = (before.name, before.start_ns, before.end_ns) == (model.name, model.start_ns, model.end_ns)
    return same and len(ids) <= 1


def _is_record(before: ModelCall, model: ModelCall) -> bool:
    """Tell whether a call without length in time may tell the response of the one before it (a stream's)."""
    return _unanswered_call(before) and model.start_ns == model.end_ns and model.input is None


def _count_alike(one: ModelCall, other: ModelCall) -> bool:
    """Tell whether two calls count the same tokens, as far as both count them."""
    pairs = [(a, b) for a, b in zip(_figures(one), _figures(other), strict=True) if a is not None and b is not None]
    return bool(pairs) and all(a == b for a, b in pairs)


def _told_apart(one: ModelCall, other: ModelCall, *, nested: bool = False) -> bool:
    """Tell whether something that both calls state differs; a response id that both have outweighs it.

    Of `nested` ones the requests may be told in two ways: as a framework has it, and as its provider.
    """
    if one.sequence is not None and other.sequence is not None:
        return True
    if one.response_id is not None and one.response_id == other.response_id:
        return False
    facts = [(one.event_id, other.event_id), (one.response_id, other.response_id), (_said(one), _said(other))]
    if not (nested or _unanswered_call(one) or _unanswered_call(other)):
        facts.append((_asked(one), _asked(other)))
    counts = zip(_figures(one), _figures(other), (0, _SLACK_TOKENS), strict=True)
    return any(a is not None and b is not None and a != b for a, b in facts) or any(
        a is not None and b is not None and abs(a - b) > slack for a, b, slack in counts
    )


def _figures(call: ModelCall) -> tuple[int | None, int | None]:
    return (call.usage.prompt, call.usage.completion) if call.usage else (None, None)


def _asked(call: ModelCall) -> object:
    """Return what tells one request of a history from the next, None where it is not known."""
    body = body_of(call) if call.input else ()
    return (len(body), spoken(text_of(body[-1:]))) if body else None


def _said(call: ModelCall) -> object:
    """Return what a model said and asked for, None where it is not known, or not all of it."""
    names = [request.name for request in requests_of(call.output or ())]
    told = (spoken(text_of(call.output or ())), names)
    return told if any(told) and all(names) else None
