"""`atifold replay --otlp` against a gRPC server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

pytestmark = pytest.mark.integration


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keep the names of the spans."""

    def __init__(self) -> None:
        """Start with none."""
        self.names: list[str] = []

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - the service's name
        """Take one request."""
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.names.extend(span.name for span in scope.spans)
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    """Return a running collector and its base URL."""
    server = grpc.server(ThreadPoolExecutor(2))
    service = Collector()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield service, f"http://127.0.0.1:{port}"
    server.stop(None).wait()


def test_spans_reach_a_grpc_collector(program: Any, recordings: list[Path], collector: tuple[Collector, str]) -> None:
    """All spans of a recording arrive, and it is said where they went."""
    service, url = collector
    done = program("replay", recordings[0], "--otlp", url, OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert done.returncode == 0, done.stderr
    assert {name.split()[0] for name in service.names} >= {"invoke_agent", "chat"}
    assert f"{len(service.names)} spans sent to {url}".encode() in done.stderr
