"""Find the call in another trace that a trace's outermost call is linked to.

A gateway, or a program that a tool starts, may begin a trace of its own and only link to its caller. The
link stands on the call's span, or on one around it that is no call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from atifold.dialects.parents import Parent
from atifold.spans import Span, SpanKey


def linked(
    spans: Mapping[SpanKey, Span], calls: Collection[SpanKey], parents: Mapping[SpanKey, Parent]
) -> dict[SpanKey, SpanKey]:
    """Return by the key of each outermost call that of the call that it is linked to; `parents` knows every span."""
    found: dict[SpanKey, SpanKey] = {}
    linking = {key[0] for key, span in spans.items() if span.links}
    for key in calls:
        if key[0] in linking and parents[key].key is None:
            target = next(_targets(key, spans, calls, parents), None)
            if target is not None:
                found[key] = target
    return found


def _targets(
    key: SpanKey,
    spans: Mapping[SpanKey, Span],
    calls: Collection[SpanKey],
    parents: Mapping[SpanKey, Parent],
) -> Iterator[SpanKey]:
    """Yield the calls of other traces that the links of a span, and of those around it, point to or into."""
    seen: set[SpanKey] = set()
    at: SpanKey | None = key
    while at is not None and at in spans and at not in seen:
        seen.add(at)
        for link in spans[at].links:
            other = (link.trace_id, link.span_id)
            around = other if other in calls else parents[other].key if other in parents else None
            if around is not None and around[0] != key[0]:
                yield around
        parent_id = spans[at].parent_id
        at = None if parent_id is None else (at[0], parent_id)
