"""Files that are meant for another command: one line each, with the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atifold.cli.wrong_kind import Kind, kind_in, kind_of

EVENT = {"type": "agentfootprint.agent.turn_start", "payload": {}, "meta": {"runId": "r"}}
DOCUMENT = {
    "schema_version": "ATIF-v1.7",
    "trajectory_id": "t",
    "agent": {"name": "a", "version": "1"},
    "steps": [{"step_id": 1, "source": "user", "message": "hi"}],
}


@pytest.fixture
def folder(trace: Any, tmp_path: Path) -> Path:
    """Return a folder with a trace, a recording of three lines, two documents and a report."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.jsonl").write_bytes(trace(1))
    (tmp_path / "in" / "r.jsonl").write_text(f"{json.dumps(EVENT)}\n" * 3, encoding="utf-8")
    for name in ("a.json", "b.json"):
        (tmp_path / "in" / name).write_text(json.dumps(DOCUMENT, indent=1), encoding="utf-8")
    (tmp_path / "in" / "report.json").write_text('{"totals": {}, "documents": []}', encoding="utf-8")
    return tmp_path / "in"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (EVENT, Kind.RECORDING),
        ({"recording": {"events": []}}, Kind.RECORDING),
        ({"snapshot": {}, "events": []}, Kind.RECORDING),
        (DOCUMENT, Kind.DOCUMENT),
        ({"schema_version": "ATIF-v1.9"}, Kind.DOCUMENT),
        ({"totals": {"documents": 0}, "documents": []}, Kind.REPORT),
        ({"resourceSpans": []}, Kind.TRACE),
        ([{"resourceSpans": []}], Kind.TRACE),
        ({}, None),
        ([], None),
        ({"type": "object", "title": "a schema"}, None),
        ("text", None),
        (None, None),
    ],
)
def test_a_value_is_known_by_its_fields(value: Any, kind: Kind | None) -> None:
    """What tells nothing is of no kind."""
    assert kind_of(value) is kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", None),
        (b"{oops", None),
        (b'{"title": "a schema"}', Kind.OTHER),
        (b"{oops\n" + json.dumps(EVENT).encode(), Kind.RECORDING),
        (b"\xef\xbb\xbf" + json.dumps(DOCUMENT, indent=1).encode(), Kind.DOCUMENT),
    ],
)
def test_a_file_is_known_by_its_first_part_that_is_json(data: bytes, kind: Kind | None) -> None:
    """A broken line, an indented document and a byte order mark do not matter."""
    assert kind_in(data) is kind


@pytest.mark.parametrize(
    ("command", "name", "words"),
    [
        ("fold", "r.jsonl", "found a recording of events, wanted a trace (for recordings: atifold replay)"),
        ("fold", "a.json", "found an ATIF document, wanted a trace (for documents: atifold check)"),
        ("fold", "report.json", "found the report of a fold, wanted a trace (reports are for people)"),
        ("replay", "t.jsonl", "found a trace, wanted a recording of events (for traces: atifold fold)"),
        ("replay", "a.json", "found an ATIF document, wanted a recording of events (for documents: atifold check)"),
        ("check", "t.jsonl", "found a trace, wanted an ATIF document (for traces: atifold fold)"),
        ("check", "r.jsonl", "found a recording of events, wanted an ATIF document (for recordings: atifold replay)"),
        ("check", "report.json", "found the report of a fold, wanted an ATIF document (reports are for people)"),
    ],
)
def test_a_file_for_another_command_is_one_line_with_the_remedy(
    run: Any, folder: Path, command: str, name: str, words: str
) -> None:
    """However many lines it has, named or through a pipe; nothing else is said of it; exit 3."""
    path = folder / name
    for argument, where in ((path, path), ("-", "<stdin>")):
        result = run(command, argument, stdin=path.read_bytes())
        assert (result.exit_code, result.stdout) == (3, "")
        closing = ["nothing was checked"] if command == "check" else []
        assert result.stderr.splitlines() == [f"atifold: {where}: {words}", *closing]


def test_files_of_another_kind_in_a_folder_are_one_line(run: Any, folder: Path) -> None:
    """The good one beside them is folded, a report is passed over; exit 1."""
    result = run("fold", folder)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    documents, recording = result.stderr.splitlines()[:2]
    found = f"found 2 ATIF documents ({folder / 'a.json'} and 1 other)"
    assert documents == f"atifold: {folder}: {found}, wanted traces (for documents: atifold check)"
    assert recording.startswith(f"atifold: {folder / 'r.jsonl'}: found a recording of events, ")


def test_other_json_in_a_folder_is_one_line(run: Any, trace: Any, tmp_path: Path) -> None:
    """A folder may hold much that is no trace; a file that was named itself is told what is in it."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.jsonl").write_bytes(trace())
    for name in ("a.json", "b.json", "c.json"):
        (tmp_path / "in" / name).write_text('{"title": 1}', encoding="utf-8")
    words = f"in: found 3 files of other JSON ({Path('in', 'a.json')} and 2 others), wanted traces"
    assert run("fold", "in").stderr.splitlines()[0] == f"atifold: {words}"
    assert "found a JSON object with title, wanted OTLP JSON" in run("fold", "in/a.json").stderr


def test_a_report_among_documents_is_passed_over(run: Any, trace: Any) -> None:
    """`--report` may write into the folder that `check` is then shown."""
    assert run("fold", "-", "-o", "out", "--report", "out/report.json", stdin=trace()).exit_code == 0
    result = run("check", "out")
    assert (result.exit_code, result.stderr) == (0, "1 document checked, valid, nothing found\n")


@pytest.mark.parametrize("command", ["fold", "replay"])
def test_lines_that_are_wrong_for_one_reason_are_one_line(run: Any, tmp_path: Path, command: str) -> None:
    """The first is named with its number, the others are counted; the report has them all."""
    (tmp_path / "x.jsonl").write_text("".join(f'{{"a": {n}}}\n' for n in range(3)), encoding="utf-8")
    result = run(command, "x.jsonl", "--report", "r.json")
    assert result.exit_code == 3
    (line,) = result.stderr.splitlines()
    assert line.startswith("atifold: x.jsonl:1: ")
    assert line.endswith(" (and 2 more lines of this file)")
    refused = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["refused"]
    assert [entry["where"] for entry in refused] == ["x.jsonl:1", "x.jsonl:2", "x.jsonl:3"]


def test_the_good_lines_beside_those_of_another_kind_are_checked(run: Any, tmp_path: Path) -> None:
    """A document and two events in one file: the events are one line."""
    lines = [json.dumps(value) for value in (DOCUMENT, EVENT, EVENT)]
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = run("check", "x.jsonl")
    assert result.exit_code == 1
    assert [line.split(": ")[1] for line in result.stderr.splitlines()[:1]] == ["x.jsonl"]
    assert result.stderr.splitlines()[1:] == ["1 document checked, valid, nothing found; 1 more could not be checked"]
