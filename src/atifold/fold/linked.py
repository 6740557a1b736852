"""Put what only a span link names the caller of where it belongs, for folds over several traces.

A gateway's request is the client's call told again, or the only telling of it; an agent that a tool started in
a process of its own ran for that tool. What began after what it is linked to had ended is no part of
it: it only goes on in the same session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from atifold.calls import AgentCall, Call, ModelCall, Reading
from atifold.dialects.merge import merge
from atifold.nesting import around
from atifold.spans import SpanKey

LINKED: Final = "a trace is part of the one that a span link names as its caller's"


@dataclass(frozen=True, slots=True)
class Linked:
    """The reading with linked calls inside their callers, the traces concerned, and what goes on after what.

    `after` gives, by trace, the earlier one that it is linked to without being part of it.
    """

    reading: Reading
    traces: frozenset[str] = frozenset()
    after: Mapping[str, str] = field(default_factory=dict[str, str])


def with_linked(reading: Reading) -> Linked:
    """Return the reading with each outermost call inside the call of another trace that it is linked to."""
    if not reading.linked:
        return Linked(reading)
    calls = {call.key: call for call in reading.calls}
    merged = dict(reading.merged)
    traces: set[str] = set()
    after: dict[str, str] = {}
    for key, target in sorted(reading.linked.items()):
        call, caller = calls.get(key), calls.get(target)
        if call is None or caller is None or (isinstance(call, AgentCall) and call.resumes):
            continue
        if not _during(call, caller) or _is_inside(caller, call, calls):
            after.setdefault(key[0], target[0])
            continue
        traces.add(key[0])
        calls[key] = replace(call, parent=target)
        one = merge([caller, calls[key]]).calls if isinstance(caller, ModelCall) and isinstance(call, ModelCall) else []
        if len(one) == 1:
            del calls[key]
            calls[target], merged[key] = replace(one[0], parent=caller.parent), target
    whole = replace(reading, calls=tuple(_under(call, merged) for call in calls.values()), merged=merged)
    return Linked(whole, frozenset(traces), after)


def _under(call: Call, merged: Mapping[SpanKey, SpanKey]) -> Call:
    """Return the call inside what the one around it became part of."""
    around = merged.get(call.parent) if call.parent else None
    return replace(call, parent=around) if around else call


def _during(call: Call, caller: Call) -> bool:
    """Tell whether a call may be part of its caller, which has none after its end."""
    return caller.end_ns is None or call.start_ns <= caller.end_ns


def _is_inside(call: Call, other: Call, calls: Mapping[SpanKey, Call]) -> bool:
    """Tell whether a call is inside another one, so that this one cannot be inside it."""
    return other.key == call.key or any(other.key == outer.key for outer in around(call, calls))
