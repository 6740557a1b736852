"""What `atifold serve` refuses among good requests, by the statuses that OTLP names, and what it takes all the same."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span
from serving import Server

from atifold import atif

pytestmark = pytest.mark.integration

MOST = 20_000
"""Bytes of a request that the server takes."""

JSON, PROTOBUF = {"Content-Type": "application/json"}, {"Content-Type": "application/x-protobuf"}
TOKEN = {"Authorization": "Bearer s3cret"}
GZIP = {"Content-Encoding": "gzip"}
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def _request(number: int, text: str = "Hello") -> ExportTraceServiceRequest:
    """Return a request of one model call, a trace of its own."""
    messages = [{"role": "user", "parts": [{"type": "text", "content": f"{text} {number}"}]}]
    facts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps(messages),
    }
    span = Span(
        trace_id=(number + 1).to_bytes(16, "big"),
        span_id=(number + 1).to_bytes(8, "big"),
        name="chat m",
        start_time_unix_nano=1_800_000_000_000_000_000,
        end_time_unix_nano=1_800_000_001_000_000_000,
        attributes=[KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in facts.items()],
    )
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])


def _good(number: int) -> bytes:
    return bytes(_request(number).SerializeToString())


LOGS = ExportLogsServiceRequest(
    resource_logs=[ResourceLogs(scope_logs=[ScopeLogs(log_records=[LogRecord(event_name="e", time_unix_nano=1)])])]
).SerializeToString()


class Bad(NamedTuple):
    """A request that is refused: its body (a list: in chunks, of a length that is not told), and the status."""

    what: str
    status: int
    body: bytes | list[bytes]
    headers: dict[str, str]
    token: bool = True
    path: str = "/v1/traces"


BAD = (
    Bad("bytes that are no protobuf", 400, b"\xff\xff\xff\xff", PROTOBUF),
    Bad("JSON, said to be protobuf", 400, b'{"resourceSpans": []}', PROTOBUF),
    Bad("protobuf, said to be JSON", 400, _good(900), JSON),
    Bad("JSON that is cut", 400, b'{"resourceSpans": [', JSON),
    Bad("JSON of something else", 400, b'{"spans": 1}', JSON),
    Bad("nothing, said to be JSON", 400, b"", JSON),
    Bad("log records, on the path of spans", 400, LOGS, PROTOBUF),
    Bad("spans, on the path of log records", 400, _good(900), PROTOBUF, path="/v1/logs"),
    Bad("plain bytes, said to be gzip", 400, _good(900), {**PROTOBUF, **GZIP}),
    Bad("gzip that is cut", 400, gzip.compress(_good(900))[:-9], {**PROTOBUF, **GZIP}),
    Bad("a body that is too large", 413, b" " * (MOST + 1), JSON),
    Bad("a body that is too large, in chunks", 413, [b" " * 1_000] * (MOST // 1_000 + 1), JSON),
    Bad("a body that is too large when unpacked", 413, gzip.compress(b" " * 50 * MOST), {**JSON, **GZIP}),
    Bad("no token", 401, _good(900), PROTOBUF, token=False),
    Bad("another token", 401, _good(900), {**PROTOBUF, "Authorization": "Bearer other"}, token=False),
    Bad("another content type", 415, _good(900), {"Content-Type": "text/plain"}),
    Bad("no content type", 415, _good(900), {}),
    Bad("another encoding", 415, _good(900), {**PROTOBUF, "Content-Encoding": "zstd"}),
    Bad("another signal", 404, b"", PROTOBUF, path="/v1/metrics"),
)


@pytest.fixture
def server(serve: Callable[..., Server]) -> Server:
    """Return a server with a narrow limit, and a token."""
    return serve("--max-body", str(MOST), ATIFOLD_SERVE_TOKEN="s3cret")


def _post(server: Server, path: str, body: Any, headers: dict[str, str]) -> tuple[int, bytes, dict[str, str]]:
    """Send a body over a connection of its own; return status, body and headers of the answer."""
    place = urlsplit(server.http)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
    try:
        connection.request("POST", path, iter(body) if isinstance(body, list) else body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), dict(answer.getheaders())
    finally:
        connection.close()


def _asked(server: Server) -> list[str]:
    documents = server.documents()
    assert [document for document in documents if atif.check(document)] == []
    return sorted(document["steps"][0]["message"] for document in documents)


def test_what_is_refused_over_http_has_its_status_and_costs_nothing_else(server: Server) -> None:
    """Each between two good requests, on which it has no effect; none of them is worth another try."""
    for number, bad in enumerate(BAD):
        status, _, _ = _post(server, "/v1/traces", _good(number), {**PROTOBUF, **TOKEN})
        assert status == 200
        status, _, headers = _post(server, bad.path, bad.body, {**bad.headers, **(TOKEN if bad.token else {})})
        assert (status, headers.get("Retry-After")) == (bad.status, None), bad.what
    figures = server.ask("/metrics", **TOKEN)[1]
    for outcome, statuses in {"bad": 400, "too_large": 413, "unauthenticated": 401, "unsupported": 415}.items():
        expected = sum(bad.status == statuses and bad.path == "/v1/traces" for bad in BAD)
        assert f'signal="traces",outcome="{outcome}"}} {expected}\n' in figures
    code, words = server.stop()
    assert (code, words) == (0, f"{len(BAD)} spans -> {len(BAD)} documents written to out\n")
    assert _asked(server) == sorted(f"Hello {number}" for number in range(len(BAD)))


@pytest.mark.parametrize(
    ("body", "token", "code"),
    [
        (b"\xff\xff", "s3cret", grpc.StatusCode.INVALID_ARGUMENT),
        (LOGS, "s3cret", grpc.StatusCode.INVALID_ARGUMENT),
        (b"\0" * (MOST + 1), "s3cret", grpc.StatusCode.RESOURCE_EXHAUSTED),
        (_good(900), "other", grpc.StatusCode.UNAUTHENTICATED),
        (_good(900), None, grpc.StatusCode.UNAUTHENTICATED),
    ],
    ids=["no protobuf", "log records", "too large", "another token", "no token"],
)
def test_what_is_refused_over_grpc_has_its_status_and_costs_nothing_else(
    server: Server, body: bytes, token: str | None, code: grpc.StatusCode
) -> None:
    """Between two good calls on the same channel; without `RetryInfo`, as it is not worth another try."""
    with grpc.insecure_channel(urlsplit(server.grpc).netloc) as channel:
        export = channel.unary_unary(EXPORT)
        good = [("authorization", "Bearer s3cret")]
        assert export(_good(0), timeout=30, metadata=good) == b""
        with pytest.raises(grpc.RpcError) as caught:
            export(body, timeout=30, metadata=[("authorization", f"Bearer {token}")] if token else [])
        assert caught.value.code() is code
        assert b"RetryInfo" not in dict(caught.value.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
        assert export(_good(1), timeout=30, metadata=good) == b""
    assert server.stop() == (0, "2 spans -> 2 documents written to out\n")
    assert _asked(server) == ["Hello 0", "Hello 1"]


def test_what_go_receivers_refuse_is_taken_and_told(server: Server) -> None:
    """Ids in base64, and a `doubleValue` that is null: in the answer, in the figures, and once in words."""
    span = {
        "traceId": base64.b64encode(bytes(range(1, 17))).decode(),
        "spanId": base64.b64encode(bytes(range(1, 9))).decode(),
        "name": "chat m",
        "startTimeUnixNano": "1800000000000000000",
        "endTimeUnixNano": "1800000001000000000",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            {"key": "gen_ai.request.model", "value": {"stringValue": 'm "doubleValue":null "traceId":"x"'}},
            {"key": "gen_ai.request.temperature", "value": {"doubleValue": None}},
        ],
    }
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hello"}]}])
    span["attributes"].append({"key": "gen_ai.input.messages", "value": {"stringValue": messages}})  # type: ignore[attr-defined]
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
    for _ in range(2):
        status, answer, _ = _post(server, "/v1/traces", body, {**JSON, **TOKEN})
        words = "taken, though OTLP's JSON has none: ids in base64 (2), null values (1)"
        assert (status, json.loads(answer)) == (200, {"partialSuccess": {"errorMessage": words}})
    figures = server.ask("/metrics", **TOKEN)[1]
    assert 'atifold_happened_total{kind="ids_in_base64"} 4\n' in figures
    assert 'atifold_happened_total{kind="null_values"} 2\n' in figures
    assert "atifold_rejected_total{" not in figures
    _, answer, _ = _post(server, "/v1/traces", _good(0), {**PROTOBUF, **TOKEN})
    assert ExportTraceServiceResponse.FromString(answer) == ExportTraceServiceResponse()
    code, said = server.stop()
    assert code == 0
    assert said.count("ids in base64") == said.count("null values") == 1
    assert _asked(server) == ["Hello", "Hello 0"]
    assert bytes(range(1, 17)).hex() in json.dumps(server.documents())
