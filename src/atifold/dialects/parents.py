"""Find the nearest enclosing call of each call, however the tree of spans is broken."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from atifold.spans import Span, SpanKey


class Parent(NamedTuple):
    """The nearest enclosing call (None: a root), and whether the chain broke off before one was found."""

    key: SpanKey | None
    orphan: bool


def resolve(
    spans: Mapping[SpanKey, Span], calls: Collection[SpanKey], beside: Collection[SpanKey] = ()
) -> tuple[dict[SpanKey, Parent], list[SpanKey]]:
    """Return the parent of each call, and the spans whose tie to their parent was cut to break a circle.

    Spans that are no calls are stepped over; `beside` are such whose parent is wanted too. Of a circle
    the span that starts first becomes a root. Every span is looked at once, so a deep or circular tree
    costs no more than a flat one.
    """
    cut = _circles(spans)
    known: dict[SpanKey, Parent] = {}
    for key in spans:
        path: list[SpanKey] = []
        at: SpanKey = key
        while at not in known:
            path.append(at)
            found = _step(at, spans, calls, cut)
            if isinstance(found, Parent):
                known[at] = found
                break
            at = found
        for passed in path:
            known.setdefault(passed, known[at])
    return {key: known[key] for key in (*calls, *beside)}, sorted(cut)


def _step(
    key: SpanKey, spans: Mapping[SpanKey, Span], calls: Collection[SpanKey], cut: Collection[SpanKey]
) -> Parent | SpanKey:
    """Return the parent where it is plain, else the span whose parent this span shares."""
    parent_id = spans[key].parent_id
    if parent_id is None or key in cut:
        return Parent(None, orphan=False)
    above = (key[0], parent_id)
    if above in calls:
        return Parent(above, orphan=False)
    return above if above in spans else Parent(None, orphan=True)


def _circles(spans: Mapping[SpanKey, Span]) -> set[SpanKey]:
    """Return for each circle of parents the member that starts first."""
    done: set[SpanKey] = set()
    cut: set[SpanKey] = set()
    for key in spans:
        path: dict[SpanKey, None] = {}
        at: SpanKey | None = key
        while at is not None and at in spans and at not in done:
            if at in path:
                members = list(path)[list(path).index(at) :]
                cut.add(min(members, key=lambda member: (spans[member].start_ns, member)))
                break
            path[at] = None
            parent_id = spans[at].parent_id
            at = None if parent_id is None else (at[0], parent_id)
        done.update(path)
    return cut
