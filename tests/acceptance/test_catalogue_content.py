"""Of a marker in every content leaf of the catalogue, each exported byte has those that may be there, and no others."""

from __future__ import annotations

import copy
import logging
import re
from functools import cache
from typing import Any, NamedTuple

import pytest
from catalogue import SECRET, Take, recording
from exporting import log_bytes, metric_bytes, span_bytes
from leaf_places import ATTRIBUTES_ONLY, OFF_SPANS, ONLY_WHAT_IS_NAMED, UNHEARD_OF, on_no_log, on_no_span
from markers import put_markers
from story import START_MS, Story

from atifold import WITHHELD, dialects, fold
from atifold.emit.places import PLACES
from atifold.events.envelope import Event, UnknownEvent, parse
from atifold.settings import Capture
from atifold.testing import Harness

PLACE = {row.event: row.place for row in PLACES}
MARKER = re.compile(rb"mk\d{5}x")


class Marked(NamedTuple):
    """One marker: the take whose event it is in, and the leaf's path without indices."""

    marker: bytes
    take: Take
    path: str


class Recording(NamedTuple):
    """A recording with its markers, as the bus takes it."""

    takes: list[Take]
    events: list[Event[Any]]
    put: list[Marked]


@cache
def marked() -> Recording:
    """Return the catalogue with a marker in each content leaf, in unknown fields and unknown events."""
    takes = [*copy.deepcopy(recording()), *strangers()]
    put: list[Marked] = []
    for take in takes:
        take.wire["payload"][UNHEARD_OF] = [{"deep": "some text"}]
        for marker, path in put_markers(take.wire, len(put)):
            put.append(Marked(marker.encode(), take, re.sub(r"\[\d+\]", "[]", path)))
    assert len(put) < 100_000
    return Recording(takes, [parse(wire) for take in takes for wire in take.events], put)


def strangers() -> list[Take]:
    """Return runs with events that nobody knows, and one that cannot be read."""
    takes = []
    for name in ("stream.brand_new", "elsewhere.entirely", "stream.llm_end"):
        story = Story(f"stranger-{name}", session="s-1", start_ms=START_MS).turn().asks()
        story.tell(name, {"iteration": "unreadable", "text": "some text", "deep": [{"er": "some text"}]})
        takes.append(Take(name, story.run_id, story.answers().turn_over().events, 2))
    assert all(isinstance(parse(take.wire).payload, UnknownEvent) for take in takes)
    return takes


@cache
def played(mode: Capture, events: str = "span", *, withhold: bool = False) -> Harness:
    """Return what the marked recording becomes."""
    redact = (lambda *_: WITHHELD) if withhold else None
    with Harness(capture_content=mode.value, events=events, redact=redact) as harness:
        for event in marked().events:
            harness.bus.emit(event)
    return harness


def found(text: bytes) -> set[bytes]:
    """Return the markers in a text."""
    return set(MARKER.findall(text))


def is_stranger(mark: Marked) -> bool:
    """Tell whether the marker is in an event that nobody knows."""
    return mark.take.run_id.startswith("stranger-")


def test_every_event_has_a_marker() -> None:
    """Else the tests below say nothing of it."""
    assert {mark.take.event for mark in marked().put} >= PLACE.keys()
    assert len({mark.marker for mark in marked().put}) == len(marked().put)


@pytest.mark.parametrize("events", ["span", "both"])
def test_without_leave_no_marker_is_in_any_exported_byte(events: str, caplog: pytest.LogCaptureFixture) -> None:
    """Not in spans, logs, metrics or a resource, nor in our own log lines."""
    with caplog.at_level(logging.DEBUG):
        harness = played.__wrapped__(Capture.NO_CONTENT, events)
    exported = span_bytes(harness) + log_bytes(harness) + metric_bytes(harness)
    assert found(exported) == set()
    assert found(caplog.text.encode()) == set()


def test_what_is_withheld_is_nowhere_at_all(caplog: pytest.LogCaptureFixture) -> None:
    """With all content let go, the trajectories and the report included."""
    with caplog.at_level(logging.DEBUG):
        harness = played.__wrapped__(Capture.SPAN_AND_EVENT, "both", withhold=True)
    folded = fold.fold(dialects.read(harness.records))
    exported = span_bytes(harness) + log_bytes(harness) + metric_bytes(harness)
    assert found(exported + repr((folded, harness.records, caplog.text)).encode()) == set()
    assert len(folded.documents) > len(recording())


@pytest.mark.parametrize(
    "mode", [Capture.SPAN_ONLY, Capture.SPAN_AND_EVENT], ids=lambda mode: mode.value if mode else ""
)
def test_spans_have_exactly_the_leaves_with_a_place(mode: Capture) -> None:
    """A place that appears or disappears is a difference to the data."""
    there = found(span_bytes(played(mode)))
    wrong = [
        (mark.take.run_id, mark.path, "is there" if mark.marker in there else "is missing")
        for mark in marked().put
        if (mark.marker in there) is (is_stranger(mark) or on_no_span(*_leaf(mark)))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("mode", "events"), [(Capture.EVENT_ONLY, "span"), (Capture.SPAN_AND_EVENT, "span"), (Capture.EVENT_ONLY, "log")]
)
def test_log_events_have_exactly_the_leaves_with_a_place(mode: Capture, events: str) -> None:
    """Fewer where the catalogue's events are span events, and the user's setting says so."""
    there = found(log_bytes(played(mode, events)))
    wrong = [
        (mark.take.run_id, mark.path, "is there" if mark.marker in there else "is missing")
        for mark in marked().put
        if (mark.marker in there) is (is_stranger(mark) or on_no_log(*_leaf(mark), catalogue=events != "span"))
    ]
    assert wrong == []


def _leaf(mark: Marked) -> tuple[str, str, dict[str, Any], str]:
    return mark.take.event, mark.path, mark.take.wire["payload"], PLACE[mark.take.event]


@pytest.mark.parametrize("mode", list(Capture), ids=[mode.value for mode in Capture])
def test_content_is_in_the_signals_of_the_mode_alone(mode: Capture) -> None:
    """And never on a metric."""
    harness = played(mode)
    assert bool(found(span_bytes(harness))) is mode.on_spans
    assert bool(found(log_bytes(harness))) is mode.on_events
    assert found(metric_bytes(harness)) == set()


def test_every_row_of_the_data_is_needed() -> None:
    """Each is met by a leaf of the recording that it says is nowhere."""
    paths = {(mark.take.event, mark.path) for mark in marked().put}
    for event, rows in OFF_SPANS.items():
        for row in rows:
            assert any(name == event and re.fullmatch(row.path, path) for name, path in paths), f"{event} {row.path}"
    assert ONLY_WHAT_IS_NAMED | ATTRIBUTES_ONLY.keys() <= {event for event, _ in paths}


@pytest.mark.parametrize("events", ["span", "both"])
def test_values_of_changed_arguments_are_in_no_signal(events: str) -> None:
    """Not on the tool, nor where the model asked for it, nor in the next request's history.

    A call's id names it in every run, as histories outlive runs: all takes have one id, so of those after
    the first change the value is nowhere either. Of those before it is there.
    """
    harness = played(Capture.SPAN_AND_EVENT, events)
    exported = span_bytes(harness) + log_bytes(harness) + metric_bytes(harness)
    there = set(re.findall(rb"secret-of-[\w.]+-\d+-", exported))
    told = repr(harness.trajectories())
    changed = [t for t in marked().takes if t.wire["payload"].get("changedArgKeys") == [SECRET]]
    assert changed
    assert [take.run_id for take in changed if take.secret.encode() in there] == []
    assert [take.run_id for take in changed if take.secret not in told] == []
    before = [t for t in marked().takes if t.time_ns < changed[0].time_ns and t.event.startswith("agent.output")]
    assert before
    assert [take.run_id for take in before if take.secret.encode() not in there] == []
