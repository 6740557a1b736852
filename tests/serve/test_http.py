"""The door of HTTP, over a real socket: media types, encodings, limits and what is answered."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, web
from google.rpc.status_pb2 import Status

from atifold.serve import Limits, Receiver
from atifold.serve.http import HttpDoor

JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}


@asynccontextmanager
async def _served(receiver: Receiver, threads: Any) -> AsyncIterator[tuple[ClientSession, int]]:
    runner = HttpDoor(receiver, threads).runner()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    try:
        async with ClientSession(f"http://127.0.0.1:{port}", auto_decompress=False) as session:
            yield session, port
    finally:
        await runner.cleanup()


@pytest.fixture
def ask(receiver_of: Callable[..., Receiver], threads: Any, run_async: Any) -> Callable[..., Any]:
    """Return what sends one request to a fresh server, and gives (status, headers, body)."""

    def one(data: Any = b"", *, path: str = "/v1/traces", method: str = "POST", headers: Any = JSON, **how: Any) -> Any:
        async def main() -> Any:
            async with (
                _served(receiver_of(**how), threads) as (session, _),
                session.request(method, path, data=data, headers=headers) as answer,
            ):
                return answer.status, dict(answer.headers), await answer.read()

        return run_async(main)

    return one


def test_a_request_in_protobuf_is_answered_in_protobuf(ask: Any, requests: Any, documents: Any) -> None:
    """200, with nothing to say; the document is there after the end."""
    status, headers, body = ask(requests.protobuf(requests.spans(requests.agent)), headers=PROTOBUF)
    assert (status, headers["Content-Type"], body) == (200, "application/x-protobuf", b"")
    assert headers["Server"] == "atifold"


def test_a_request_in_json_is_answered_in_json(ask: Any, requests: Any) -> None:
    """Whatever parameters its media type has, and for what was rejected of it too."""
    bad = {**requests.chat, "traceId": "xyz"}
    status, headers, body = ask(
        requests.json(requests.spans(requests.agent, bad)), headers={"Content-Type": "application/json; charset=utf-8"}
    )
    assert (status, headers["Content-Type"]) == (200, "application/json")
    partial = json.loads(body)["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert partial["errorMessage"].startswith("request: found a span that cannot be read")


def test_a_packed_request_is_unpacked(ask: Any, requests: Any) -> None:
    """As exporters send it with `OTEL_EXPORTER_OTLP_COMPRESSION=gzip`."""
    packed = gzip.compress(requests.json(requests.said()))
    assert ask(packed, path="/v1/logs", headers={**JSON, "Content-Encoding": "gzip"})[0] == 200


@pytest.mark.parametrize(
    ("data", "headers", "status", "words"),
    [
        (b"{", JSON, 400, "found no JSON"),
        (b"\xff", PROTOBUF, 400, "found no protobuf of spans"),
        (b"plain", {**JSON, "Content-Encoding": "gzip"}, 400, "no gzip"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "Content-Type text/plain"),
        (b"{}", {**JSON, "Content-Encoding": "br"}, 415, "Content-Encoding br: gzip or none was wanted"),
        (b" " * 2_000, JSON, 413, "the body has more than 1,000 bytes"),
        (gzip.compress(b" " * 2_000), {**JSON, "Content-Encoding": "gzip"}, 413, "more than 1,000 bytes when unpacked"),
    ],
)
def test_what_is_refused_is_answered_with_a_status(
    ask: Any, data: bytes, headers: Any, status: int, words: str
) -> None:
    """In the request's form, with what was found; not one of them is worth another try."""
    found, answered, body = ask(data, headers=headers, limits=Limits(max_body_bytes=1_000))
    assert found == status
    assert "Retry-After" not in answered
    in_json = headers["Content-Type"] == "application/json"
    message = json.loads(body)["message"] if in_json else Status.FromString(body).message
    assert words in message


def test_a_body_of_unknown_length_is_held_to_the_limit_too(ask: Any) -> None:
    """It comes in chunks."""

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 100

    assert ask(chunks(), limits=Limits(max_body_bytes=1_000))[0] == 413


def test_a_body_that_does_not_come_is_not_waited_for(ask: Any) -> None:
    """Its connection would be held for ever."""

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(1)
        yield b"}"

    assert ask(slow(), limits=Limits(read_s=0.05))[0] == 408


def test_who_has_no_token_is_refused_but_may_ask_for_health(ask: Any) -> None:
    """401 with the scheme; so are figures."""
    for method, path in (("POST", "/v1/traces"), ("POST", "/v1/logs"), ("GET", "/metrics")):
        status, headers, body = ask(path=path, method=method, token="s3cret")
        assert (status, headers["WWW-Authenticate"], json.loads(body)["code"]) == (401, "Bearer", 16)
    assert ask(path="/healthz", method="GET", token="s3cret")[0] == 200
    assert ask(b"{}", headers={**JSON, "Authorization": "Bearer s3cret"}, token="s3cret")[0] == 200


def test_other_paths_and_methods_are_not_there(ask: Any) -> None:
    """Metrics and profiles are nobody's here."""
    assert ask(path="/v1/metrics")[0] == 404
    assert ask(method="GET")[0] == 405


def test_who_is_one_too_many_is_told_when_to_come_again(
    receiver_of: Callable[..., Receiver], threads: Any, run_async: Any
) -> None:
    """429 with `Retry-After`, and counted."""
    receiver = receiver_of(limits=Limits(max_connections=1))

    async def main() -> None:
        async with _served(receiver, threads) as (session, port):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            async with session.get("/healthz"):
                pass
            async with session.post("/v1/traces", data=b"{}", headers=JSON) as answer:
                assert (answer.status, answer.headers["Retry-After"]) == (429, "5")
            writer.close()

    run_async(main)
    assert 'atifold_requests_total{protocol="http",signal="traces",outcome="busy"} 1' in receiver.metrics({})


def test_a_client_that_goes_away_costs_nothing(
    receiver_of: Callable[..., Receiver], threads: Any, run_async: Any, caplog: Any
) -> None:
    """In the midst of a body, or with what is no HTTP: counted or not, and never a traceback."""
    receiver = receiver_of()
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

    async def main() -> None:
        async with _served(receiver, threads) as (session, port):
            for words in (
                head + b'Content-Length: 100\r\n\r\n{"a"',
                head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            ):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(words)
                await writer.drain()
                await asyncio.sleep(0.05)
                writer.close()
            async with session.post("/v1/traces", data=b"{}", headers=JSON) as answer:
                assert answer.status == 200

    run_async(main)
    assert 'outcome="bad"} 1' in receiver.metrics({})
    assert receiver._room.held == 0
    assert [record for record in caplog.records if record.exc_info or "failed" in record.getMessage()] == []


def test_the_answer_of_a_server_that_stops(receiver_of: Callable[..., Receiver], threads: Any, run_async: Any) -> None:
    """503 for requests and for the question after its health."""
    receiver = receiver_of()
    receiver.closing = True

    async def main() -> None:
        async with _served(receiver, threads) as (session, _):
            async with session.get("/healthz") as health:
                assert (health.status, await health.json()) == (503, {"status": "closing"})
            async with session.post("/v1/logs", data=b"", headers=PROTOBUF) as answer:
                assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
                assert Status.FromString(await answer.read()).message == "the server is about to stop"

    run_async(main)
