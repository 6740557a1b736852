"""`atifold fold`: where documents go, what is said, and the exit codes."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

as_root = os.name == "posix" and os.geteuid() == 0


def files_in(folder: Path) -> list[str]:
    """Return the names of the files in a folder, in order."""
    return sorted(path.name for path in folder.iterdir())


def test_documents_are_json_lines_on_stdout_unless_said_otherwise(run: Any, trace: Any) -> None:
    """A pipe gets one compact document a line, the words go to stderr."""
    result = run("fold", "-", stdin=trace(1) + trace(2))
    assert result.exit_code == 0
    documents = [json.loads(line) for line in result.stdout.splitlines()]
    assert [d["schema_version"] for d in documents] == ["ATIF-v1.7"] * 2
    assert [[s["message"] for s in d["steps"]] for d in documents] == [["ping", "pong"]] * 2
    assert result.stderr.startswith("4 spans -> 2 trajectories on stdout")


def test_a_folder_gets_a_file_a_document(run: Any, trace: Any, tmp_path: Path) -> None:
    """The folder is made, and every file in it is a valid document."""
    (tmp_path / "a.jsonl").write_bytes(trace(1) + trace(2))
    result = run("fold", "a.jsonl", "-o", "out/deep")
    assert (result.exit_code, result.stdout) == (0, "")
    names = files_in(tmp_path / "out/deep")
    assert len(names) == 2
    assert all(name.endswith(".json") for name in names)
    assert run("check", "out/deep").exit_code == 0
    assert "2 trajectories in out/deep" in result.stderr


def test_a_name_ending_in_jsonl_gets_all_documents(run: Any, trace: Any, tmp_path: Path) -> None:
    """One file, a document a line; a second run replaces it, also by nothing."""
    other = trace().replace(b"gen_ai.", b"http.").replace(b"invoke_agent echo", b"GET").replace(b"chat mock", b"POST")
    for stdin, lines in ((trace(1) + trace(2), 2), (trace(3), 1), (other, 0)):
        assert run("fold", "-", "-o", "all.jsonl", stdin=stdin).exit_code == 0
        assert len((tmp_path / "all.jsonl").read_bytes().splitlines()) == lines


def test_a_dash_is_stdout(run: Any, trace: Any) -> None:
    """`-o -` says the default aloud."""
    assert run("fold", "-", "-o", "-", stdin=trace()).stdout == run("fold", "-", stdin=trace()).stdout


def test_several_inputs_are_one_set(run: Any, trace: Any, tmp_path: Path) -> None:
    """A trace spread over two files is one document, and a span that comes twice counts once."""
    lines = trace(1)
    spans = json.loads(lines)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for number, kept in enumerate((spans[:1], spans)):
        request = json.loads(lines)
        request["resourceSpans"][0]["scopeSpans"][0]["spans"] = kept
        (tmp_path / f"{number}.json").write_text(json.dumps(request), encoding="utf-8")
    result = run("fold", "0.json", "1.json")
    assert result.stdout == run("fold", "-", stdin=lines).stdout


def test_a_folder_of_traces_is_read_whole(run: Any, trace: Any, tmp_path: Path) -> None:
    """Files below it and compressed ones too; what is hidden or named otherwise is not read."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "a.jsonl").write_bytes(trace(1))
    (tmp_path / "in" / "sub" / "b.json.gz").write_bytes(gzip.compress(trace(2)))
    (tmp_path / "in" / ".hidden.json").write_text("no JSON", encoding="utf-8")
    (tmp_path / "in" / "README.md").write_text("no JSON", encoding="utf-8")
    result = run("fold", "in")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize("version", ["1.7", "1.8"])
def test_the_version_can_be_chosen(run: Any, trace: Any, version: str) -> None:
    """Both versions that are written are valid."""
    result = run("fold", "-", "--atif", version, stdin=trace())
    assert json.loads(result.stdout)["schema_version"] == f"ATIF-v{version}"
    assert run("check", "-", stdin=result.stdout.encode()).exit_code == 0


def test_the_good_file_beside_bad_ones_is_folded(run: Any, trace: Any, tmp_path: Path) -> None:
    """Each bad file is one line, the good one is a document; exit 1."""
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "good.jsonl").write_bytes(trace())
    result = run("fold", "bad.json", "missing.json", "good.jsonl", "-o", "out")
    assert result.exit_code == 1
    first, second, third = result.stderr.splitlines()[:3]
    assert first.startswith("atifold: bad.json")
    assert second.startswith("atifold: missing.json: cannot be read")
    assert third.startswith("2 spans -> 1 trajectory in out")
    assert len(files_in(tmp_path / "out")) == 1


def test_a_bad_line_is_named_with_its_number(run: Any, trace: Any, tmp_path: Path) -> None:
    """The lines around it are folded; exit 1."""
    (tmp_path / "t.jsonl").write_bytes(trace(1) + b"{oops\n" + trace(2))
    result = run("fold", "t.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith("atifold: t.jsonl:2: ")
    assert len(result.stdout.splitlines()) == 2


def test_nothing_readable_is_exit_code_3(run: Any) -> None:
    """Nothing on stdout, one line about the file and not a word more."""
    result = run("fold", "missing.json")
    assert (result.exit_code, result.stdout) == (3, "")
    (line,) = result.stderr.splitlines()
    assert line == "atifold: missing.json: cannot be read: No such file or directory, wanted a readable file"


@pytest.mark.parametrize("output", ["all.jsonl", "out"])
def test_what_an_earlier_run_wrote_stays_where_nothing_could_be_read(
    run: Any, trace: Any, tmp_path: Path, output: str
) -> None:
    """A misspelt input does not cost the documents that are there."""
    run("fold", "-", "-o", output, stdin=trace())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    assert run("fold", "missing.json", "-o", output).exit_code == 3
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json*")} == before


@pytest.mark.parametrize("command", ["fold", "replay", "check"])
def test_an_empty_input_is_an_error(run: Any, tmp_path: Path, command: str) -> None:
    """Nothing in a file or a pipe is not the same as nothing to do: exit 3, whatever the command."""
    (tmp_path / "e.json").touch()
    for argument, where in (("e.json", "e.json"), ("-", "<stdin>")):
        result = run(command, argument)
        assert result.exit_code == 3
        assert result.stderr.startswith(f"atifold: {where}: found an empty file, wanted ")


@pytest.mark.parametrize("name", ["out.json", "out.JSON", "out.ndjson", "out.json.gz"])
def test_an_output_that_looks_like_one_document_is_wrong_usage(run: Any, trace: Any, tmp_path: Path, name: str) -> None:
    """No folder of that name is made; it is said what was wanted."""
    result = run("fold", "-", "-o", name, stdin=trace())
    assert result.exit_code == 2
    assert f"'{name}': a folder, a file that ends in .jsonl or - (stdout) was wanted" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_called_like_a_file_is_taken(run: Any, trace: Any, tmp_path: Path) -> None:
    """Whoever made it meant it."""
    (tmp_path / "out.json").mkdir()
    assert run("fold", "-", "-o", "out.json", stdin=trace()).exit_code == 0
    assert len(files_in(tmp_path / "out.json")) == 1


def test_a_report_on_stdout_stands_there_alone(run: Any, trace: Any, tmp_path: Path) -> None:
    """`--report -` is one JSON object; documents go to -o, or are not written, which is said."""
    result = run("fold", "-", "--report", "-", stdin=trace())
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["documents"]) == 1
    assert "none written (-o DIR writes them)" in result.stderr
    result = run("fold", "-", "--report", "-", "-o", "out", stdin=trace())
    assert json.loads(result.stdout)["totals"]["documents"] == 1
    assert files_in(tmp_path) == ["out"]


@pytest.mark.parametrize("command", ["fold", "replay"])
def test_documents_and_report_do_not_share_stdout(run: Any, command: str) -> None:
    """Nobody could tell them apart: wrong usage."""
    result = run(command, "-", "-o", "-", "--report", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "both want stdout" in result.stderr


def test_spans_without_an_agent_are_no_error(run: Any, trace: Any) -> None:
    """A trace of something else has no trajectory: said, exit 0."""
    other = trace().replace(b"gen_ai.", b"http.").replace(b"invoke_agent echo", b"GET").replace(b"chat mock", b"POST")
    result = run("fold", "-", stdin=other)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no trajectory" in result.stderr


def test_a_folder_that_cannot_be_made_is_one_line(run: Any, trace: Any, tmp_path: Path) -> None:
    """Two documents fail for one reason; nothing was written: exit 3."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = run("fold", "-", "-o", "file/out", stdin=trace(1) + trace(2))
    assert result.exit_code == 3
    errors = [line for line in result.stderr.splitlines() if line.startswith("atifold:")]
    assert len(errors) == 1
    assert "cannot be written: Not a directory" in errors[0]


@pytest.mark.skipif(as_root, reason="root may write everywhere")
def test_a_folder_without_permission_is_one_line(run: Any, trace: Any, tmp_path: Path) -> None:
    """The operating system's reason is in the line."""
    (tmp_path / "locked").mkdir(mode=0o500)
    result = run("fold", "-", "-o", "locked/out", stdin=trace())
    assert result.exit_code == 3
    assert "cannot be written: Permission denied" in result.stderr


def test_a_report_that_cannot_be_written_costs_no_document(run: Any, trace: Any, tmp_path: Path) -> None:
    """The document is there, the report is a line; exit 1."""
    (tmp_path / "taken").mkdir()
    result = run("fold", "-", "-o", "out", "--report", "taken", stdin=trace())
    assert result.exit_code == 1
    assert "atifold: taken: cannot be written: Is a directory" in result.stderr
    assert files_in(tmp_path) == ["out", "taken"]
    assert len(files_in(tmp_path / "out")) == 1


def test_the_report_says_what_was_done_and_refused(run: Any, trace: Any, tmp_path: Path) -> None:
    """One entry a document, and every refused place."""
    run("fold", "-", "missing.json", "--report", "deep/report.json", stdin=trace())
    report = json.loads((tmp_path / "deep/report.json").read_text(encoding="utf-8"))
    assert len(report["documents"]) == 1
    assert [refused["where"] for refused in report["refused"]] == ["missing.json"]


def test_missing_content_is_said(run: Any, trace: Any, tmp_path: Path) -> None:
    """Spans without content still make a valid trajectory, and both report and stderr say what is missing."""
    result = run("fold", "-", "-o", "out", "--report", "r.json", stdin=trace(content=False))
    assert result.exit_code == 0
    assert run("check", "out").exit_code == 0
    (missing,) = [line for line in result.stderr.splitlines() if line.startswith("  missing: ")]
    assert "content" in missing
    assert "content" in str(json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["documents"])


def test_the_group_comes_from_the_flag_or_the_environment(
    run: Any, trace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word that is no group is wrong usage, wherever it stands; the flag wins."""
    assert run("fold", "-", "--group", "session", stdin=trace()).exit_code == 2
    monkeypatch.setenv("ATIFOLD_GROUP", "session")
    assert run("fold", "-", stdin=trace()).exit_code == 2
    assert run("fold", "-", "--group", "conversation", stdin=trace()).exit_code == 0


def test_the_same_input_gives_the_same_bytes(run: Any, trace: Any) -> None:
    """Nothing rests on chance or on the clock."""
    assert run("fold", "-", stdin=trace(2) + trace(1)).stdout == run("fold", "-", stdin=trace(1) + trace(2)).stdout


def test_a_trace_without_its_root_is_incomplete(run: Any, trace: Any, tmp_path: Path) -> None:
    """As the file of a collector that was killed has it; the other trace is whole, and the report says which."""
    spans = json.loads(trace(1))
    inner = spans["resourceSpans"][0]["scopeSpans"][0]["spans"]
    inner[:] = [span for span in inner if span.get("parentSpanId")]
    assert inner
    result = run(
        "fold", "-", "-o", "out/", "--report", "report.json", stdin=json.dumps(spans).encode() + b"\n" + trace(2)
    )
    assert result.exit_code == 0
    assert "(1 incomplete)" in result.stderr
    documents = [json.loads((tmp_path / "out" / name).read_bytes()) for name in files_in(tmp_path / "out")]
    assert sorted(str(d["extra"]["atifold"].get("incomplete")) for d in documents) == ["None", "['no_root']"]
    told = json.loads((tmp_path / "report.json").read_bytes())["documents"]
    assert [entry.get("incomplete") for entry in told].count(["no_root"]) == 1
    assert run("check", "out").exit_code == 0
