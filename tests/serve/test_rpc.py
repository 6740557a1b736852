"""The door of gRPC, over a real socket and with the generated client: answers, statuses and limits."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc import aio
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import LogsServiceStub
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from atifold.serve import Limits, Receiver
from atifold.serve.rpc import RpcDoor

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
Call = Callable[..., Any]


@pytest.fixture
def call(receiver_of: Callable[..., Receiver], threads: Any, run_async: Any) -> Call:
    """Return what makes one call with a channel to a fresh server; a call that fails gives its error."""

    def one(ask: Callable[[aio.Channel], Any], *, closing: bool = False, **how: Any) -> Any:
        async def main() -> Any:
            receiver = receiver_of(**how)
            receiver.closing = closing
            server = RpcDoor(receiver, threads).server()
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            try:
                async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                    return await ask(channel)
            except aio.AioRpcError as error:
                return error
            finally:
                await server.stop(0)

        return run_async(main)

    return one


def _spans(requests: Any, *spans: Any) -> Any:
    return ExportTraceServiceRequest.FromString(requests.protobuf(requests.spans(*spans)))


def _status(error: Any) -> status_pb2.Status:
    """Return the status that the trailer holds, an empty one where there is none."""
    found = (value for name, value in error.trailing_metadata() if name == "grpc-status-details-bin")
    return status_pb2.Status.FromString(next(found, b""))


def test_spans_and_log_records_are_taken(call: Call, requests: Any) -> None:
    """Through both services; nothing is said of a request that was taken whole."""
    answer = call(lambda channel: TraceServiceStub(channel).Export(_spans(requests, requests.agent)))
    assert not answer.HasField("partial_success")
    records = ExportLogsServiceRequest.FromString(requests.protobuf(requests.said()))
    answer = call(lambda channel: LogsServiceStub(channel).Export(records))
    assert not answer.HasField("partial_success")


def test_what_cannot_be_read_of_a_request_is_counted_in_the_answer(call: Call, requests: Any) -> None:
    """The span beside it is taken."""
    bad = {**requests.chat, "spanId": ""}
    answer = call(lambda channel: TraceServiceStub(channel).Export(_spans(requests, requests.agent, bad)))
    assert answer.partial_success.rejected_spans == 1
    assert "found a span that cannot be read" in answer.partial_success.error_message


def test_bytes_that_are_no_request_are_an_invalid_argument(call: Call) -> None:
    """Not an internal error, after which a client would come again."""
    error = call(lambda channel: channel.unary_unary(EXPORT)(b"\xff\xff\xff"))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "found no protobuf of spans" in error.details()
    assert _status(error).message == error.details()


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_a_request_that_is_too_large_is_not_worth_another_try(
    call: Call, requests: Any, compression: grpc.Compression
) -> None:
    """RESOURCE_EXHAUSTED without RetryInfo, whether it is large as it comes or when unpacked."""
    large = _spans(requests, {**requests.agent, "name": "x" * 20_000})
    assert len(gzip.compress(large.SerializeToString())) < 10_000
    error = call(
        lambda channel: TraceServiceStub(channel).Export(large, compression=compression),
        limits=Limits(max_body_bytes=10_000),
    )
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert not _status(error).details


def test_a_packed_request_is_taken(call: Call, requests: Any) -> None:
    """As exporters send it with `OTEL_EXPORTER_OTLP_COMPRESSION=gzip`."""
    spans = _spans(requests, requests.agent)
    answer = call(lambda channel: TraceServiceStub(channel).Export(spans, compression=grpc.Compression.Gzip))
    assert not answer.HasField("partial_success")


def test_who_has_no_token_is_unauthenticated(call: Call, requests: Any) -> None:
    """The token stands in the metadata."""
    spans = _spans(requests, requests.agent)
    error = call(lambda channel: TraceServiceStub(channel).Export(spans), token="s3cret")
    assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    bearing = (("authorization", "Bearer s3cret"),)
    answer = call(lambda channel: TraceServiceStub(channel).Export(spans, metadata=bearing), token="s3cret")
    assert not answer.HasField("partial_success")


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"limits": Limits(max_connections=0)}, grpc.StatusCode.RESOURCE_EXHAUSTED),
        ({"closing": True}, grpc.StatusCode.UNAVAILABLE),
    ],
)
def test_a_server_without_room_says_when_to_come_again(call: Call, requests: Any, how: Any, code: Any) -> None:
    """With `RetryInfo`, without which clients take RESOURCE_EXHAUSTED for the end."""
    error = call(lambda channel: TraceServiceStub(channel).Export(_spans(requests, requests.agent)), **how)
    assert error.code() is code
    info = error_details_pb2.RetryInfo()
    assert _status(error).details[0].Unpack(info)
    assert info.retry_delay.seconds == 5
