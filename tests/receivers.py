"""OTLP receivers on loopback with the limits that real ones have when nobody changes them."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import grpc
from google.rpc import error_details_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

COLLECTOR_HTTP_BYTES = 20 * 1024 * 1024


class Refusal(NamedTuple):
    """What every request is answered with, as long as it stands: over HTTP, and over gRPC."""

    status: int
    code: grpc.StatusCode
    retry_after_s: int | None = None


@dataclass
class Received:
    """What a receiver took and what it refused, and where it listens."""

    endpoint: str = ""
    protocol: str = ""
    spans: list[Any] = field(default_factory=list)
    logs: list[Any] = field(default_factory=list)
    metrics: list[Any] = field(default_factory=list)
    requests: int = 0
    refused: int = 0
    refuses: Refusal | None = None
    slow_s: float = 0.0

    def take(self, request: Any) -> None:
        """Keep what a request of any signal holds."""
        self.requests += 1
        match request:
            case trace_service_pb2.ExportTraceServiceRequest():
                self.spans += [s for r in request.resource_spans for t in r.scope_spans for s in t.spans]
            case logs_service_pb2.ExportLogsServiceRequest():
                self.logs += [x for r in request.resource_logs for t in r.scope_logs for x in t.log_records]
            case metrics_service_pb2.ExportMetricsServiceRequest():
                self.metrics += [
                    m for r in request.resource_metrics for scope in r.scope_metrics for m in scope.metrics
                ]


_SERVICES = (
    (
        "/v1/traces",
        trace_service_pb2.ExportTraceServiceRequest,
        trace_service_pb2.ExportTraceServiceResponse,
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server,
    ),
    (
        "/v1/logs",
        logs_service_pb2.ExportLogsServiceRequest,
        logs_service_pb2.ExportLogsServiceResponse,
        logs_service_pb2_grpc.add_LogsServiceServicer_to_server,
    ),
    (
        "/v1/metrics",
        metrics_service_pb2.ExportMetricsServiceRequest,
        metrics_service_pb2.ExportMetricsServiceResponse,
        metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server,
    ),
)


@contextmanager
def over_grpc() -> Iterator[Received]:
    """Serve gRPC; a message of more than 4 MiB is refused by grpcio itself."""
    received = Received(protocol="grpc")
    server = grpc.server(ThreadPoolExecutor(4))
    for _, _, response, add in _SERVICES:
        add(_Servicer(received, response), server)
    port = server.add_insecure_port("127.0.0.1:0")
    received.endpoint = f"http://127.0.0.1:{port}"
    server.start()
    try:
        yield received
    finally:
        server.stop(None).wait()


class _Servicer:
    def __init__(self, received: Received, response: Any) -> None:
        self._received, self._response = received, response

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - the name of the service's method
        """Keep a request, or refuse it."""
        time.sleep(self._received.slow_s)
        refusal = self._received.refuses
        if refusal is not None:
            self._received.refused += 1
            if refusal.retry_after_s is not None:
                delay = error_details_pb2.RetryInfo()
                delay.retry_delay.seconds = refusal.retry_after_s
                context.set_trailing_metadata((("google.rpc.retryinfo-bin", delay.SerializeToString()),))
            context.abort(refusal.code, "refused")
        self._received.take(request)
        return self._response()


@contextmanager
def over_http() -> Iterator[Received]:
    """Serve HTTP; a body of more than 20 MiB is a 400, as of the Collector."""
    received = Received(protocol="http/protobuf")
    kinds = {path: request for path, request, _, _ in _SERVICES}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            time.sleep(received.slow_s)
            if received.refuses is not None:
                received.refused += 1
                self._answer(received.refuses.status, received.refuses.retry_after_s)
                return
            kind = kinds.get(self.path)
            if kind is None or len(body) > COLLECTOR_HTTP_BYTES:
                received.refused += 1
                self._answer(404 if kind is None else 400)
                return
            received.take(kind.FromString(body))
            self._answer(200)

        def _answer(self, status: int, retry_after_s: int | None = None) -> None:
            self.send_response(status)
            if retry_after_s is not None:
                self.send_header("Retry-After", str(retry_after_s))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    received.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
