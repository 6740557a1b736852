"""Write what stands beside a call in a document's `extra`: lookups before it, scores of it, failed attempts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from atifold.calls import Attempt, Call, ModelCall
from atifold.times import microseconds, timestamp


def lookups_and_scores(calls: Iterable[Call]) -> dict[str, Any]:
    """Return the lookups and scores of calls by `retrieval`, `memory` and `scores`, each where there is any."""
    found: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        for lookup in call.lookups:
            found.setdefault(lookup.kind, []).append(dict(lookup.facts))
        for score in call.scores:
            found.setdefault("scores", []).append(dict(score))
    return dict(found)


def attempts_of(call: ModelCall) -> dict[str, Any]:
    """Return the failed attempts of an inference, and who served in the end."""
    found: dict[str, Any] = {}
    if call.attempts:
        found["attempts"] = [_attempt(attempt) for attempt in call.attempts]
    if call.served:
        found["served_by"] = dict(call.served)
    return found


def _attempt(attempt: Attempt) -> dict[str, Any]:
    """Return one failed try of a call that went on."""
    stamp = timestamp(microseconds(attempt.time_ns)) if attempt.time_ns else None
    told = {"attempt": attempt.number, "timestamp": stamp, **attempt.extra}
    return {key: value for key, value in told.items() if value is not None}
