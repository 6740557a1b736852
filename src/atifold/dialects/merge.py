"""Recognise a call that two instrumentations traced, and keep it once.

Two spans are one call when one is nested in the other, or when they stand side by side at the same
time, and what both of them state agrees. An equal response id alone proves nothing (gateways and
test servers repeat ids), and neither does nesting (some frameworks nest the next call in the one
before). Usage is the innermost's, which is the provider's own; content is taken from the side that
has most of it; the outer call's key survives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from atifold.calls import MISSING, AgentCall, Call, ModelCall, ToolCall, Usage
from atifold.dialects.copies import copies
from atifold.dialects.sameness import (
    answers,
    has_left_overs,
    same_agent,
    same_model_call,
    same_tool_call,
    told_by_two,
    uncached,
    writes_over,
)
from atifold.nesting import depths
from atifold.spans import SpanKey

_C = TypeVar("_C", bound=Call)

_MODEL_FIELDS: Final = (
    "model",
    "provider",
    "tools",
    "system",
    "cost_usd",
    "cost_source",
    "response_id",
    "event_id",
    "finish_reasons",
    "reasoning_effort",
    "attempts",
    "served",
    "compacted",
    "agent_name",
)
_TOOL_FIELDS: Final = ("id", "tool", "arguments", "result", "description", "dispatch", "agent_name")
_AGENT_FIELDS: Final = (
    "agent",
    "agent_id",
    "agent_version",
    "description",
    "run_id",
    "model",
    "input",
    "output",
    "system",
    "tools",
    "usage",
    "cost_usd",
)
_CALL_FIELDS: Final = (
    "conversation",
    "service",
    "service_version",
    "failure",
    "resumes",
    "sequence",
    "lookups",
    "scores",
)


class Merged(NamedTuple):
    """Each call once, parents corrected, and a note about each pair that was one call.

    `into` gives, by the key of a call that is gone, the one that has all of it, or is around it.
    """

    calls: list[Call]
    notes: list[str]
    into: dict[SpanKey, SpanKey]


def merge(calls: Iterable[Call]) -> Merged:
    """Return each call once, and what was one."""
    at_hand = {call.key: call for call in calls}
    into: dict[SpanKey, SpanKey | None] = {}
    notes: list[str] = []
    for copy, original in copies(at_hand).items():
        kept = _survivor(original, into)
        if kept is not None and kept != copy:
            _drop(at_hand[copy], at_hand[kept], at_hand, into, notes)
    _merge_nested(at_hand, into, notes)
    _merge_siblings(at_hand, into, notes)
    whole = [
        replace(call, parent=_survivor(call.parent, into)) if call.parent in into else call for call in at_hand.values()
    ]
    return Merged(whole, notes, {key: _survivor(key, into) or (key[0], "") for key in into})


def _survivor(key: SpanKey | None, into: dict[SpanKey, SpanKey | None]) -> SpanKey | None:
    while key is not None and key in into:
        key = into[key]
    return key


# ---- one inside the other ------------------------------------------------------------------------


def _merge_nested(at_hand: dict[SpanKey, Call], into: dict[SpanKey, SpanKey | None], notes: list[str]) -> None:
    """Merge from the innermost outwards, so that of three layers the first has all."""
    inside: dict[SpanKey, int] = {}
    models: dict[SpanKey, int] = {}
    for call in at_hand.values():
        if call.parent is not None:
            inside[call.parent] = inside.get(call.parent, 0) + 1
            models[call.parent] = models.get(call.parent, 0) + isinstance(call, ModelCall)
    for key in _innermost_first(at_hand):
        inner = at_hand.get(key)
        outer = at_hand.get(inner.parent) if inner is not None and inner.parent is not None else None
        if inner is None or outer is None:
            continue
        same = _is_one(outer, inner, alone=inside[outer.key] == 1)
        if isinstance(inner, ModelCall) and isinstance(outer, ModelCall) and models[outer.key] > 1:
            if not same and not writes_over(outer, inner):
                continue
            at_hand[inner.key] = _told_around(outer, inner, whole=same)
            _drop(outer, inner, at_hand, into, notes)
            into[outer.key] = outer.parent
        elif same:
            at_hand[outer.key] = _merged(outer, inner)
            inside[outer.key] += inside.get(key, 0) - 1
            _drop(inner, outer, at_hand, into, notes)


def _told_around(outer: ModelCall, inner: ModelCall, *, whole: bool) -> ModelCall:
    """Return a call with what was written onto the span around it and other calls, which is no call (LiteLLM).

    Not `whole`: the content on that span is in part that of earlier calls.
    """
    one = _one_model_call(outer, inner)
    if not whole:
        one = replace(one, input=inner.input or outer.input, output=inner.output or outer.output)
    return replace(one, key=inner.key, name=inner.name, start_ns=inner.start_ns, end_ns=inner.end_ns)


def _innermost_first(at_hand: dict[SpanKey, Call]) -> list[SpanKey]:
    """Return the keys, deeper calls before those around them, equals in the order of their starts."""
    depth = depths(at_hand)
    return sorted(at_hand, key=lambda key: (-depth[key], at_hand[key].start_ns, key))


def _is_one(outer: Call, inner: Call, *, alone: bool) -> bool:
    if isinstance(outer, ModelCall) and isinstance(inner, ModelCall):
        return same_model_call(outer, inner, nested=True, alone=alone)
    if isinstance(outer, ToolCall) and isinstance(inner, ToolCall):
        return same_tool_call(outer, inner, nested=True)
    if isinstance(outer, AgentCall) and isinstance(inner, AgentCall):
        return alone and same_agent(outer, inner)
    return False


# ---- side by side --------------------------------------------------------------------------------


def _merge_siblings(at_hand: dict[SpanKey, Call], into: dict[SpanKey, SpanKey | None], notes: list[str]) -> None:
    """Merge neighbours that share a parent and a response id, both times, a request that one answers, or the usage.

    Each call is compared with the one before it in its group only: two spans of one call stand
    next to each other when sorted by their starts.
    """
    for group_of, are_one in _SIDE_BY_SIDE:
        last: dict[Any, SpanKey] = {}
        for key in sorted(at_hand, key=lambda each: (at_hand[each].start_ns, each)):
            call = at_hand[key]
            group = group_of(call, _survivor(call.parent, into))
            if group is None:
                continue
            before = at_hand.get(last[group]) if group in last else None
            if before is not None and are_one(before, call):
                at_hand[before.key] = _merged(before, call)
                _drop(call, before, at_hand, into, notes)
            else:
                last[group] = key


def _by_response_id(call: Call, parent: SpanKey | None) -> Any:
    if isinstance(call, ModelCall) and call.response_id is not None:
        return call.key[0], parent, call.response_id
    return None


def _by_times(call: Call, parent: SpanKey | None) -> Any:
    if isinstance(call, AgentCall):
        return None
    return call.key[0], parent, type(call), call.start_ns, call.end_ns, getattr(call, "id", None)


def _by_request(call: Call, parent: SpanKey | None) -> Any:
    if isinstance(call, ModelCall) and call.input:
        return call.key[0], parent, len(call.input), str(call.input[-1])
    return None


def _by_usage(call: Call, parent: SpanKey | None) -> Any:
    if isinstance(call, ModelCall) and call.usage is not None and call.usage.prompt and call.usage.completion:
        return call.key[0], parent, call.usage.prompt, call.usage.completion
    return None


def _are_one(first: Call, second: Call) -> bool:
    if isinstance(first, ModelCall) and isinstance(second, ModelCall):
        return same_model_call(first, second, nested=False, alone=False) or answers(first, second)
    if isinstance(first, ToolCall) and isinstance(second, ToolCall):
        return same_tool_call(first, second, nested=False)
    return False


_SIDE_BY_SIDE: Final = (
    (_by_response_id, _are_one),
    (_by_times, _are_one),
    (_by_request, _are_one),
    (_by_usage, told_by_two),
)
"""What neighbours share, and what tells then that they are one."""


# ---- the merged call -----------------------------------------------------------------------------


def _drop(
    gone: Call, kept: Call, at_hand: dict[SpanKey, Call], into: dict[SpanKey, SpanKey | None], notes: list[str]
) -> None:
    del at_hand[gone.key]
    into[gone.key] = kept.key
    notes.append(f"{kept.name}: one call traced twice, merged with {gone.name}")


def _merged(outer: Call, inner: Call) -> Call:
    if isinstance(outer, ModelCall) and isinstance(inner, ModelCall):
        return _one_model_call(outer, inner)
    names = _TOOL_FIELDS if isinstance(outer, ToolCall) else _AGENT_FIELDS
    return _filled(outer, inner, _CALL_FIELDS + names)


def _one_model_call(outer: ModelCall, inner: ModelCall) -> ModelCall:
    return replace(
        _filled(outer, inner, _CALL_FIELDS + _MODEL_FIELDS),
        end_ns=inner.end_ns if answers(outer, inner) else outer.end_ns,
        usage=_usage(outer.usage, inner.usage),
        content_unread=outer.content_unread or inner.content_unread,
        **_content(outer, inner),
    )


def _filled(outer: _C, inner: Call, names: tuple[str, ...]) -> _C:
    """Return the outer call with what only the inner one says."""
    found: dict[str, Any] = {name: getattr(inner, name) for name in names if _says_nothing(getattr(outer, name))}
    incomplete = tuple(dict.fromkeys(outer.incomplete + inner.incomplete))
    links = tuple(link for link in inner.links if link not in outer.links)
    return replace(
        outer,
        paused=outer.paused or inner.paused,
        incomplete=incomplete,
        links=outer.links + links,
        extra={**inner.extra, **outer.extra},
        **found,
    )


def _says_nothing(value: Any) -> bool:
    """Tell whether a field is not filled; a zero is a figure."""
    return value is None or value is MISSING or value is False or value in ((), "", {})


def _usage(outer: Usage | None, inner: Usage | None) -> Usage | None:
    """Return the innermost figures, those of the outer span only where the inner one has none.

    Where the two prompts differ by what a cache took part in, the larger one is the whole.
    """
    if outer is None or inner is None:
        return inner or outer
    names = ("prompt", "completion", "cached", "cache_write", "reasoning")
    found = {name: getattr(outer, name) if getattr(inner, name) is None else getattr(inner, name) for name in names}
    if inner.prompt is not None and outer.prompt is not None and uncached(outer) == inner.prompt:
        found["prompt"] = outer.prompt
    surplus = outer.surplus if inner.completion is None else inner.surplus
    return Usage(**found, raw={**outer.raw, **inner.raw}, surplus=surplus)


def _content(outer: ModelCall, inner: ModelCall) -> dict[str, Any]:
    """Return input and output, each from the side that has more of it that is of this call."""
    found: dict[str, Any] = {}
    if _amount(inner.output) > _amount(outer.output) or has_left_overs(outer, inner):
        found["output"] = inner.output
    if _amount(inner.input) > _amount(outer.input):
        found["input"], found["input_base"] = inner.input, inner.input_base
    return found


def _amount(messages: Any) -> tuple[int, int]:
    """Measure content: parts first, then length of what they hold."""
    if not messages:
        return (-1 if messages is None else 0, 0)
    parts = [part for message in messages for part in message.parts]
    return len(parts), sum(len(str(part)) for part in parts)
