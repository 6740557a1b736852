"""Recordings are read in every form they come in, and a bad line costs only itself."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from story import DEMO, Story, wires, write_lines

from atifold import InputError, Recording
from atifold.events.envelope import Event, parse
from atifold.recording import in_order

STORY = Story().turn().asks().answers().turn_over().disposed().events


def names(events: Any) -> list[str]:
    """Return the short names of events."""
    return [event.name for event in events]


WANTED = [event["type"].removeprefix("agentfootprint.") for event in STORY]
LINES = "".join(json.dumps(event) + "\n" for event in STORY)
FORMS = {
    "json lines": LINES,
    "no last newline": LINES.rstrip("\n"),
    "windows newlines": LINES.replace("\n", "\r\n"),
    "blank lines": "\n\n" + LINES.replace("\n", "\n\n"),
    "a recorder's document": json.dumps({"snapshot": {}, "events": STORY, "structure": {}}),
    "an indented document": json.dumps({"events": STORY}, indent=2),
    "an envelope": json.dumps({"format": "agentfootprint.recording.v1", "recording": {"events": STORY}}),
    "an indented envelope": json.dumps(
        {"format": "agentfootprint.recording.v1", "recording": {"events": STORY}}, indent=1
    ),
    "a list": json.dumps(STORY),
    "an indented list": json.dumps(STORY, indent=4),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_every_form_holds_the_same_events(text: str, packed: bool, tmp_path: Path) -> None:
    """Told apart by what is in them, not by their names."""
    path = tmp_path / "anything"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    recording = Recording(path)
    assert names(recording) == WANTED
    assert recording.complaints == []


def test_one_event_alone_is_a_recording(tmp_path: Path) -> None:
    """On one line, and spread over several."""
    for indent in (None, 2):
        path = tmp_path / "one.jsonl"
        path.write_text(json.dumps(STORY[0], indent=indent), encoding="utf-8")
        assert names(Recording(path)) == ["agent.turn_start"]


def test_an_event_whose_payload_has_events_is_still_one_event(tmp_path: Path) -> None:
    """A line that mentions `events` does not make the file a recorder's document."""
    odd = {"type": "made.up", "payload": {"events": [1, 2]}, "meta": {}}
    assert names(Recording(write_lines(tmp_path / "r.jsonl", [odd, *STORY]))) == ["made.up", *WANTED]
    assert names(Recording(write_lines(tmp_path / "r.jsonl", [odd]))) == ["made.up"]


def test_standard_input_is_a_file_named_dash() -> None:
    """It may be packed, too."""
    for data in (LINES.encode(), gzip.compress(LINES.encode())):
        assert names(Recording("-", stdin=io.BytesIO(data))) == WANTED


@pytest.mark.parametrize(
    "data",
    [LINES.encode() + b"\n{oops", b"{oops", b"", gzip.compress(LINES.encode(), mtime=0)[:60], b"[7]"],
    ids=["a bad line", "no JSON", "empty", "cut gzip", "no event"],
)
def test_complaints_about_standard_input_call_it_by_its_name(data: bytes) -> None:
    """`<stdin>`, as for every other input; a dash would be a file of that name."""
    recording = Recording("-", stdin=io.BytesIO(data))
    try:
        list(recording)
    except InputError as error:
        complaints = [error]
    else:
        complaints = recording.complaints
    assert [complaint.where.partition(":")[0] for complaint in complaints] == ["<stdin>"]


BAD = {
    "no JSON": ("{broken", "found no JSON"),
    "half a line": ('{"type": "agentfootprint.agent.tu', "found no JSON"),
    "a number": ("42", "found a number"),
    "a list": ("[1]", "found a list"),
    "null": ("null", "found null"),
    "no type": ('{"payload": {}}', 'found no "type"'),
    "a type that is no string": ('{"type": 7}', 'found a "type" that is no string'),
    "bytes that are no text": (b"\xff\xfe\x00", "found no JSON"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_a_bad_line_is_named_and_costs_only_itself(case: tuple[str | bytes, str], tmp_path: Path) -> None:
    """Where, what was found, what was wanted; the lines around it are read."""
    bad, found = case
    lines = [line.encode() for line in LINES.splitlines()]
    lines.insert(2, bad if isinstance(bad, bytes) else bad.encode())
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\n".join(lines))
    recording = Recording(path)
    assert names(recording) == WANTED
    (complaint,) = recording.complaints
    assert str(complaint).startswith(f"{path}:3: {found}")
    assert "wanted" in str(complaint)
    assert "\n" not in str(complaint)


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_a_bad_first_line_costs_only_itself(case: tuple[str | bytes, str], tmp_path: Path) -> None:
    """The form is recognised all the same."""
    bad, found = case
    path = tmp_path / "r.jsonl"
    path.write_bytes((bad if isinstance(bad, bytes) else bad.encode()) + b"\n" + LINES.encode())
    recording = Recording(path)
    assert names(recording) == WANTED
    assert [str(c).startswith(f"{path}:1: {found}") for c in recording.complaints] == [True]


def test_a_bad_element_of_a_document_is_named_by_its_number(tmp_path: Path) -> None:
    """A recorder's document has no lines to name."""
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"events": [STORY[0], 5, {"type": 1}, STORY[1]]}), encoding="utf-8")
    recording = Recording(path)
    assert len(list(recording)) == 2
    assert [str(c).split(": ")[1] for c in recording.complaints] == ["event 2", "event 3"]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "found an empty file"),
        (b" \n\n", "found an empty file"),
        (b"42", "found JSON that holds no events"),
        (b'{\n"events": 5\n}', "found JSON that holds no events"),
        (b'{"recording": {\n"events": {}}}', "found JSON that holds no events"),
        (b"{broken", "found no JSON"),
        (b"no JSON\nat all\n", "found no JSON"),
        (b"\x1f\x8b broken", "found a gzip stream that is cut or broken"),
        (gzip.compress(LINES.encode(), mtime=0)[:20], "found a gzip stream that is cut or broken"),
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(data: bytes, found: str, tmp_path: Path) -> None:
    """Nothing could be read: an error, with the place and what was wanted."""
    path = tmp_path / "r"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        list(Recording(path))
    assert str(error.value).startswith(f"{path}: {found}")
    assert "wanted" in str(error.value)


@pytest.mark.parametrize("damage", ["cut", "broken"])
def test_damaged_gzip_gives_the_events_before_the_damage(damage: str, tmp_path: Path) -> None:
    """Whole lines are kept, with one complaint, as for spans."""
    *whole, last = LINES.encode().splitlines(keepends=True)
    first, second = gzip.compress(b"".join(whole) + last[:9]), gzip.compress(last[9:])
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(first + (second[: len(second) // 2] if damage == "cut" else b"\x1f\x8bnonsense"))
    recording = Recording(path)
    assert names(recording) == WANTED[:-1]
    assert [str(complaint) for complaint in recording.complaints] == [
        f"{path}: found a gzip stream that is cut or broken, wanted whole gzip"
    ]


def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    """A missing file, a folder, one without permission."""
    locked = tmp_path / "locked"
    locked.write_text(LINES)
    locked.chmod(0)
    paths = [tmp_path / "missing", tmp_path] + ([locked] if os.geteuid() else [])
    for path in paths:
        with pytest.raises(InputError, match="cannot be read"):
            list(Recording(path))


def test_a_repeated_line_is_one_event(tmp_path: Path) -> None:
    """Within a file, and in files that are read as one set; a second reading starts anew."""
    path = write_lines(tmp_path / "r.jsonl", [*STORY, *STORY])
    recording = Recording(path)
    assert (names(recording), recording.repeated) == (WANTED, len(WANTED))
    assert (names(recording), recording.repeated) == (WANTED, len(WANTED))
    seen: set[bytes] = set()
    first, second = (Recording(path, seen=seen) for _ in range(2))
    assert (names(first), names(second)) == (WANTED, [])


def test_what_is_unknown_is_kept_and_counted(tmp_path: Path) -> None:
    """Unknown names, fields and unreadable payloads are no complaint."""
    odd = [
        {"type": "made.up", "payload": {}, "meta": {}},
        {"type": "agentfootprint.stream.llm_end", "payload": {"content": 5}, "meta": {}},
        {"type": "agentfootprint.stream.llm_end", "payload": {"content": "x", "new": 1}, "meta": {}, "beside": 2},
        {"type": "agentfootprint.risk.flagged", "payload": {}, "meta": {}},
        {"type": "agentfootprint.agent.turn_start"},
    ]
    recording = Recording(write_lines(tmp_path / "r.jsonl", odd))
    events = list(recording)
    assert recording.complaints == []
    assert [event.to_wire() for event in events] == odd
    reasons = Counter(getattr(event.payload, "reason", None) for event in events)
    assert reasons == {"unknown": 1, "unreadable": 2, "untyped": 1, None: 1}


# ---- order ---------------------------------------------------------------------------------------


def at(name: str, time_ms: int, stage: str = "", **payload: Any) -> Event[Any]:
    """Return an event of a time and a stage."""
    wire = {
        "type": f"agentfootprint.{name}",
        "payload": payload,
        "meta": {"wallClockMs": time_ms, "runtimeStageId": stage},
    }
    return parse(wire)


def test_time_comes_first_then_the_stage_then_start_before_end() -> None:
    """Every permutation of the lines of a few milliseconds gives the one order."""
    wanted = [
        at("pause.resume", 1, "tool-calls#resumed"),
        at("agent.run_configured", 1, "run-configured#0"),
        at("stream.llm_start", 1, "call-llm#2"),
        at("stream.llm_end", 1, "call-llm#2"),
        at("stream.tool_start", 1, "sf-x/tool-calls#10"),
        at("permission.check", 1, "sf-x/tool-calls#10"),
        at("stream.tool_end", 1, "sf-x/tool-calls#10"),
    ]
    for permutation in itertools.islice(itertools.permutations(wanted), 0, 5040, 7):
        assert names(in_order(list(permutation))) == names(wanted)


def test_a_disposition_is_the_last_of_its_millisecond() -> None:
    """Whatever its stage says, and after events without a stage."""
    events = [
        at("integrity.disposition", 5, "integrity-disposition#0"),
        at("pause.request", 5, "x#paused"),
        at("agent.turn_end", 5, "f#9"),
    ]
    for permutation in itertools.permutations(events):
        assert names(in_order(list(permutation))) == ["agent.turn_end", "pause.request", "integrity.disposition"]


def test_equal_events_keep_the_files_order() -> None:
    """Of two chunks of one millisecond the first stays first."""
    events = [at("stream.token", 1, "c#1", tokenIndex=n) for n in range(5)]
    assert [event.payload.token_index for event in in_order(events)] == [0, 1, 2, 3, 4]


def test_finer_times_count() -> None:
    """Nanoseconds, where the envelope has them, come before the stage's number."""
    wires_ = [
        {"type": "a.b.c", "meta": {"wallClockMs": 1, "runtimeStageId": f"s#{2 - n}", "atifold.timeNs": 1_000_000 + n}}
        for n in range(2)
    ]
    assert [event.meta.time_ns for event in in_order([parse(w) for w in wires_])] == [1_000_000, 1_000_001]


def test_the_demo_is_in_order_and_a_shuffled_one_is_put_back() -> None:
    """Its times are fine enough to put any shuffle right, ties of one stage apart."""
    events = [parse(wire) for wire in wires(DEMO)]
    assert names(in_order(events)) == names(events)
    shuffled = list(events)
    random.Random(1).shuffle(shuffled)  # noqa: S311
    assert [e.meta.time_ns for e in in_order(shuffled)] == [e.meta.time_ns for e in events]
