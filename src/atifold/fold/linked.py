"""Put a trace below the call that it is linked to, where a gateway or a subprocess began one of its own.

Only a link tells of it; that the trace ran within the call's time tells such a link from one to an earlier turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from atifold.calls import AgentCall, Call, ModelCall
from atifold.fold.messages import text_of
from atifold.spans import SpanKey


def linked(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Return the calls, the outermost ones that are linked to a call of another trace below it.

    A model call that a gateway tells of again is left out.
    """
    at_hand = {call.key: call for call in calls}
    if not any(call.links for call in at_hand.values()):
        return tuple(at_hand.values())
    callers = {key: caller for key, call in at_hand.items() if (caller := _caller(call, at_hand)) is not None}
    again = {key for key, caller in callers.items() if _is_again(at_hand[key], caller)}
    found = (call for key, call in at_hand.items() if key not in again)
    return tuple(replace(c, parent=callers[c.key].key, orphan=False) if c.key in callers else c for c in found)


def _caller(call: Call, at_hand: dict[SpanKey, Call]) -> Call | None:
    """Return the only call of another trace that an outermost call is linked to and within whose time it ran."""
    if call.parent is not None or not call.links or (isinstance(call, AgentCall) and call.resumes):
        return None
    targets = {(link.trace_id, link.span_id) for link in call.links if link.trace_id != call.key[0]}
    found = [at_hand[key] for key in targets if key in at_hand]
    return found[0] if len(found) == 1 and _within(found[0], call) else None


def _within(outer: Call, inner: Call) -> bool:
    if outer.end_ns is None or inner.end_ns is None:
        return False
    return outer.start_ns <= inner.start_ns and inner.end_ns <= outer.end_ns


def _is_again(call: Call, caller: Call) -> bool:
    """Tell whether a call tells of the answer that its caller has, with the same figures."""
    if not (isinstance(call, ModelCall) and isinstance(caller, ModelCall)) or not (call.output and caller.output):
        return False
    figures = [None if each.usage is None else (each.usage.prompt, each.usage.completion) for each in (call, caller)]
    alike = None in figures or figures[0] == figures[1]
    return alike and text_of(call.output).split() == text_of(caller.output).split()
