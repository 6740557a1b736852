"""Receivers that refuse, or are slow: no trajectory is lost, nothing raises, and what did not arrive is counted."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from receivers import Received, Refusal, over_grpc, over_http

from atifold import EventBus, atif, instrument
from atifold.delivery import OtlpSpanExporter

pytestmark = pytest.mark.integration

SERVERS = {"grpc": over_grpc, "http": over_http}
BUSY, GONE = (429, StatusCode.RESOURCE_EXHAUSTED), (503, StatusCode.UNAVAILABLE)
TURNS, SPANS = 3, 2
"""Turns of the agent, and the spans of each."""


@pytest.fixture(params=SERVERS)
def receiver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Received]:
    """Return a receiver that the environment names."""
    with SERVERS[request.param]() as received:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", received.endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", received.protocol)
        monkeypatch.setenv("NO_PROXY", "*")
        yield received


class Program:
    """An agent whose spans go to the receiver, and whose trajectories go to a folder."""

    def __init__(self, folder: Path, timeout_s: int, **batching: int) -> None:
        """Take the folder, how long a batch is tried, and how the SDK batches."""
        self.exporter = OtlpSpanExporter(timeout=timeout_s)
        self._folder = folder
        self._bus = EventBus()
        self._provider = TracerProvider(shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self.exporter, **batching))  # type: ignore[arg-type]
        instrument(self._provider, directory=folder, bus=self._bus, capture_content=True)

    def turns(self, count: int) -> float:
        """Take turns; return the seconds that this took the program."""
        began = time.monotonic()
        for number in range(count):
            with self._bus.run("teller", f"Question {number}?") as run, run.llm("gpt-4o", provider="openai") as call:
                call.respond(f"Answer {number}.", output_tokens=4)
        return time.monotonic() - began

    def flush(self) -> None:
        """Have the SDK send what it holds."""
        self._provider.force_flush()

    def end(self, turns: int) -> None:
        """End; every turn has a right document."""
        self._provider.shutdown()
        found = [json.loads(path.read_bytes()) for path in self._folder.iterdir()]
        assert all(atif.check(document) == [] for document in found)
        told = sorted([step["message"] for step in document["steps"]] for document in found)
        assert told == sorted([f"Question {n}?", f"Answer {n}."] for n in range(turns))
        assert [document for document in found if "incomplete" in document["extra"]["atifold"]] == []


def _lost(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "atifold"]


@pytest.mark.parametrize("retry_after_s", [None, 0, 100])
@pytest.mark.parametrize("refusal", [BUSY, GONE], ids=["429", "503"])
def test_a_receiver_that_refuses_costs_no_trajectory_and_is_counted(
    refusal: Any, retry_after_s: int | None, receiver: Received, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """For good: nothing arrives, the spans are counted as refused, and one line tells how many."""
    receiver.refuses = Refusal(*refusal, retry_after_s)
    program = Program(tmp_path / "out", timeout_s=1)
    with caplog.at_level(logging.WARNING, "atifold"):
        program.turns(TURNS)
        program.end(TURNS)
    assert receiver.spans == []
    assert receiver.refused >= 1
    assert program.exporter.counts["refused"] == TURNS * SPANS
    assert _lost(caplog) == [f"{TURNS * SPANS} spans were not exported: the receiver did not take them"]


@pytest.mark.parametrize("retry_after_s", [None, 1])
def test_a_receiver_that_takes_them_later_has_every_span(
    retry_after_s: int | None, receiver: Received, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """503 for the first request: it is tried again, within the time that the exporter has."""
    receiver.refuses = Refusal(*GONE, retry_after_s)
    program = Program(tmp_path / "out", timeout_s=20, schedule_delay_millis=10)
    with caplog.at_level(logging.WARNING, "atifold"):
        program.turns(TURNS)
        while not receiver.refused:
            time.sleep(0.01)
        receiver.refuses = None
        program.flush()
        program.end(TURNS)
    assert len(receiver.spans) == len({span.span_id for span in receiver.spans}) == TURNS * SPANS
    assert program.exporter.counts["refused"] == 0
    assert _lost(caplog) == []


def test_a_slow_receiver_slows_nobody_down(
    receiver: Received, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It takes 3 s for a request and the exporter waits for 1 s: the program is done before the first answer."""
    receiver.slow_s = 3.0
    program = Program(tmp_path / "out", timeout_s=1, schedule_delay_millis=10, max_export_batch_size=2)
    with caplog.at_level(logging.WARNING, "atifold"):
        assert program.turns(TURNS) < 1
        program.end(TURNS)
    assert program.exporter.counts["refused"] == TURNS * SPANS
    assert len(_lost(caplog)) == 1


# By one protocol: the SDK says the same words but once in a minute.
@pytest.mark.parametrize("receiver", ["http"], indirect=True)
def test_a_queue_that_overflows_costs_spans_of_the_backend_alone(
    receiver: Received, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The receiver does not keep up with the SDK's queue of eight: the SDK says so, and every trajectory is there."""
    receiver.slow_s = 0.5
    program = Program(
        tmp_path / "out", timeout_s=10, schedule_delay_millis=10, max_queue_size=8, max_export_batch_size=4
    )
    with caplog.at_level(logging.WARNING):
        program.turns(50)
        program.end(50)
    assert 0 < len(receiver.spans) < 50 * SPANS
    assert any("dropp" in record.getMessage() for record in caplog.records if record.name.startswith("opentelemetry"))


def test_without_code_what_was_not_taken_is_told_at_the_end(
    start: Callable[..., Any], collector: Any, target: Any, documents: Callable[[], list[Any]]
) -> None:
    """`OTEL_TRACES_EXPORTER=atif_otlp` at a backend that is gone: the trajectory is there, the program ends well."""
    collector.close()
    under = (str(Path(sys.executable).with_name("opentelemetry-instrument")),)
    process = start("plain.py", target.url, under=under, OTEL_TRACES_EXPORTER="atif_otlp,atif")
    _, words = process.communicate(timeout=60)
    assert process.returncode == 0, words
    assert "Traceback" not in words
    assert "5 spans were not exported: the receiver did not take them" in words
    (document,) = documents()
    assert document["steps"][-1]["message"] == "Booked for Friday."
