"""`atifold demo`: what a newcomer sees first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any


def test_the_demo_shows_spans_and_trajectories_and_where_they_are(run: Any, tmp_path: Path) -> None:
    """On nothing but the package: the tree, the steps, the files, and what to try next."""
    result = run("demo")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.split("\n")[1].startswith("A recorded agent: its ")
    for words in ("OpenTelemetry spans", "invoke_agent", "execute_tool", "error", "tokens in", "$", "ATIF traject"):
        assert words in result.stdout
    documents = sorted((tmp_path / "atifold-demo" / "trajectories").iterdir())
    assert documents
    for path in documents:
        assert str(path.relative_to(tmp_path)) in result.stdout
    assert run("check", "atifold-demo/trajectories").exit_code == 0


def test_the_demo_s_own_advice_works(run: Any, tmp_path: Path) -> None:
    """Folding the spans gives the documents that are there already."""
    said = run("demo", "-o", "here").stdout
    assert "fold here/spans.jsonl " in said
    assert "replay here/events.jsonl --otlp URL" in said
    assert run("fold", "here/spans.jsonl", "-o", "again").exit_code == 0
    assert run("replay", "here/events.jsonl", "-o", "anew").exit_code == 0
    assert sorted(p.name for p in (tmp_path / "anew").iterdir()) == sorted(
        p.name for p in (tmp_path / "again").iterdir()
    )
    there, again = ({p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("here/trajectories", "again"))
    assert there == again


def test_a_pipe_gets_no_colours(program: Any) -> None:
    """Escape sequences are for terminals; eighty columns hold everything, the error beside its tool too."""
    done = program("demo")
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    lines = done.stdout.decode().splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert any("search_trains  error: TimeoutError" in line for line in lines)
    assert all(len(line) <= 80 for line in lines if "atifold" not in line)


def test_a_folder_that_cannot_be_made_is_said(run: Any, tmp_path: Path) -> None:
    """The tree is shown all the same; one line for the spans, one for the documents; no file is promised; exit 3."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = run("demo", "-o", "file/demo")
    assert result.exit_code == 3
    assert len(result.stderr.splitlines()) == 2
    assert "invoke_agent" in result.stdout
    assert "file/demo" not in result.stdout
    assert "The spans could not be written. To go on:" in result.stdout
    assert "atifold demo -o DIR" in result.stdout


def test_only_files_that_are_there_are_offered(run: Any, tmp_path: Path) -> None:
    """The documents were written and the spans were not: one command goes on from them."""
    (tmp_path / "here" / "spans.jsonl").mkdir(parents=True)
    result = run("demo", "-o", "here")
    assert result.exit_code == 1
    assert "atifold check here/trajectories" in result.stdout
    assert "atifold fold" not in result.stdout


def test_an_encoding_without_lines_gets_ascii(program: Any) -> None:
    """No escapes of the tree's guides; nothing else changes."""
    ascii_text = program("demo", PYTHONIOENCODING="ascii", PYTHONUTF8="0").stdout.decode("ascii")
    assert "|- chat" in ascii_text
    assert "`- " in ascii_text
    assert "\\u2" not in ascii_text


def test_run_as_a_module_the_demo_offers_commands_of_the_module(tmp_path: Path) -> None:
    """Whoever has no program on the path calls it through Python again."""
    done = subprocess.run(
        [sys.executable, "-m", "atifold", "demo"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert f"{Path(sys.executable).name} -m atifold fold {Path('atifold-demo', 'spans.jsonl')}" in done.stdout
