"""`atifold check`: findings, exit codes and the forms of its input."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

VALID: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "trajectory_id": "t1",
    "agent": {"name": "a", "version": "1"},
    "steps": [{"step_id": 1, "source": "user", "message": "hi"}],
}
INVALID: dict[str, Any] = {**VALID, "steps": [{"step_id": 1, "source": "nobody", "message": "hi"}]}


def put(path: Path, *documents: Any) -> Path:
    """Write documents, one a line, and return the path."""
    path.write_text("\n".join(json.dumps(document) for document in documents), encoding="utf-8")
    return path


def test_a_valid_document_passes(run: Any, tmp_path: Path) -> None:
    """Nothing on stdout, one line on stderr, exit 0."""
    result = run("check", put(tmp_path / "good.json", VALID))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "1 document checked, valid, nothing found\n"


def test_an_invalid_document_is_named_with_the_path_of_the_finding(run: Any, tmp_path: Path) -> None:
    """The line says the file, the place in it and what was found there; exit 1."""
    path = put(tmp_path / "bad.json", INVALID)
    result = run("check", path)
    assert result.exit_code == 1
    (line,) = result.stdout.splitlines()
    assert line.startswith(f"{path}: steps[0].source: ")
    assert "nobody" in line
    assert "1 document checked, invalid, 1 finding" in result.stderr


def test_the_good_file_beside_a_bad_one_is_still_checked(run: Any, tmp_path: Path) -> None:
    """A file that is no JSON costs its own line only; exit 1."""
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    put(tmp_path / "good.json", VALID)
    result = run("check", "broken.json", "good.json")
    assert result.exit_code == 1
    assert result.stderr.startswith("atifold: broken.json:1: found no JSON")
    assert "1 document checked, valid" in result.stderr


@pytest.mark.parametrize("name", ["missing.json", "missing.jsonl"])
def test_nothing_that_can_be_read_is_exit_code_3(run: Any, name: str) -> None:
    """One line about the file, one that nothing was checked."""
    result = run("check", name)
    assert result.exit_code == 3
    assert result.stderr.splitlines()[0].startswith(f"atifold: {name}: cannot be read: No such file")
    assert result.stderr.splitlines()[1:] == ["nothing was checked"]


def test_a_json_lines_file_holds_a_document_a_line(run: Any, tmp_path: Path) -> None:
    """Findings and unreadable lines are named with their line."""
    path = put(tmp_path / "many.jsonl", VALID, INVALID)
    path.write_text(path.read_text(encoding="utf-8") + "\n\n{oops\n", encoding="utf-8")
    result = run("check", path)
    assert result.exit_code == 1
    assert result.stdout.startswith(f"{path}:2: steps[0].source: ")
    assert result.stderr.startswith(f"atifold: {path}:4: found no JSON")
    assert "2 documents checked, 1 invalid" in result.stderr


def test_stdin_may_hold_one_document_or_one_a_line(run: Any) -> None:
    """An indented document and JSON Lines both come through a pipe."""
    for stdin, checked in ((json.dumps(VALID, indent=1), "1 document"), (f"{json.dumps(VALID)}\n" * 2, "2 documents")):
        result = run("check", "-", stdin=stdin.encode())
        assert result.exit_code == 0
        assert result.stderr.startswith(f"{checked} checked, valid")


def test_a_folder_stands_for_the_documents_in_it(run: Any, tmp_path: Path) -> None:
    """Its .json and .jsonl files are checked, what else lies there is not."""
    put(tmp_path / "a.json", VALID)
    put(tmp_path / "b.jsonl", VALID, VALID)
    (tmp_path / "notes.txt").write_text("no JSON", encoding="utf-8")
    assert run("check", tmp_path).stderr.startswith("3 documents checked, valid")


def test_a_folder_without_documents_is_refused(run: Any, tmp_path: Path) -> None:
    """It says what was looked for; exit 3."""
    (tmp_path / "empty").mkdir()
    result = run("check", "empty")
    assert result.exit_code == 3
    assert result.stderr.startswith("atifold: empty: found a folder without a file to read, wanted at least one")


def test_the_closing_line_counts_what_could_not_be_checked(run: Any, tmp_path: Path) -> None:
    """All is well only where all was looked at."""
    put(tmp_path / "a.json", VALID)
    for inputs, closing in (
        (("a.json", "none.json"), "1 document checked, valid, nothing found; 1 more could not be checked"),
        (("a.json",), "1 document checked, valid, nothing found"),
    ):
        assert run("check", *inputs).stderr.splitlines()[-1] == closing


def test_a_folder_that_cannot_be_read_is_an_object_too(run: Any, tmp_path: Path) -> None:
    """With --json, stdout has all and stderr only the closing line."""
    (tmp_path / "empty").mkdir()
    result = run("check", "--json", "empty")
    assert json.loads(result.stdout)["where"] == "empty"
    assert result.stderr == "nothing was checked\n"


def test_json_output_is_an_object_a_document(run: Any, tmp_path: Path) -> None:
    """Machines get the place, the verdict and the findings, also of what cannot be read."""
    put(tmp_path / "a.json", VALID)
    put(tmp_path / "b.json", INVALID)
    result = run("check", "--json", "a.json", "b.json", "c.json")
    good, bad, unread = map(json.loads, result.stdout.splitlines())
    assert good == {"where": "a.json", "valid": True, "findings": []}
    assert (bad["valid"], bad["findings"][0]["path"]) == (False, "steps[0].source")
    assert bad["findings"][0]["severity"] == "error"
    assert (unread["where"], unread["valid"]) == ("c.json", False)
    assert "No such file" in unread["unreadable"]
    assert result.exit_code == 1
    assert result.stderr == "2 documents checked, 1 invalid, 1 finding; 1 more could not be checked\n"


def test_gzip_is_known_by_its_first_bytes(run: Any, tmp_path: Path) -> None:
    """Compressed files are checked whatever their names, in folders and through a pipe too."""
    data = gzip.compress(f"{json.dumps(VALID)}\n{json.dumps(INVALID)}\n".encode())
    (tmp_path / "many.jsonl.gz").write_bytes(data)
    for result in (run("check", tmp_path), run("check", "many.jsonl.gz"), run("check", "-", stdin=data)):
        assert result.exit_code == 1
        assert ":2: steps[0].source: " in result.stdout
        assert "2 documents checked, 1 invalid" in result.stderr


def test_damaged_gzip_gives_the_documents_before_the_damage(run: Any, tmp_path: Path) -> None:
    """Whole lines are checked, and the damage is one line; exit 1."""
    whole = gzip.compress(f"{json.dumps(VALID)}\n".encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole + gzip.compress(json.dumps(VALID).encode())[:-9])
    result = run("check", "cut.jsonl.gz")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "atifold: cut.jsonl.gz: found a gzip stream that is cut or broken, wanted whole gzip",
        "1 document checked, valid, nothing found; 1 more could not be checked",
    ]


@pytest.mark.parametrize("name", ["lines.json", "lines.jsonl"])
def test_lines_are_known_by_what_is_in_them(run: Any, tmp_path: Path, name: str) -> None:
    """Also where the first of them is broken; the file's name does not matter."""
    (tmp_path / name).write_text(f"{{oops\n{json.dumps(VALID)}\n", encoding="utf-8")
    result = run("check", name)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"atifold: {name}:1: found no JSON")
    assert "1 document checked, valid" in result.stderr


def test_an_empty_file_is_refused(run: Any, tmp_path: Path) -> None:
    """Whoever names a file expects something in it."""
    (tmp_path / "e.json").write_bytes(b"\n")
    result = run("check", "e.json")
    assert result.exit_code == 3
    assert result.stderr.startswith("atifold: e.json: found an empty file, wanted a file with ATIF documents")


def test_a_document_that_is_no_object_is_invalid(run: Any, tmp_path: Path) -> None:
    """A list of documents is JSON, and no document."""
    result = run("check", put(tmp_path / "list.json", [VALID]))
    assert result.exit_code == 1
    assert "wanted a JSON object" in result.stdout
