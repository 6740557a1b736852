"""Live trajectories are runs of the ledger too, where a setting asks for it."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ledgers import DECLARATION, Repo, identify
from opentelemetry.sdk.trace import TracerProvider

from atifold.bus import EventBus
from atifold.fold.documents import Document
from atifold.plugin import instrument
from atifold.plugin.ledger import LedgerSink
from atifold.sinks import DirectorySink


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Return a repository that is a workspace."""
    made = Repo(tmp_path / "repo")
    made.folder.mkdir()
    made.git("init", "-q", "-b", "main")
    identify(made)
    made.commit("first", chant__workspace__json=DECLARATION)
    return made


def act(bus: EventBus, said: str) -> None:
    """Run an agent of one call."""
    with bus.run("cook", said, session_id="s-1") as run, run.llm("gpt-4o", provider="openai") as call:
        call.respond("Soup.", input_tokens=30, output_tokens=2, cost_usd=0.25)


def test_each_document_is_a_run(repo: Repo) -> None:
    """Its transcript is the very file, and verifies; without the setting there is no ledger."""
    provider, bus = TracerProvider(shutdown_on_exit=False), EventBus()
    instrument(provider, bus=bus, directory=repo.folder / "trajectories", runs=True)
    act(bus, "one")
    act(bus, "two")
    provider.shutdown()
    runs = repo.runs("--json").document["runs"]
    assert len(runs) == 2
    for run in runs:
        assert (run["agent"], run["outcome"], run["usage"]["turns"]) == ("s-1", "done", 1)
        assert (run["usage"]["inputTokens"], run["cost"]["amount"]) == (30, 0.25)
        assert (repo.folder / run["transcript"]["ref"]).stat().st_size == run["transcript"]["bytes"]
    assert repo.runs("verify").code == 0
    quiet = TracerProvider(shutdown_on_exit=False)
    instrument(quiet, bus=(other := EventBus()), directory=repo.folder / "trajectories")
    act(other, "three")
    quiet.shutdown()
    assert len(repo.runs("--json").document["runs"]) == 2


def test_trouble_costs_the_run_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """No workspace: the documents are there, and it is said once, whatever people said left out."""
    provider, bus = TracerProvider(shutdown_on_exit=False), EventBus()
    instrument(provider, bus=bus, directory=tmp_path / "trajectories", runs=True)
    with caplog.at_level(logging.WARNING, "atifold"):
        act(bus, "a secret")
        act(bus, "a secret")
        provider.shutdown()
    assert len(list((tmp_path / "trajectories").iterdir())) == 2
    (line,) = [record.getMessage() for record in caplog.records if "run" in record.getMessage()]
    assert "a run cannot be recorded: declaration-missing: " in line
    assert "secret" not in line


def document(name: str, **more: Any) -> Document:
    """Return a small document."""
    agent = {"name": "cook", "version": "1"}
    trajectory = {"schema_version": "ATIF-v1.7", "trajectory_id": name, "agent": agent, "steps": [], **more}
    return Document(name, trajectory, (), {}, incomplete=False)


def test_a_document_is_recorded_once_it_is_settled(repo: Repo) -> None:
    """Written again before, it is one run of the last version; taken back, it is none."""
    now, noted = [0.0], list[str]()
    sink = LedgerSink(DirectorySink(repo.folder / "t"), 10, lambda kind, _: noted.append(kind), clock=lambda: now[0])
    sink.write(document("a"))
    sink.write(document("gone"))
    now[0] = 9.0
    sink.write(document("a", session_id="s-2"))
    sink.discard("gone")
    assert repo.tip == ""
    now[0] = 19.0
    sink.write(document("b"))
    assert [run["id"] for run in repo.runs("--json").document["runs"]] == ["a"]
    sink.close()
    runs = {run["id"]: run["agent"] for run in repo.runs("--json").document["runs"]}
    assert runs == {"a": "s-2", "b": None}
    sink.write(document("a", session_id="s-3"))
    assert noted == ["runs_recorded", "runs_recorded", "runs_lost"]
    assert repo.runs("verify").code == 1


PROGRAM = """
from atifold import instrument

bus = instrument(directory="trajectories")
with bus.run("cook", "Soup?") as run, run.llm("gpt-4o", provider="openai") as call:
    call.respond("Soup.")
"""


def test_a_program_that_ends_has_recorded_its_runs(repo: Repo) -> None:
    """By the environment alone, at its exit."""
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(
        program, cwd=repo.folder, env={**os.environ, "ATIFOLD_RUNS": "true"}, capture_output=True, text=True, check=True
    )
    assert "cannot be recorded" not in done.stderr
    (run,) = repo.runs("--json").document["runs"]
    (file,) = (repo.folder / "trajectories").iterdir()
    assert json.loads(file.read_text(encoding="utf-8"))["trajectory_id"] == run["id"]
