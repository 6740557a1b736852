"""A recording that was cut anywhere replays, ends all its spans, and says what is not whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from story import Played, Wire, play, wires

from atifold import atif, dialects, fold
from atifold.events.envelope import parse
from atifold.recording import in_order

PAIRS = {
    "agent.turn_start": ("open", "agent"),
    "agent.turn_end": ("shut", "agent"),
    "composition.enter": ("open", "composition"),
    "composition.exit": ("shut", "composition"),
    "stream.llm_start": ("open", "call"),
    "stream.llm_end": ("shut", "call"),
    "stream.tool_start": ("open", "tool"),
    "stream.tool_end": ("shut", "tool"),
}
ENDS = {"error.fatal", "reliability.fail_fast", "permission.halt"}


def cuts(path: Path) -> list[list[Wire]]:
    """Return every prefix of a recording, the whole one included."""
    lines = wires(path)
    return [lines[:count] for count in range(1, len(lines) + 1)]


def tails(path: Path) -> list[list[Wire]]:
    """Return what a producer kept that drops the oldest lines, for every number of them."""
    lines = wires(path)
    return [lines[count:] for count in range(1, len(lines))]


def played(events: Sequence[Wire]) -> Played:
    """Play events in the order that a replay gives them."""
    return play(in_order([parse(event) for event in events]), capture_content=True)


def anything_open(events: Sequence[Wire]) -> bool:
    """Tell from the events alone whether an agent, composition, call or tool is open after the last.

    A pause closes what its run had open: all of it goes on in another leg. A leg that was resumed
    (by the result of a waiting call) is an open turn without a start.
    """
    open_: set[tuple[str, str, object]] = set()
    waiting: dict[str, str] = {}
    for event in in_order([parse(e) for e in events]):
        name, payload, meta = event.name, event.payload.to_wire(), event.meta
        run, path = meta.run_id, tuple(p for p in meta.subflow_path if p != "final")
        verb, what = PAIRS.get(name, ("", ""))
        key: object = {
            "call": meta.runtime_stage_id,
            "tool": payload.get("toolCallId"),
            "composition": (path, payload.get("id")),
        }.get(what, path)
        if verb == "open":
            open_.add((run, what, key))
        elif verb == "shut":
            if what == "tool" and waiting.pop(str(key), run) != run:
                open_.add((run, "agent", ()))
            open_.discard((run, what, key))
        elif name in ENDS:
            open_ = {item for item in open_ if item[0] != run}
        elif name == "pause.request":
            call = payload["questionPayload"]["toolCallId"]
            owner = next(item[0] for item in open_ if item[1:] == ("tool", call))
            waiting[call] = owner
            open_ = {item for item in open_ if item[0] != owner}
    return bool(open_)


def paused_at_the_end(events: Sequence[Wire]) -> bool:
    """Tell whether a pause was asked for and nothing has come after it that a resumed leg does."""
    names = [event["type"].removeprefix("agentfootprint.") for event in events]
    if "pause.request" not in names:
        return False
    return not {"stream.tool_end", "checkin.decision"} & set(names[names.index("pause.request") :])


def said(trajectory: dict[str, object]) -> dict[str, object]:
    """Return what a document says of its own state."""
    extra = trajectory.get("extra")
    found = extra.get("atifold") if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def each_ends_once(result: Played) -> bool:
    """Tell whether exports and records are the same spans, each once."""
    exported = [span.key for span in result.exported]
    records = [span.key for span in result.records]
    return len(set(exported)) == len(exported) and sorted(exported) == sorted(records)


Cut = Callable[[Path], "list[list[Wire]]"]


@pytest.mark.parametrize("cut", [cuts, tails], ids=["prefix", "suffix"])
def test_every_part_of_a_recording_ends_all_its_spans(recording: Path, cut: Cut) -> None:
    """Nothing fails, every started span is exported once and handed to the side door once."""
    for part in cut(recording):
        result = played(part)
        assert each_ends_once(result), f"after {len(part)} lines"
        assert result.counts.get("events_failed", 0) == 0, f"after {len(part)} lines"


@pytest.mark.parametrize("cut", [cuts, tails], ids=["prefix", "suffix"])
def test_as_many_records_as_started_spans(recording: Path, cut: Cut) -> None:
    """The SDK's own count of starts (no light spans here) is the number of records."""
    for part in cut(recording)[::5]:
        events = in_order([parse(event) for event in part])
        result = play(events, slow_lane=True)
        assert len(result.starts) == len(result.records) == len(result.exported), f"after {len(part)} lines"


@pytest.mark.parametrize("cut", [cuts, tails], ids=["prefix", "suffix"])
def test_every_part_gives_valid_documents(recording: Path, cut: Cut) -> None:
    """Each document of each part passes the check; a part without a step gives none."""
    for part in cut(recording):
        for document in played(part).folded().documents:
            assert [f for f in atif.check(document.trajectory) if f.severity == "error"] == [], f"after {len(part)}"


def test_a_prefix_says_exactly_when_something_is_open(recording: Path) -> None:
    """An open run, call, tool or composition is in `extra.atifold.incomplete`; else there is no such word."""
    for part in cuts(recording):
        result = played(part)
        spoken = any("incomplete" in said(document.trajectory) for document in result.folded().documents)
        documents = result.folded().documents
        if documents:
            assert spoken == anything_open(part), f"after {len(part)} lines: {part[-1]['type']}"


def test_the_spans_alone_say_the_same(recording: Path) -> None:
    """A fold of the exported spans has the words that the fold of the records has."""
    for part in cuts(recording)[::3]:
        result = played(part)
        again = fold.fold(dialects.read(result.exported))
        assert [said(d.trajectory) for d in again.documents] == [said(d.trajectory) for d in result.folded().documents]


def test_spans_without_content_say_what_is_open_too(recording: Path) -> None:
    """That something is unfinished is structure; a turn whose prompt is all there is has no document then."""
    for part in cuts(recording)[::3]:
        spans = play(in_order([parse(event) for event in part])).exported
        documents = fold.fold(dialects.read(spans)).documents
        if {trace_id for document in documents for trace_id in document.trace_ids} == {s.trace_id for s in spans}:
            spoken = any("incomplete" in said(document.trajectory) for document in documents)
            assert spoken == anything_open(part), f"after {len(part)} lines: {part[-1]['type']}"


def test_a_pause_at_the_end_is_a_state_and_no_fault(shared: Path) -> None:
    """A leg that waits says that it is paused."""
    path = shared / "recordings" / "09-pause-resume.jsonl"
    parts = [part for part in cuts(path) if paused_at_the_end(part)]
    assert parts
    for part in parts:
        (document,) = played(part).folded().documents
        assert said(document.trajectory).get("state") == "paused", f"after {len(part)} lines"
        assert "incomplete" not in said(document.trajectory)


def test_a_prefix_without_a_step_gives_no_document_and_says_so(recording: Path) -> None:
    """Before the first prompt there is nothing to write, and the report has a word on it."""
    lines = wires(recording)
    first = next(i for i, line in enumerate(lines) if line["type"].endswith(("turn_start", "llm_start")))
    for count in range(1, first + 1):
        folded = played(lines[:count]).folded()
        assert folded.documents == ()
        assert json.dumps(folded.report)
