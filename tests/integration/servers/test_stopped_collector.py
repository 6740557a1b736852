"""A real Collector that is stopped, or killed, while a program sends: what its file has, and what our sink has."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backends.relay import Relay, relay, to_file
from backends.running import free_ports
from backends.sending import PROTOBUF
from click.testing import CliRunner
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from atifold import EventBus, SplittingSpanExporter, atif, instrument
from atifold.cli import main

pytestmark = pytest.mark.integration

TURNS = 40


class Program:
    """A program that traces agents' turns to a Collector, and writes its trajectories itself."""

    def __init__(self, url: str, folder: Path) -> None:
        """Take where spans go, and the folder of the documents."""
        self.exporter = SplittingSpanExporter(OTLPSpanExporter(f"{url}/v1/traces", timeout=60))
        self._provider = TracerProvider(shutdown_on_exit=False)
        self._provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self._folder = folder
        self._bus = EventBus()
        instrument(self._provider, directory=folder, bus=self._bus, capture_content=True)
        self.turns = 0

    def turn(self) -> None:
        """Ask a model, which wants a tool, and once more: four spans, each sent when it ends."""
        self.turns += 1
        with self._bus.run("teller", f"Question {self.turns}?") as run:
            with run.llm("gpt-4o", provider="openai") as call:
                call.respond(tool_calls=[{"id": "c", "name": "look", "arguments": {"n": self.turns}}], output_tokens=3)
            with run.tool("look", {"n": self.turns}, id="c") as tool:
                tool.result("x" * 500)
            with run.llm("gpt-4o", provider="openai") as call:
                call.respond(f"Answer {self.turns}.", output_tokens=4)

    def end(self) -> list[dict[str, Any]]:
        """End, and return the documents that our sink has written."""
        self._provider.shutdown()
        return [json.loads(path.read_bytes()) for path in sorted(self._folder.iterdir())]


def _messages(document: dict[str, Any]) -> list[str]:
    return [step["message"] for step in document["steps"]]


def _all_right(documents: list[dict[str, Any]], turns: int) -> None:
    """Check that each turn is there once, valid and whole."""
    assert all(atif.check(document) == [] for document in documents)
    asked = sorted((_messages(document)[0], _messages(document)[-1]) for document in documents)
    assert asked == sorted((f"Question {n}?", f"Answer {n}.") for n in range(1, turns + 1))
    assert [d for d in documents if "incomplete" in d["extra"]["atifold"]] == []


def _folded(file: Path, folder: Path) -> tuple[list[dict[str, Any]], str, int]:
    """Fold a file by the command; return the documents, what was said, and the exit code."""
    done = CliRunner().invoke(main, ["fold", str(file), "-o", f"{folder}/"])
    return [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))], done.stderr, done.exit_code


def _sending(program: Program, turns: int) -> threading.Thread:
    """Have the program take turns on a thread of its own."""
    thread = threading.Thread(target=lambda: [program.turn() for _ in range(turns)])
    thread.start()
    return thread


def _until(program: Program, turns: int) -> None:
    while program.turns < turns:
        time.sleep(0.01)


@pytest.fixture
def ports() -> tuple[int, int]:
    """Return ports that a Collector may have twice."""
    grpc, http = free_ports(2)
    return grpc, http


def test_a_collector_that_is_stopped_in_the_middle_loses_nothing(ports: tuple[int, int], tmp_path: Path) -> None:
    """SIGTERM while spans come, and a new one 1 s later: file and sink have every turn, and the same of it."""
    file = tmp_path / "spans.jsonl"
    program = Program(f"http://127.0.0.1:{ports[1]}", tmp_path / "sink")
    with relay(tmp_path / "first", to_file(file), ports):
        sending = _sending(program, TURNS)
        _until(program, TURNS // 3)
    assert program.turns < TURNS, "it was to be stopped in the middle"
    time.sleep(1)
    with relay(tmp_path / "second", to_file(file), ports):
        sending.join()
        documents = program.end()
    _all_right(documents, TURNS)
    assert program.exporter.counts["refused"] == 0
    folded, words, code = _folded(file, tmp_path / "folded")
    assert (code, "cannot be read" in words) == (0, False)
    assert sorted(map(atif.dumps, folded)) == sorted(map(atif.dumps, documents))


SPANS = 4
"""Of a turn, the agent's last; each is a line of the file."""


@pytest.fixture
def buffering(ports: tuple[int, int], tmp_path: Path) -> Iterator[Relay]:
    """Return a Collector that writes its file only when its buffer, 4 KB, is full."""
    exporter = to_file(tmp_path / "spans.jsonl")
    exporter["file"]["flush_interval"] = "1h"
    with relay(tmp_path / "collector", exporter, ports, batches=False) as running:
        yield running


def _is_cut(file: Path) -> bool:
    """Return whether the last line is cut, in the midst of a turn of which some spans are whole."""
    *whole, last = file.read_bytes().split(b"\n")
    return len(whole) % SPANS != 0 and last.startswith(b"{") and not last.endswith(b"}")


def test_a_collector_that_is_killed_costs_its_file_alone(buffering: Relay, tmp_path: Path) -> None:
    """With -9: the sink is whole; the file's cut last line is named, and the trace that lacks spans says so."""
    program = Program(buffering.urls[PROTOBUF.name], tmp_path / "sink")
    file = tmp_path / "spans.jsonl"
    while program.turns < TURNS or (not _is_cut(file) and program.turns < 10 * TURNS):
        program.turn()
    buffering.process.kill()
    buffering.process.wait()
    documents = program.end()
    _all_right(documents, program.turns)
    whole = file.read_bytes().count(b"\n")
    folded, words, code = _folded(file, tmp_path / "folded")
    assert code == 1
    assert words.startswith(f"atifold: {file}:{whole + 1}: found no JSON")
    complete = [document for document in folded if "incomplete" not in document["extra"]["atifold"]]
    _all_right(complete, whole // SPANS)
    (cut,) = [document for document in folded if document not in complete]
    assert cut["extra"]["atifold"]["incomplete"] == ["no_root"]
    assert atif.check(cut) == []
    assert "(1 incomplete)" in words
