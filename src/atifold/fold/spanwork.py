"""Say of each document what became of the spans of its traces.

`spans` of a document's report: `read` counts the spans that became its calls, `merged` those of them
that told of a call which another one told of too, `ignored` those that are no calls, by reason. A span
that is no call belongs to the call around it; one outside of all calls to the first document of its trace.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

from atifold.calls import Call, Reading
from atifold.spans import SpanKey

TWICE: Final = "a call that two spans tell of is one"


class SpanWork:
    """Hand out what is known of spans to the documents, in their order."""

    def __init__(self, reading: Reading) -> None:
        """Take what was read; each span is handed out once."""
        self._passed_over = dict(reading.passed_over)
        self._gone: dict[SpanKey, list[SpanKey]] = defaultdict(list)
        for gone, kept in reading.merged.items():
            self._gone[kept].append(gone)

    def of(self, calls: Sequence[Call]) -> dict[str, Any]:
        """Return the report's entry for a document of these calls, and take it out."""
        places: Iterable[SpanKey] = [call.key for call in calls]
        places = [*places, *((trace_id, "") for trace_id in sorted({key[0] for key in places}))]
        merged = sum(len(self._gone.pop(place, ())) for place in places)
        ignored: Counter[str] = Counter()
        for place in places:
            ignored.update(self._passed_over.pop(place, {}))
        found: dict[str, Any] = {"read": len(calls) + merged}
        if merged:
            found["merged"] = merged
        if ignored:
            found["ignored"] = dict(sorted(ignored.items()))
        return found
