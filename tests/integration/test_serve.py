"""`atifold serve` as a process of its own, with the SDK's exporters and with bare sockets as clients."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.grpc import _log_exporter as grpc_logs
from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as grpc_traces
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from serving import TIMEOUT_S, Server

from atifold import atif

pytestmark = pytest.mark.integration

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.provider.name": "openai"}


def _exporters(
    server: Server, protocol: str, *, packed: bool = False, headers: dict[str, str] | None = None
) -> tuple[Any, Any]:
    """Return the SDK's exporters of spans and of log records."""
    if protocol == "http":
        how: dict[str, Any] = {"compression": Compression.Gzip if packed else None, "headers": headers}
        return OTLPSpanExporter(f"{server.http}/v1/traces", **how), OTLPLogExporter(f"{server.http}/v1/logs", **how)
    from grpc import Compression as Packing  # noqa: PLC0415 - of the same name

    how = {"insecure": True, "compression": Packing.Gzip if packed else None, "headers": headers}
    return (
        grpc_traces.OTLPSpanExporter(endpoint=server.grpc, **how),
        grpc_logs.OTLPLogExporter(endpoint=server.grpc, **how),
    )


def _turn(spans: Any, logs: Any, *, late: bool = False) -> Callable[[], None]:
    """Trace an agent's turn with one model call, told in log records; return what ends it, if it shall end `late`."""
    provider, loggers = TracerProvider(shutdown_on_exit=False), LoggerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
    tracer = provider.get_tracer("test")
    root = tracer.start_span("invoke_agent coder", attributes=AGENT)
    with trace.use_span(root), tracer.start_as_current_span("chat gpt-4o", attributes=CHAT):
        for name, body in (
            ("gen_ai.user.message", {"content": "Where is it?"}),
            ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "Here."}}),
        ):
            loggers.get_logger("test").emit(LogRecord(event_name=name, body=body))

    def end() -> None:
        root.end()
        provider.shutdown()
        loggers.shutdown()

    if not late:
        end()
    return end


def _right(document: dict[str, Any]) -> None:
    assert atif.check(document) == []
    assert [step["message"] for step in document["steps"]] == ["Where is it?", "Here."]
    assert document["agent"]["name"] == "coder"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_what_the_sdks_exporters_send_becomes_a_trajectory(
    serve: Callable[..., Server], protocol: str, packed: bool
) -> None:
    """Spans and log records, plain and gzip, while the server runs; it ends with 0 and says what it took."""
    server = serve()
    _turn(*_exporters(server, protocol, packed=packed))
    (document,) = server.wait_for(bool)
    _right(document)
    assert "incomplete" not in document["extra"]["atifold"]
    assert server.stop() == (0, "2 spans, 2 log records -> 1 document written to out\n")


def test_requests_in_json_are_taken_too(serve: Callable[..., Server]) -> None:
    """As a browser's or a gateway's exporter sends them; health and figures beside them."""
    server = serve()
    ids = {"traceId": "a" * 32, "spanId": "1" * 16}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in CHAT.items()]
    said = [{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}]
    attributes.append({"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(said)}})
    span = {**ids, "name": "chat", "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": attributes}
    data = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span, {"name": "bad"}]}]}]}).encode()
    status, answer = server.ask(
        "/v1/traces", gzip.compress(data), Content_Type="application/json", Content_Encoding="gzip"
    )
    assert (status, json.loads(answer)["partialSuccess"]["rejectedSpans"]) == (200, "1")
    (document,) = server.wait_for(bool)
    assert document["steps"][0]["message"] == "Hello"
    assert server.ask("/healthz") == (200, '{"status": "ok"}')
    figures = server.ask("/metrics")[1].splitlines()
    assert "atifold_spans_total 1" in figures
    assert 'atifold_rejected_total{signal="traces"} 1' in figures
    assert "atifold_documents_total 1" in figures
    assert server.ask("/v1/traces", b"{", Content_Type="application/json")[0] == 400
    assert server.stop()[0] == 0


def test_a_late_span_has_the_document_written_again(serve: Callable[..., Server]) -> None:
    """The model call is there after `idle`, as a trace without its root; then the root comes."""
    server = serve("--idle", "0.1")
    end = _turn(*_exporters(server, "http", packed=False), late=True)
    (document,) = server.wait_for(lambda found: bool(found) and len(found[0]["steps"]) == 2)
    assert "no_root" in document["extra"]["atifold"]["incomplete"]
    end()
    (document,) = server.wait_for(lambda found: len(found) == 1 and "incomplete" not in found[0]["extra"]["atifold"])
    _right(document)
    assert server.stop()[0] == 0


def test_sigterm_writes_what_is_open_and_ends_with_0(serve: Callable[..., Server]) -> None:
    """The agent has not ended: its document says so."""
    server = serve()
    _turn(*_exporters(server, "grpc", packed=False), late=True)
    assert server.documents() == []
    assert server.stop() == (0, "1 span, 2 log records -> 1 document written to out\n")
    (document,) = server.documents()
    assert document["extra"]["atifold"]["incomplete"] == ["no_root"]


def test_a_request_in_work_is_finished_before_the_end(serve: Callable[..., Server]) -> None:
    """Half of its body is there when SIGTERM comes; it is answered all the same, and others are not let in."""
    server = serve()
    host, _, port = server.http.removeprefix("http://").rpartition(":")
    span = {"traceId": "b" * 32, "spanId": "2" * 16, "name": "invoke_agent", "startTimeUnixNano": "1"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in CHAT.items()]
    data = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{**span, "attributes": attributes}]}]}]}).encode()
    head = (
        f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=TIMEOUT_S) as client:
        client.sendall(head.encode() + data[:20])
        while "atifold_requests_bytes 20" not in server.ask("/metrics")[1]:
            time.sleep(0.02)
        server.process.send_signal(signal.SIGTERM)
        while _listens(host, int(port)):
            time.sleep(0.02)
        client.sendall(data[20:])
        assert client.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
    _, words = server.process.communicate(timeout=TIMEOUT_S)
    assert (server.process.returncode, words) == (0, "1 span -> 1 document written to out\n")


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def test_ctrl_c_ends_with_130_and_loses_nothing(serve: Callable[..., Server]) -> None:
    """As of the other commands."""
    server = serve("--no-grpc")
    assert server.grpc == ""
    _turn(*_exporters(server, "http"))
    assert server.stop(signal.SIGINT) == (130, "2 spans, 2 log records -> 1 document written to out\n")
    _right(server.documents()[0])


@pytest.mark.parametrize("protocol", ["http", "grpc"])
@pytest.mark.parametrize("place", ["file", "environment"])
def test_with_a_token_only_who_has_it_is_heard(
    serve: Callable[..., Server], tmp_path: Path, protocol: str, place: str
) -> None:
    """The SDK sends it as a header."""
    (tmp_path / "token").write_text("s3cret\n")
    server = serve("--token-file", "token") if place == "file" else serve(ATIFOLD_SERVE_TOKEN="s3cret")
    _turn(*_exporters(server, protocol, headers={"authorization": "Bearer other"}))
    _turn(*_exporters(server, protocol, headers={"authorization": "Bearer s3cret"}))
    (document,) = server.wait_for(bool)
    _right(document)
    figures = server.ask("/metrics", Authorization="Bearer s3cret")[1]
    assert f'atifold_requests_total{{protocol="{protocol}",signal="traces",outcome="unauthenticated"}} 2' in figures
    assert f'atifold_requests_total{{protocol="{protocol}",signal="traces",outcome="taken"}} 2' in figures
    assert server.ask("/metrics")[0] == 401
    assert server.stop() == (0, "2 spans, 2 log records -> 1 document written to out\n")


def test_a_request_that_is_too_large_is_refused_and_the_next_one_taken(serve: Callable[..., Server]) -> None:
    """413, whether its length is told before or not."""
    server = serve("--max-body", "10000")
    assert server.ask("/v1/traces", b" " * 10_001, Content_Type="application/json")[0] == 413
    packed = gzip.compress(b" " * 10_001)
    headers = {"Content_Type": "application/json", "Content_Encoding": "gzip"}
    assert server.ask("/v1/traces", packed, **headers)[0] == 413
    assert server.ask("/v1/traces", b"{}", Content_Type="application/json") == (200, "{}")
    assert server.stop() == (0, "0 spans -> 0 documents written to out\n")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_with_a_certificate_both_protocols_are_encrypted(
    serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same spans, through exporters that trust it."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # they go before what an exporter is given
        monkeypatch.delenv(name, raising=False)
    made = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        ["openssl", *made.split(), "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    server = serve("--tls-cert", "cert.pem", "--tls-key", "key.pem")
    assert server.http.startswith("https://127.0.0.1:")
    certificate = tmp_path / "cert.pem"
    _turn(
        OTLPSpanExporter(f"{server.http}/v1/traces", certificate_file=str(certificate)),
        OTLPLogExporter(f"{server.http}/v1/logs", certificate_file=str(certificate)),
    )
    from grpc import ssl_channel_credentials  # noqa: PLC0415 - here alone

    how: dict[str, Any] = {"endpoint": server.grpc, "credentials": ssl_channel_credentials(certificate.read_bytes())}
    _turn(grpc_traces.OTLPSpanExporter(**how), grpc_logs.OTLPLogExporter(**how))
    for document in server.wait_for(lambda found: len(found) == 2):
        _right(document)
    with pytest.raises((ssl.SSLError, urllib.error.URLError)):
        urllib.request.urlopen(f"{server.http}/healthz", timeout=TIMEOUT_S)  # noqa: S310 - loopback
    assert server.stop()[0] == 0


def test_a_document_that_cannot_be_written_is_said_and_written_later(serve: Callable[..., Server]) -> None:
    """The folder is a file when the first document is to be written; then it is one no more."""
    server = serve()
    server.out.write_text("in the way")
    _turn(*_exporters(server, "http"))
    assert server.process.stderr is not None
    line = server.process.stderr.readline()
    assert re.match(r"atifold: trace \w{32}: .*cannot be written: .*; tried again later", line), line
    server.out.unlink()
    (document,) = server.wait_for(bool)
    _right(document)
    assert server.stop() == (0, "2 spans, 2 log records -> 1 document written to out\n")
