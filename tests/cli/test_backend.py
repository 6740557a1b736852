"""Spans on their way to a backend that takes them, refuses them or is not there."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from atifold.cli.backend import BATCH, Backend, LogBackend, exporter_to, fault_of, log_exporter_to
from atifold.errors import OutputError


class Server(HTTPServer):
    """A loopback server that keeps what it was sent and answers with `answer`."""

    answer = 200
    paths: ClassVar[list[str]]
    spans: ClassVar[list[str]]


class Handler(BaseHTTPRequestHandler):
    """Read one OTLP request."""

    server: Server

    def do_POST(self) -> None:
        """Keep the path and the names of the spans."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        self.server.paths.append(self.path)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.server.spans.extend(span.name for span in scope.spans)
        self.send_response(self.server.answer)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a running server."""
    with Server(("127.0.0.1", 0), Handler) as made:
        made.paths, made.spans = [], []  # type: ignore[misc]
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def spans(number: int) -> list[ReadableSpan]:
    """Return so many finished spans of the SDK."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("t")
    made = []
    for count in range(number):
        span = tracer.start_span(f"span {count}")
        span.end()
        made.append(span)
    return made  # type: ignore[return-value]


def log_records(number: int) -> list[ReadableLogRecord]:
    """Return so many log records of the SDK."""
    memory, provider = InMemoryLogRecordExporter(), LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    for count in range(number):
        provider.get_logger("t").emit(event_name=f"event {count}")
    return list(memory.get_finished_logs())


def url_of(server: Server) -> str:
    """Return the base URL of a server."""
    return f"http://127.0.0.1:{server.server_port}"


def test_spans_arrive_in_batches_at_the_traces_path(server: Server) -> None:
    """A base URL is extended by the path of the specification; what waits is sent at the end."""
    with Backend(url_of(server)) as backend:
        for span in spans(BATCH + 1):
            backend.export([span])
        assert len(server.spans) == BATCH
    assert server.paths == ["/v1/traces", "/v1/traces"]
    assert server.spans == [f"span {count}" for count in range(BATCH + 1)]
    assert (backend.sent, backend.lost, backend.error) == (BATCH + 1, 0, None)


def test_a_full_traces_url_is_taken_as_it_is(server: Server) -> None:
    """Whoever gives the whole path does not get it twice."""
    with Backend(f"{url_of(server)}/v1/traces") as backend:
        backend.export(spans(1))
    assert server.paths == ["/v1/traces"]


def test_a_refusal_is_one_error_with_its_reason(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    """The backend's answer is in the error, later batches are not tried, the log stays quiet."""
    server.answer = 401
    with Backend(url_of(server)) as backend:
        backend.export(spans(2 * BATCH))
    assert len(server.paths) == 1
    assert (backend.sent, backend.lost) == (0, 2 * BATCH)
    assert backend.error is not None
    assert "1,024 spans were not taken" in str(backend.error)
    assert "401" in str(backend.error)
    assert capfd.readouterr().err == ""


def test_a_span_that_no_request_holds_is_lost_alone(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named as the reason; what is beside it and comes after it is sent, in requests below the limit."""
    monkeypatch.setenv("ATIFOLD_EXPORT_MAX_BYTES", "5000")
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("t")
    large = tracer.start_span("large", attributes={"prompt": "x" * 6000})
    large.end()
    with Backend(url_of(server)) as backend:
        backend.export([*spans(30), large])  # type: ignore[list-item]
        backend.force_flush()
        backend.export(spans(1))
    assert server.spans == [*(f"span {count}" for count in range(30)), "span 0"]
    assert len(server.paths) > 2
    assert (backend.sent, backend.lost, backend.refused) == (31, 1, False)
    assert "1 span was not taken (span 'large' [" in str(backend.error)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(None, "(Connection refused)"), (503, "(Service Unavailable)")],
)
def test_a_backend_that_never_takes_it_is_told_by_its_own_reason(
    server: Server, monkeypatch: pytest.MonkeyPatch, answer: int | None, reason: str
) -> None:
    """Not by what the SDK says after the last try, which has none."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
    server.answer = answer or 200
    url = url_of(server)
    if answer is None:
        server.server_close()
    with Backend(url) as backend:
        backend.export(spans(1))
    assert str(backend.error) == f"{url}: cannot be written: 1 span was not taken {reason}"


def test_each_refusal_has_its_reason(server: Server) -> None:
    """Also the second one of a process: the SDK logs the same line once in twenty seconds."""
    server.answer = 401
    for _ in range(2):
        with LogBackend(url_of(server)) as backend:
            backend.send(log_records(1))
        assert "401" in backend.reason
        assert not backend.is_without_logs


def test_a_backend_that_is_not_there_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is given up after the exporter's own timeout."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Backend(f"http://127.0.0.1:{port}") as backend:
        backend.export(spans(1))
    assert str(backend.error).startswith(f"http://127.0.0.1:{port}: cannot be written: 1 span was not taken (")


@pytest.mark.parametrize("url", ["http://localhost:4318", "https://collector.example/otlp"])
def test_a_base_url_is_accepted(url: str) -> None:
    """Scheme and host are enough."""
    assert fault_of(url) is None


@pytest.mark.parametrize("url", ["localhost:4318", "ftp://localhost", "http://", "http://host:port", "", "http://[::1"])
def test_what_is_no_base_url_is_refused(url: str) -> None:
    """It says why, or what was wanted."""
    assert fault_of(url)


def test_an_unknown_protocol_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what was asked for and what there is."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/xml")
    with pytest.raises(OutputError, match="'http/xml' was asked for, http/protobuf or grpc was wanted"):
        exporter_to("http://localhost:4318")
    with pytest.raises(OutputError, match="'http/xml' was asked for"):
        log_exporter_to("http://localhost:4318")


def test_grpc_is_spoken_when_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting for traces wins over the general one."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc")
    for exporter in (exporter_to("http://127.0.0.1:4317"), log_exporter_to("http://127.0.0.1:4317")):
        assert type(exporter).__module__.startswith("opentelemetry.exporter.otlp.proto.grpc")
        exporter.shutdown()
