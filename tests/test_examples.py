"""The programs in examples/ as a reader would run them, each in an empty folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from walkthrough import commands, walk

from atifold import atif

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
PROGRAM = (sys.executable, "-c", "from atifold.cli import main; main(prog_name='atifold')")

DOCUMENTS = {
    "async_agent/agent.py": ["forecaster"],
    "attach.py": ["bookings"],
    "environment/agent.py": [],  # nothing of OpenTelemetry is set up
    "scripted_agent.py": ["trip_planner", "trip_planner"],
    "typed_events.py": ["greeter"],
}
"""The agents of the documents that each example writes which needs no server."""

PIPELINES = ("async_agent", "collector", "environment", "fastapi", "jaeger", "mlflow", "phoenix")
"""The folders; those not above are walked through in `tests/integration`."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return what runs an example, which has to end well and without a word on stderr."""

    def call(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / name), *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=tmp_path,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done

    return call


def _documents(folder: Path) -> list[dict[str, Any]]:
    found = [json.loads(path.read_bytes()) for path in (folder / "trajectories").glob("*")]
    return sorted(found, key=lambda document: document["steps"][-1]["timestamp"])


def test_every_example_is_known_here() -> None:
    """A new one says what it writes, or is walked through somewhere; the table of the folder names all."""
    assert sorted(path.parent.name for path in EXAMPLES.glob("*/README.md")) == list(PIPELINES)
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()} - {"__pycache__"}  # what a run leaves
    assert sorted(folders) == list(PIPELINES)
    assert {path.name for path in EXAMPLES.glob("*.py")} == {name for name in DOCUMENTS if "/" not in name}
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for name in (*PIPELINES, *(name for name in DOCUMENTS if "/" not in name)):
        assert f"`{name}`" in table


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_s_commands_use_all_of_its_files(name: str) -> None:
    """Program and configuration, by their names; and something is run."""
    blocks = commands((EXAMPLES / name / "README.md").read_text(encoding="utf-8"))
    assert len(blocks["Run"]) == 1
    typed = "\n".join(block for heading in blocks.values() for block in heading)
    for path in (EXAMPLES / name).iterdir():
        if path.is_file() and path.name not in ("README.md", "app.py"):
            assert path.name in typed, path
    assert name != "fastapi" or "app:app" in typed


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_example_runs_and_writes_valid_documents(name: str, run: Run, tmp_path: Path) -> None:
    """Each run one document, whole; nothing else is left in the folder."""
    run(name)
    documents = _documents(tmp_path)
    assert [document["agent"]["name"] for document in documents] == DOCUMENTS[name]
    for document in documents:
        assert atif.check(document) == []
        assert "incomplete" not in document["extra"]["atifold"]
    assert [path.name for path in tmp_path.iterdir()] == (["trajectories"] if documents else [])


def test_attaching_prints_the_spans_that_the_readme_shows(run: Run) -> None:
    """In the order of their ends, below the command that the README names."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"`python examples/attach\.py`.*?```\n(.*?)```", readme, re.DOTALL)
    assert shown is not None
    assert run("attach.py").stdout == shown[1]


def test_the_asynchronous_agent_s_tools_have_their_own_results(tmp_path: Path) -> None:
    """Tools that run side by side are not mixed up."""
    with walk("async_agent", tmp_path) as example:
        example.all_of("Run")
    (document,) = _documents(example.folder)
    (asks,) = [step for step in document["steps"] if "tool_calls" in step]
    cities = {call["tool_call_id"]: call["arguments"]["city"] for call in asks["tool_calls"]}
    results = {result["source_call_id"]: result["content"] for result in asks["observation"]["results"]}
    assert results == {call_id: f"{city}: clear" for call_id, city in cities.items()}
    assert sorted(cities.values()) == ["Oslo", "Rome"]


def test_the_scripted_agent_records_what_can_be_replayed(run: Run, tmp_path: Path) -> None:
    """Its docstring's two commands: with `--record` events go to the file and nowhere else."""
    assert run("scripted_agent.py", "--record", "demo.jsonl").stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["demo.jsonl"]
    subprocess.run(
        [*PROGRAM, "replay", "demo.jsonl", "-o", "trajectories"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert [document["agent"]["name"] for document in _documents(tmp_path)] == DOCUMENTS["scripted_agent.py"]


def test_without_code_an_agent_leaves_spans_and_a_document(tmp_path: Path) -> None:
    """The commands of its README."""
    pytest.importorskip("opentelemetry.instrumentation", reason="the extra `auto` is not installed")
    with walk("environment", tmp_path) as example:
        printed = example.all_of("Run")
    assert re.findall(r'"name": "([a-z].*?)"', printed) == ["chat gpt-4o", "invoke_agent greeter"]
    (document,) = _documents(example.folder)
    assert [step["message"] for step in document["steps"]] == ["Hello", "Good morning!"]
