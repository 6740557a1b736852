"""Programs that know nothing of OpenTelemetry, under `opentelemetry-instrument`: all signals, all kinds of workers.

Each turn is in the pipeline once and in the trajectories once, whatever process it ran in and however that ended.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from receivers import Received, over_grpc, over_http

from atifold import atif

pytestmark = pytest.mark.integration

PROGRAMS = Path(__file__).parent / "programs"
INSTRUMENT = str(Path(sys.executable).with_name("opentelemetry-instrument"))
SERVERS = {"grpc": over_grpc, "http": over_http}
TIMEOUT_S = 60
DAYS = ("Friday", "Monday", "Sunday", "Tuesday")
ALL = {"OTEL_TRACES_EXPORTER": "atif_otlp,atif", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_LOGS_EXPORTER": "atif_otlp"}

Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(params=SERVERS)
def receiver(request: pytest.FixtureRequest) -> Iterator[Received]:
    """Return an OTLP receiver."""
    with SERVERS[request.param]() as received:
        yield received


@pytest.fixture
def environment(receiver: Received, target: Any, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a program: all three signals to the receiver, documents in `out`."""
    return {
        **os.environ,
        **ALL,
        "ATIFOLD_DIR": str(tmp_path / "out"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": receiver.protocol,
        "NO_PROXY": "*",
        "no_proxy": "*",
        "TARGET": target.url,
    }


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Iterator[Run]:
    """Return what starts a command under `opentelemetry-instrument`; at the end none is left running."""
    started: list[subprocess.Popen[str]] = []

    def begin(*command: str, **more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [INSTRUMENT, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**environment, **more},
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _end(process: subprocess.Popen[str]) -> str:
    """Wait for a program, which has to end well, and return its stderr."""
    _, words = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, words
    assert "Traceback" not in words, words
    return words


def _documents(folder: Path) -> list[str]:
    """Return the days of the documents, sorted; each is whole and valid."""
    days = []
    for path in folder.glob("*.json"):
        document = json.loads(path.read_bytes())
        assert atif.check(document) == []
        assert "incomplete" not in document["extra"]["atifold"]
        assert len(document["steps"]) == 3
        days.append(document["steps"][0]["message"].rsplit(" ", 1)[-1])
    return sorted(days)


def _runs(received: Received) -> int:
    """Check that every span came once, with its turn, and return how many turns there are."""
    assert len({span.span_id for span in received.spans}) == len(received.spans)
    assert received.refused == 0
    names = Counter(span.name for span in received.spans)
    turns = names["invoke_agent bookings"]
    assert names["chat gpt-4o"] == 2 * turns
    assert names["execute_tool find_table"] == names["GET"] == turns
    return turns


def test_all_three_signals_arrive(run: Run, receiver: Received, target: Any, tmp_path: Path) -> None:
    """Spans, log events and metrics of one run, and its document; nothing on stderr."""
    assert _end(run(sys.executable, str(PROGRAMS / "plain.py"), target.url)) == ""
    assert _runs(receiver) == 1
    assert _documents(tmp_path / "out") == ["Friday"]
    details = [each for each in receiver.logs if each.event_name == "gen_ai.client.inference.operation.details"]
    chats = {span.span_id for span in receiver.spans if span.name == "chat gpt-4o"}
    assert {each.span_id for each in details} == chats
    assert len(details) == 2
    assert _inferences(receiver) == 2
    (tokens,) = [each for each in receiver.metrics if each.name == "gen_ai.client.inference.usage.input_tokens"]
    assert sum(point.as_int for point in tokens.sum.data_points) == 81


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "no-code.md").read_text(encoding="utf-8")


def _declared(receiver: Received) -> str:
    """Return the configuration that docs/no-code.md shows, for this receiver, with the instrumentation of urllib."""
    text = PAGE.split("```yaml\n", 1)[1].split("```", 1)[0] + "    urllib: {}\n"
    if receiver.protocol == "grpc":
        return text.replace("http://localhost:4317", receiver.endpoint)
    text = text.replace("protocol: grpc", "protocol: http/protobuf").replace("otlp_grpc", "otlp_http")
    for signal_name in ("traces", "metrics", "logs"):
        text = text.replace("http://localhost:4317", f"{receiver.endpoint}/v1/{signal_name}", 1)
    return text


@pytest.mark.skipif(find_spec("opentelemetry.configuration") is None, reason="no opentelemetry-configuration")
def test_a_declarative_configuration_says_it_all(run: Run, receiver: Received, target: Any, tmp_path: Path) -> None:
    """Our exporters by name with their arguments, and our settings below the instrumentation's name."""
    (tmp_path / "otel.yaml").write_text(_declared(receiver), encoding="utf-8")
    words = _end(run(sys.executable, str(PROGRAMS / "plain.py"), target.url, OTEL_CONFIG_FILE="otel.yaml"))
    assert "atifold" not in words
    assert _runs(receiver) == 1
    assert _documents(tmp_path / "trajectories") == ["Friday"]
    assert not (tmp_path / "out").exists()
    assert {"agentfootprint.stream.tool_start"} < {each.event_name for each in receiver.logs}
    assert _inferences(receiver) == 2


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _ask(url: str) -> str:
    """Return the answer of a server, which may still be on its way up."""
    until = time.monotonic() + TIMEOUT_S
    while True:
        try:
            with urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - the test's own server
                return str(answer.read().decode())
        except (URLError, ConnectionError):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _ask_all_workers(port: int, workers: int) -> list[str]:
    """Have every worker book, by asking several at a time, and return the days that were booked."""
    days: list[str] = []
    pids: set[str] = set()
    until = time.monotonic() + TIMEOUT_S
    with ThreadPoolExecutor(len(DAYS)) as pool:
        while len(pids) < workers:
            assert time.monotonic() < until, "not every worker was asked"
            asked = [f"day{len(days) + n}" for n in range(len(DAYS))]
            pids.update(pool.map(_ask, [f"http://127.0.0.1:{port}/{day}" for day in asked]))
            days += asked
            time.sleep(0.2)  # a worker may still be on its way up
    return days


GUNICORN = pytest.mark.skipif(
    find_spec("gunicorn") is None or not hasattr(os, "fork"),
    reason="no gunicorn (the dev extra, on a system with fork)",
)


@GUNICORN
@pytest.mark.parametrize("preload", [True, False], ids=["preload", "no-preload"])
def test_each_worker_of_gunicorn_brings_its_turns(preload: bool, run: Run, receiver: Received, tmp_path: Path) -> None:
    """Two forked workers; with preload a turn ran in the master before the fork, and is there once too."""
    port = _free_port()
    options = ["--workers", "2", "--bind", f"127.0.0.1:{port}", "--chdir", str(PROGRAMS)]
    more = {"AT_IMPORT": "Startup"} if preload else {}
    server = run(sys.executable, "-m", "gunicorn", *options, *["--preload"] * preload, "web:application", **more)
    days = _ask_all_workers(port, 2)
    server.terminate()
    _end(server)
    days += ["Startup"] * preload
    assert _runs(receiver) == len(days)
    assert _documents(tmp_path / "out") == sorted(days)
    assert sum(1 for each in receiver.logs if each.event_name.endswith("operation.details")) == 2 * len(days)


@pytest.mark.skipif(find_spec("uvicorn") is None, reason="no uvicorn (the dev extra)")
@pytest.mark.parametrize("workers", [1, 2])
def test_each_worker_of_uvicorn_brings_its_turns(workers: int, run: Run, receiver: Received, tmp_path: Path) -> None:
    """One process, or a supervisor with two that it spawns."""
    port = _free_port()
    options = ["--workers", str(workers), "--port", str(port), "--app-dir", str(PROGRAMS), "--log-level", "warning"]
    server = run(sys.executable, "-m", "uvicorn", *options, "web:asgi")
    days = _ask_all_workers(port, workers)
    server.terminate()
    server.communicate(timeout=TIMEOUT_S)
    assert _runs(receiver) == len(days)
    assert _documents(tmp_path / "out") == sorted(days)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_each_worker_of_multiprocessing_brings_its_turns(
    method: str, run: Run, receiver: Received, target: Any, tmp_path: Path
) -> None:
    """A worker that ends right after its last turn, without exit handlers."""
    _end(run(sys.executable, str(PROGRAMS / "shared_workers.py"), target.url, method))
    assert _documents(tmp_path / "out") == sorted(DAYS)
    assert _runs(receiver) == len(DAYS)
    assert sum(1 for each in receiver.logs if each.event_name.endswith("operation.details")) == 2 * len(DAYS)
    # A forked worker's MeterProvider goes on from the sums of its parent, and so tells them again.
    again = 2 * 2 if method == "fork" else 0
    assert _inferences(receiver) == 2 * len(DAYS) + again


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_pool_that_is_torn_down_loses_nothing(
    method: str, run: Run, receiver: Received, target: Any, tmp_path: Path
) -> None:
    """`with Pool(2) as pool` ends its workers by SIGTERM."""
    _end(run(sys.executable, str(PROGRAMS / "shared_workers.py"), target.url, method, "pool"))
    assert _documents(tmp_path / "out") == sorted(DAYS)
    assert _runs(receiver) == len(DAYS)


def _inferences(receiver: Received) -> int:
    durations = [metric for metric in receiver.metrics if metric.name == "gen_ai.client.inference.duration"]
    return sum(int(point.count) for metric in durations for point in metric.histogram.data_points)


def test_sigterm_loses_nothing(run: Run, receiver: Received, target: Any, tmp_path: Path) -> None:
    """It ends the program as before, but what there is arrives first."""
    process = run(sys.executable, str(PROGRAMS / "waiting.py"), target.url)
    assert process.stdout is not None
    assert process.stdout.readline() == "booked\n"
    process.terminate()
    _, words = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, words) == (-signal.SIGTERM, "")
    assert _runs(receiver) == 1
    assert _inferences(receiver) == 2
    assert _documents(tmp_path / "out") == ["Friday"]


@pytest.mark.parametrize("receiver", ["http"], indirect=True)
def test_sigterm_ends_at_once_where_that_is_wanted(run: Run, receiver: Received, target: Any) -> None:
    """As of a program without us: what is queued is lost."""
    process = run(sys.executable, str(PROGRAMS / "waiting.py"), target.url, ATIFOLD_FLUSH_AT_SIGTERM="false")
    assert process.stdout is not None
    assert process.stdout.readline() == "booked\n"
    process.terminate()
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == -signal.SIGTERM
    assert _runs(receiver) == 0
