"""Producers one version ahead and one behind cost no signal anything: a take of each event for each difference."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from catalogue import SESSION, Take, first_takes
from conformity import NAMESPACES
from exporting import log_bytes, metric_bytes, span_bytes
from performing import perform
from story import Wire

from atifold import atif, dialects, fold
from atifold.settings import Capture
from atifold.testing import assert_conforms

KEPT = frozenset({"id", "targetRef", "toolCallId"})
"""Fields whose texts name something of the run."""
NEWS = "mk-news"
FACTS = {"events", "events_counted"}


def changed(take: Take, payload: Wire, how: str) -> Take:
    """Return a take of its own with another payload."""
    events = copy.deepcopy(take.events)
    events[take.at]["payload"] = payload
    run_id = f"{take.run_id}-{how}"
    for wire in events:
        wire["meta"]["runId"] = wire["meta"]["runId"].replace(take.run_id, run_id)
    return Take(take.event, run_id, events, take.at)


def unknown_fields() -> Iterator[Take]:
    """Yield takes with an unknown field in each object."""
    for take in first_takes():
        yield changed(take, with_news(take.wire["payload"]), "field")


def with_news(value: Any) -> Any:
    """Return a value with an unknown field in each object that has fields of its own."""
    if isinstance(value, list):
        return [with_news(item) for item in value]
    if not isinstance(value, dict) or "some key" in value or value == {"some": ["thing"]}:
        return value
    return {**{key: with_news(item) for key, item in value.items()}, "brandNew": NEWS}


def unknown_members() -> Iterator[Take]:
    """Yield takes with another text wherever one stands."""
    for take in first_takes():
        yield changed(take, grown(take.wire["payload"]), "member")


def grown(value: Any) -> Any:
    """Return a value in which enumerations have new members."""
    if isinstance(value, dict):
        return {key: item if key in KEPT else grown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [grown(item) for item in value]
    return f"{value}-2" if isinstance(value, str) else value


def unknown_events() -> Iterator[Take]:
    """Yield takes with an event of an unknown name in the place of a known one."""
    for take in first_takes():
        new = changed(take, {"text": NEWS, "deep": [{"er": NEWS}]}, "event")
        new.wire["type"] += "_renamed"
        yield new


def missing_fields() -> Iterator[Take]:
    """Yield takes in each of which one field is not there."""
    for take in first_takes():
        payload = take.wire["payload"]
        for key in payload:
            yield changed(take, {name: value for name, value in payload.items() if name != key}, f"without-{key}")


DIFFERENCES = {
    "unknown fields": (unknown_fields, set()),
    "unknown members": (unknown_members, set()),
    "unknown events": (unknown_events, {"events_unmapped"}),
    "missing fields": (missing_fields, {"facts_dropped"}),
}


LONG = {"missing fields"}
SLOW = pytest.mark.slow


@pytest.mark.parametrize("mode", [Capture.NO_CONTENT, Capture.SPAN_AND_EVENT], ids=lambda mode: mode.value)
@pytest.mark.parametrize(
    ("takes", "counted"),
    [pytest.param(*row, id=name, marks=SLOW if name in LONG else ()) for name, row in DIFFERENCES.items()],
)
def test_all_three_signals_and_the_trajectories_are_right(takes: Any, counted: set[str], mode: Capture) -> None:
    """Nothing fails or is complained of, each signal conforms, and what nobody knows stays in without leave."""
    result = perform(takes(), capture_content=mode.value, events="both")
    harness = result.harness
    assert result.said == []
    assert result.counts.keys() <= FACTS | counted
    told = {"sessions": {SESSION}, "namespaces": NAMESPACES}
    assert_conforms(spans=harness.spans, content=mode.on_spans, **told)
    assert_conforms(logs=harness.logs, content=mode.on_events, **told)
    assert_conforms(metrics=harness.metrics(), **told)
    for document in fold.fold(dialects.read(harness.records)).documents:
        assert [found for found in atif.check(document.trajectory) if found.is_error] == []
    exported = span_bytes(harness) + log_bytes(harness) + metric_bytes(harness)
    assert (NEWS.encode() in exported) is (mode.on_spans and takes is unknown_fields)
