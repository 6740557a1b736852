"""Give integration tests real servers on loopback and programs that talk to them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from serving import Server, servers

PROGRAMS = Path(__file__).parent / "programs"
TIMEOUT_S = 60


@dataclass
class Collector:
    """An OTLP/HTTP server: the spans that it took, and the ways in which it goes away."""

    spans: list[Any] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    hangs: bool = False
    released: threading.Event = field(default_factory=threading.Event)
    server: ThreadingHTTPServer | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of the spans, sorted."""
        return sorted(span.name for span in self.spans)

    def named(self, name: str) -> list[Any]:
        """Return the spans of a name in the order of their starts."""
        return sorted((s for s in self.spans if s.name == name), key=lambda s: s.start_time_unix_nano)

    def hang(self) -> None:
        """Take connections from now on, and answer none."""
        self.hangs = True

    def close(self) -> None:
        """Refuse connections from now on."""
        server, self.server = self.server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def take(self, path: str, body: bytes) -> None:
        """Keep the spans of one request."""
        if path != "/v1/traces":
            self.refused.append(path)
            return
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, body: bytes = b"") -> None:
        """Answer 200 with a body."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Return a running OTLP/HTTP collector."""
    kept = Collector()

    class Handler(_Quiet):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if kept.hangs:
                kept.released.wait(TIMEOUT_S)
                return
            zipped = self.headers.get("Content-Encoding") == "gzip"
            kept.take(self.path, gzip.decompress(body) if zipped else body)
            self.answer()

    with _serving(Handler) as kept.server:
        yield kept
        kept.released.set()


@dataclass
class Target:
    """What the agent's tool asks: it says that there is a table, and calls `asked` before."""

    url: str = ""
    asked: Callable[[str], object] = lambda path: path


@pytest.fixture
def target() -> Iterator[Target]:
    """Return the server that tools ask over HTTP."""
    known = Target()

    class Handler(_Quiet):
        def do_GET(self) -> None:
            known.asked(self.path)
            self.answer(f"a table is free on {self.path[1:]}".encode())

    with _serving(Handler) as server:
        known.url = f"http://127.0.0.1:{server.server_port}"
        yield known


@pytest.fixture
def environment(collector: Collector, tmp_path: Path) -> dict[str, str]:
    """Return a program's environment: the collector as backend, quick to give up, documents in `out`."""
    assert collector.server is not None
    return {
        **os.environ,
        "ATIFOLD_DIR": str(tmp_path / "out"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server.server_port}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "NO_PROXY": "*",
        "no_proxy": "*",
    }


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Start]:
    """Return what starts one of the programs, its streams as pipes; at the end none is left running."""
    started: list[subprocess.Popen[str]] = []

    def begin(name: str, *arguments: str, under: tuple[str, ...] = (), **more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*under, sys.executable, str(PROGRAMS / name), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**environment, **more},
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


Finish = Callable[["subprocess.Popen[str]"], tuple[str, str]]


@pytest.fixture
def finish() -> Finish:
    """Return what waits for a program, which has to end well, and gives its stdout and stderr."""

    def end(process: subprocess.Popen[str]) -> tuple[str, str]:
        output, words = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, words
        assert "Traceback" not in words, words
        return output, words

    return end


@pytest.fixture
def documents(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """Return a reader of the documents in `out`, in the order of their first steps."""

    def read() -> list[dict[str, Any]]:
        found = [json.loads(path.read_bytes()) for path in (tmp_path / "out").glob("*.json")]
        return sorted(found, key=lambda document: document["steps"][0]["timestamp"])

    return read


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    """Return what starts `atifold serve` on free ports, its documents in `out`; at the end none is left running."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "*")
    with servers(tmp_path) as begin:
        yield begin
