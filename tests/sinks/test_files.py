"""Temporary files: what a process leaves behind that was killed in the midst of writing is taken away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from atifold.sinks.files import sweep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="nothing is swept here")


def _gone() -> int:
    """Return the id of a process that is no more."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_what_the_dead_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    """Also what has this process's own id, which has written nothing yet; below a document's folder too."""
    dead, own, other = f"{_gone()}-1", f"{os.getpid()}-1", f"{os.getppid()}-1"
    (tmp_path / "pictures").mkdir()
    left = [f".one.{dead}.tmp", f".two.{own}.tmp", f"pictures/.p.{dead}.tmp"]
    kept = [f".three.{other}.tmp", ".notes.tmp", "one.json", f"four.{dead}.tmp", ".5.99999999999999999999-1.tmp2"]
    for name in (*left, *kept):
        (tmp_path / name).write_text("x")
    sweep(tmp_path)
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert found == sorted(kept)


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    """It is made with the first document."""
    sweep(tmp_path / "none")
    assert not (tmp_path / "none").exists()
