"""Send OTLP requests over every protocol there is: what the SDK's exporters speak, and HTTP with JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import grpc
from backends.running import post
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

Headers = Mapping[str, str]
_IDS = ("traceId", "spanId", "parentSpanId")


def as_json(request: Any) -> dict[str, Any]:
    """Return a request in the JSON mapping of OTLP: protobuf's own, but ids as hex and enums as numbers."""
    found: dict[str, Any] = _with_hex(MessageToDict(request, use_integers_for_enums=True))
    return found


def _with_hex(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_hex(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {k: base64.b64decode(v).hex() if k in _IDS else _with_hex(v) for k, v in value.items()}


def _send_grpc(url: str, request: ExportTraceServiceRequest, headers: Headers) -> int:
    with grpc.insecure_channel(url.removeprefix("http://")) as channel:
        TraceServiceStub(channel).Export(request, timeout=60, metadata=tuple(headers.items()))
    return 200


def _send_protobuf(url: str, request: ExportTraceServiceRequest, headers: Headers) -> int:
    body = request.SerializeToString()
    return post(f"{url}/v1/traces", body, {"Content-Type": "application/x-protobuf", **headers})


def _send_json(url: str, request: ExportTraceServiceRequest, headers: Headers) -> int:
    body = json.dumps(as_json(request)).encode()
    return post(f"{url}/v1/traces", body, {"Content-Type": "application/json", **headers})


class JsonExporter(SpanExporter):
    """Send spans by HTTP with JSON, as SDKs of other languages do."""

    def __init__(self, url: str, headers: Headers) -> None:
        """Take the base URL."""
        self._url = url
        self._headers = headers

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send one batch."""
        status = _send_json(self._url, encode_spans(spans), self._headers)
        return SpanExportResult.SUCCESS if status == 200 else SpanExportResult.FAILURE


class Protocol(NamedTuple):
    """A way to send.

    `name` is the SDK's own, as in OTEL_EXPORTER_OTLP_PROTOCOL. `send` takes a base URL, a request and
    headers and returns the HTTP status, 200 for gRPC, which raises where it is refused.
    """

    name: str
    send: Callable[[str, ExportTraceServiceRequest, Headers], int]
    exporter: Callable[[str, Headers], SpanExporter]


GRPC = Protocol("grpc", _send_grpc, lambda url, headers: GrpcExporter(url, insecure=True, headers=dict(headers)))
PROTOBUF = Protocol(
    "http/protobuf", _send_protobuf, lambda url, headers: HttpExporter(f"{url}/v1/traces", headers=dict(headers))
)
JSON = Protocol("http/json", _send_json, JsonExporter)
