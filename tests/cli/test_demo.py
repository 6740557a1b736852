"""`atifold demo`: what a newcomer sees first."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_the_demo_shows_spans_and_trajectories_and_where_they_are(run: Any, tmp_path: Path) -> None:
    """On nothing but the package: the tree, the steps, the files, and what to try next."""
    result = run("demo")
    assert (result.exit_code, result.stderr) == (0, "")
    for words in ("OpenTelemetry spans", "invoke_agent", "execute_tool", "error", "tokens in", "$", "ATIF traject"):
        assert words in result.stdout
    documents = sorted((tmp_path / "atifold-demo" / "trajectories").iterdir())
    assert documents
    for path in documents:
        assert str(path.relative_to(tmp_path)) in result.stdout
    assert run("check", "atifold-demo/trajectories").exit_code == 0


def test_the_demo_s_own_advice_works(run: Any, tmp_path: Path) -> None:
    """Folding the spans gives the documents that are there already."""
    run("demo", "-o", "here")
    assert run("fold", "here/spans.jsonl", "-o", "again").exit_code == 0
    there, again = ({p.name: p.read_bytes() for p in (tmp_path / d).iterdir()} for d in ("here/trajectories", "again"))
    assert there == again


def test_a_pipe_gets_no_colours(program: Any) -> None:
    """Escape sequences are for terminals; eighty columns hold everything."""
    done = program("demo")
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.decode().splitlines() if "atifold-demo" not in line)


def test_a_folder_that_cannot_be_made_is_said(run: Any, tmp_path: Path) -> None:
    """The tree is shown all the same; one line for the spans, one for the documents; exit 3."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = run("demo", "-o", "file/demo")
    assert result.exit_code == 3
    assert len(result.stderr.splitlines()) == 2
    assert "invoke_agent" in result.stdout
