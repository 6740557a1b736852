"""What the commands write, before the reference validator (PyPI harbor, Python 3.12 or newer)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from atifold.cli import main

validator = pytest.importorskip("harbor.utils.trajectory_validator", reason="harbor is not installed")
pytestmark = pytest.mark.reference


def faults(folder: Path) -> dict[str, list[str]]:
    """Return what the reference validator says against each document in a folder."""
    found = {}
    for path in sorted(folder.rglob("*.json")):
        judge = validator.TrajectoryValidator()
        if not judge.validate(path):
            found[path.name] = judge.errors
    return found


def command(*arguments: object) -> None:
    """Run a command that must not fail as a whole."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code in (0, 1), result.output


def test_the_validator_finds_what_is_wrong(tmp_path: Path) -> None:
    """A document without steps is refused: the verdicts below mean something."""
    (tmp_path / "bad.json").write_text(json.dumps({"schema_version": "ATIF-v1.7", "steps": []}), encoding="utf-8")
    assert list(faults(tmp_path)) == ["bad.json"]


def test_the_documents_of_the_demo_are_valid(tmp_path: Path) -> None:
    """What a newcomer sees first passes."""
    command("demo", "-o", tmp_path)
    assert list((tmp_path / "trajectories").iterdir())
    assert faults(tmp_path / "trajectories") == {}


@pytest.mark.parametrize("group", ["trace", "conversation"])
def test_the_documents_of_every_recording_are_valid(recordings: list[Path], tmp_path: Path, group: str) -> None:
    """From the events, and from the spans without content that the events became."""
    for path in recordings:
        spans = tmp_path / "spans" / path.name
        command("replay", path, "--group", group, "--spans", spans, "-o", tmp_path / "whole" / path.stem)
        command("fold", spans, "--group", group, "-o", tmp_path / "poor" / path.stem)
    assert len(list((tmp_path / "whole").rglob("*.json"))) >= len(recordings)
    assert len(list((tmp_path / "poor").rglob("*.json"))) >= len(recordings)
    assert faults(tmp_path / "whole") == {}
    assert faults(tmp_path / "poor") == {}


@pytest.mark.parametrize("version", ["1.7", "1.8"])
@pytest.mark.parametrize("dialect", ["genai-semconv", "openinference"])
def test_the_documents_of_strangers_traces_are_valid(shared: Path, tmp_path: Path, dialect: str, version: str) -> None:
    """Whatever a stranger's trace holds, the document made of it is one."""
    traces = [path for path in (shared / "corpus" / dialect).glob("*.json*") if ".expect." not in path.name]
    for path in traces:
        command("fold", path, "--atif", version, "-o", tmp_path / path.stem)
    assert len(list(tmp_path.rglob("*.json"))) >= len(traces) / 2
    assert faults(tmp_path) == {}
