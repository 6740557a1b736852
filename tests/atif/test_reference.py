"""Our verdicts beside those of the reference validator (PyPI harbor, Python 3.12 or newer)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from atifold import atif

reference = pytest.importorskip("harbor.utils.trajectory_validator", reason="harbor is not installed")
pytestmark = pytest.mark.reference

Mutants = Callable[[dict[str, Any]], Iterator[tuple[str, dict[str, Any]]]]

TIMES = (
    *("2026-03-01T20:00:00Z", "2026-03-01 20:00", "2026-03-01", "20260301T200000Z", "2026-W09-7", "2026W097T20"),
    *("2026-03-01T20:00:00.1234567+01:00", "2026-03-01T20:00:00,5-0130", "2026-03-01T20Z", "2026-03-01T20:00:00z"),
    *("", "Z", "today", "2026-02-30", "2026-03-01T25:00", "1772395200", "2026-03-01T20:00:00 Z", "2026-060", "\ud800"),
    *("2026-03-01T24:00:00Z", "2026-03-01T20:00:60Z", "2026-03-01T2000:00", "+2026-03-01", "2026-3-1"),
)


def reference_accepts(document: Any) -> bool:
    """Ask the reference validator; where it breaks down over a document it has not accepted it."""
    try:
        return reference.TrajectoryValidator().validate(document)
    except (TypeError, AttributeError, OSError, UnicodeEncodeError):
        return False


def test_every_shared_trajectory_gets_the_reference_verdict(shared: Path) -> None:
    """Whole files, media paths included: the same files are accepted, and the same refused."""
    files = sorted((shared / "trajectories").rglob("*.json"))
    ours = {path.name: not atif.check_file(path) for path in files}
    assert ours == {path.name: reference_accepts(path) for path in files}
    assert set(ours.values()) == {True, False}


def test_every_document_changed_in_one_place_gets_the_reference_verdict(
    full: dict[str, Any], audio: dict[str, Any], mutants: Mutants
) -> None:
    """Thousands of documents that differ from a valid one in one value: not one verdict differs."""
    verdicts = {
        name: (not atif.check(mutant), reference_accepts(mutant))
        for document in (full, audio)
        for name, mutant in mutants(document)
    }
    assert {name: both for name, both in verdicts.items() if both[0] != both[1]} == {}
    assert {both[0] for both in verdicts.values()} == {True, False}


@pytest.mark.parametrize("text", TIMES, ids=ascii)
def test_every_spelling_of_a_time_gets_the_reference_verdict(small: dict[str, Any], text: str) -> None:
    """A timestamp is read here exactly if the reference reads it."""
    small["steps"][0]["timestamp"] = text
    assert (not atif.check(small)) == reference_accepts(small)


def test_the_same_media_files_are_missed(audio: dict[str, Any], tmp_path: Path) -> None:
    """Local files of the document's own steps must exist in file mode; an embedded document's need not."""
    (tmp_path / "here.png").touch()
    for place in ("here.png", "gone.png", "", str(tmp_path / "here.png"), "/gone.png", "s3://gone.png", "n" * 300):
        for owner in (audio, audio["subagent_trajectories"][0]):
            changed = json.loads(json.dumps(audio if owner is audio else {**audio, "subagent_trajectories": [owner]}))
            target = changed if owner is audio else changed["subagent_trajectories"][0]
            target["steps"][0]["message"] = [{"type": "image", "source": {"media_type": "image/png", "path": place}}]
            file = tmp_path / "document.json"
            file.write_bytes(atif.dumps(changed))
            assert (not atif.check_file(file)) == reference_accepts(file), place
