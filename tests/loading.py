"""Send many small traces to `atifold serve` from several threads, by every protocol, and count what was taken."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
from backends.sending import as_json
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

_TRACE = b"\xf0placeholder-id\xf0"
_START_NS = 1_800_000_000_000_000_000
_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_TIMEOUT_S = 30

TEXT = "y" * 2_000
"""What the model answers in each trace."""


def _pair(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _span(number: int, parent: int | None, name: str, **facts: str) -> Span:
    return Span(
        trace_id=_TRACE,
        span_id=number.to_bytes(8, "big"),
        parent_span_id=b"" if parent is None else parent.to_bytes(8, "big"),
        name=name,
        start_time_unix_nano=_START_NS + number,
        end_time_unix_nano=_START_NS + 10**9 - number,
        attributes=[_pair(key.replace("__", "."), value) for key, value in facts.items()],
    )


def _requests() -> list[ExportTraceServiceRequest]:
    """Return the two requests of a trace: its model call, then the agent around it."""
    chat = _span(
        2,
        1,
        "chat m",
        gen_ai__operation__name="chat",
        gen_ai__request__model="m",
        gen_ai__input__messages=_message("user", "Say."),
        gen_ai__output__messages=_message("assistant", TEXT),
    )
    agent = _span(1, None, "invoke_agent a", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="a")
    return [
        ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])
        for span in (chat, agent)
    ]


_PROTOBUF = [request.SerializeToString() for request in _requests()]
_JSON = [json.dumps(as_json(request)).encode() for request in _requests()]


def _protobuf(trace_id: bytes) -> Iterator[bytes]:
    return (body.replace(_TRACE, trace_id) for body in _PROTOBUF)


def _json(trace_id: bytes) -> Iterator[bytes]:
    return (body.replace(_TRACE.hex().encode(), trace_id.hex().encode()) for body in _JSON)


Post = Callable[[bytes], bool]
"""Sends a body; returns whether it was taken, raises OSError or grpc.RpcError where nobody answers."""


@contextmanager
def _over_http(url: str, headers: dict[str, str]) -> Iterator[Post]:
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_TIMEOUT_S)

    def post(body: bytes) -> bool:
        data = gzip.compress(body, 1) if "Content-Encoding" in headers else body
        connection.request("POST", "/v1/traces", data, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status in (200, 429), answer.status
        return answer.status == 200

    try:
        yield post
    finally:
        connection.close()


@contextmanager
def _over_grpc(url: str) -> Iterator[Post]:
    with grpc.insecure_channel(urlsplit(url).netloc) as channel:
        export = channel.unary_unary(_EXPORT)

        def post(body: bytes) -> bool:
            try:
                export(body, timeout=_TIMEOUT_S)
            except grpc.RpcError as error:
                if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                    return False
                raise
            return True

        yield post


_PROTO = {"Content-Type": "application/x-protobuf"}
SENDERS: dict[str, tuple[Callable[[Any], Any], Callable[[bytes], Iterator[bytes]]]] = {
    "http/protobuf": (lambda server: _over_http(server.http, _PROTO), _protobuf),
    "http/protobuf gzip": (lambda server: _over_http(server.http, {**_PROTO, "Content-Encoding": "gzip"}), _protobuf),
    "http/json": (lambda server: _over_http(server.http, {"Content-Type": "application/json"}), _json),
    "grpc": (lambda server: _over_grpc(server.grpc), _protobuf),
}
"""How to connect to a server, and how to write the two requests of a trace."""


@dataclass
class Load:
    """What the senders did so far: ids of traces of which all was taken, refusals, and why one gave up."""

    taken: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in SENDERS})
    refused: int = 0
    errors: list[str] = field(default_factory=list)
    pause_s: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def ids(self) -> set[str]:
        """Return the ids of all traces that were taken whole."""
        return {each for ids in self.taken.values() for each in ids}

    def send(self, name: str, server: Any) -> None:
        """Send traces, each with an id of its own, until `stopped`; one that is refused comes again."""
        connect, write = SENDERS[name]
        number = list(SENDERS).index(name)
        try:
            with connect(server) as post:
                for serial in count(1):
                    if self.stopped.is_set():
                        return
                    trace_id = number.to_bytes(2, "big") + b"\x01" + serial.to_bytes(13, "big")
                    for body in write(trace_id):
                        while not post(body):
                            self.refused += 1
                            time.sleep(0.1)
                    self.taken[name].append(trace_id.hex())
                    self.stopped.wait(self.pause_s)
        except (OSError, http.client.HTTPException, grpc.RpcError) as error:
            self.errors.append(f"{name}: {type(error).__name__}")


@contextmanager
def load(server: Any, pause_s: float = 0.0) -> Iterator[Load]:
    """Have a thread for each kind of sender send to a server while the block lasts; each rests between traces."""
    found = Load(pause_s=pause_s)
    threads = [threading.Thread(target=found.send, args=(name, server)) for name in SENDERS]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        found.stopped.set()
        for thread in threads:
            thread.join()


def resident_bytes(pid: int) -> int:
    """Return what a process holds of memory, as Linux tells it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))
