"""Find the spans around a model's answer that could not be parsed and the call that asked again.

DSPy asks anew with another prompt, so the two calls share no history; that they are one run shows
only in the span around both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Final

from atifold.dialects.openinference import SPAN_KIND
from atifold.spans import Span, SpanKey, Status

_REJECTED: Final = re.compile(r"Pars(?:e|er|ing)\w*(?:Error|Exception)$")
"""How the exception is called that says that an answer could not be parsed."""


def frames(spans: Mapping[SpanKey, Span], calls: Collection[SpanKey]) -> set[SpanKey]:
    """Return the chains in which an answer was refused and a later step took its place, outside of all `calls`."""
    refused: dict[SpanKey, int] = {}
    for span in spans.values():
        if span.parent_id is not None and _is_refused(span):
            place = (span.trace_id, span.parent_id)
            refused[place] = min(span.start_ns, refused.get(place, span.start_ns))
    if not refused:
        return set()
    last: dict[SpanKey, int] = defaultdict(int)
    for span in spans.values():
        place = (span.trace_id, span.parent_id or "")
        if place in refused and _is_chain(span):
            last[place] = max(last[place], span.start_ns)
    found = (key for key, first in refused.items() if last[key] > first and key in spans and _is_chain(spans[key]))
    return {key for key in found if not _is_inside(key, spans, calls)}


def _is_chain(span: Span) -> bool:
    return span.attributes.get(SPAN_KIND) == "CHAIN"


def _is_refused(span: Span) -> bool:
    kinds = (str(e.attributes.get("exception.type", "")) for e in span.events if e.name == "exception")
    return span.status is Status.ERROR and _is_chain(span) and any(_REJECTED.search(kind) for kind in kinds)


def _is_inside(key: SpanKey, spans: Mapping[SpanKey, Span], calls: Collection[SpanKey]) -> bool:
    """Tell whether a call is around a span; a ring of parents is left where it closes."""
    seen: set[SpanKey] = set()
    at: SpanKey | None = key
    while at is not None and at in spans and at not in seen:
        if at in calls:
            return True
        seen.add(at)
        parent_id = spans[at].parent_id
        at = None if parent_id is None else (at[0], parent_id)
    return False
