"""Tell where calls stand to each other: in which others they are, and whether they ran at one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from atifold.calls import Call
from atifold.spans import SpanKey


def around(call: Call, calls: Mapping[SpanKey, Call]) -> Iterator[Call]:
    """Yield the calls around a call, the nearest first; a ring of parents ends where it closes."""
    seen: set[SpanKey] = set()
    at = call.parent
    while at is not None and at in calls and at not in seen:
        seen.add(at)
        yield calls[at]
        at = calls[at].parent


def depths(calls: Mapping[SpanKey, Call]) -> dict[SpanKey, int]:
    """Return how many calls enclose each call; a ring of parents ends where it closes."""
    found: dict[SpanKey, int] = {}
    for key in calls:
        path: list[SpanKey] = []
        seen: set[SpanKey] = set()
        at: SpanKey | None = key
        while at is not None and at in calls and at not in found and at not in seen:
            path.append(at)
            seen.add(at)
            at = calls[at].parent
        depth = found[at] + 1 if at is not None and at in found else 0
        for offset, step in enumerate(reversed(path)):
            found[step] = depth + offset
    return found


def is_within(outer: Call, inner: Call) -> bool:
    """Tell whether a call ran within the time of another; what never ended did not."""
    if outer.end_ns is None or inner.end_ns is None:
        return False
    return outer.start_ns <= inner.start_ns and inner.end_ns <= outer.end_ns


def share_time(first: Call, second: Call) -> bool:
    """Tell whether two calls, the first of which started first, share some time or their start."""
    if second.start_ns == first.start_ns:
        return True
    return first.end_ns is not None and second.start_ns < first.end_ns


def may_share_a_place(one: Call, other: Call, calls: Mapping[SpanKey, Call]) -> bool:
    """Tell whether two calls may stand in one place: what is around them is lost, or the same but for its id."""
    if one.parent == other.parent:
        return True
    first, second = (calls.get(call.parent) if call.parent else None for call in (one, other))
    if first is None or second is None:
        return True
    return (first.name, first.start_ns, first.end_ns) == (second.name, second.start_ns, second.end_ns)
