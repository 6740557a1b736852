"""Give receivers that write to a folder, and requests to send them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from atifold.serve import Limits, Receiver
from atifold.settings import Settings
from atifold.sinks import DirectorySink

TRACE, AGENT, CHAT = "a" * 32, "1" * 16, "2" * 16


def _attributes(**values: str) -> list[dict[str, Any]]:
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in values.items()]


def _span(span_id: str, parent: str | None, name: str, **values: str) -> dict[str, Any]:
    times = {"startTimeUnixNano": "1767225600000000000", "endTimeUnixNano": "1767225601000000000"}
    above = {} if parent is None else {"parentSpanId": parent}
    return {"traceId": TRACE, "spanId": span_id, **above, "name": name, **times, "attributes": _attributes(**values)}


class Requests:
    """Requests of one trace: an agent with one model call, whose content is in log records."""

    agent = _span(AGENT, None, "invoke_agent echo", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="echo")
    chat = _span(CHAT, AGENT, "chat mock", gen_ai__operation__name="chat", gen_ai__request__model="mock")

    @staticmethod
    def spans(*spans: dict[str, Any]) -> dict[str, Any]:
        """Return a request of spans."""
        return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}

    @staticmethod
    def logs(**bodies: dict[str, Any]) -> dict[str, Any]:
        """Return a request of a log record for each event, in its order, with its body."""
        records = [
            {
                "traceId": TRACE,
                "spanId": CHAT,
                "timeUnixNano": str(1767225600000000000 + at),
                "eventName": f"gen_ai.{name.replace('_', '.')}",
                "body": {"kvlistValue": {"values": [{"key": key, "value": value} for key, value in body.items()]}},
            }
            for at, (name, body) in enumerate(bodies.items())
        ]
        return {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}

    def said(self) -> dict[str, Any]:
        """Return the request of what was said in the call."""
        message = {"kvlistValue": {"values": _attributes(role="assistant", content="pong")}}
        return self.logs(user_message={"content": {"stringValue": "ping"}}, choice={"message": message})

    @staticmethod
    def json(request: dict[str, Any]) -> bytes:
        """Return a request as JSON."""
        return json.dumps(request).encode()

    @staticmethod
    def protobuf(request: dict[str, Any]) -> bytes:
        """Return a request as protobuf, whose JSON form has ids in base64."""
        from base64 import b64encode  # noqa: PLC0415 - here alone

        from google.protobuf.json_format import ParseDict  # noqa: PLC0415 - here alone

        def based(value: Any, name: str = "") -> Any:
            if isinstance(value, dict):
                return {key: based(inner, key) for key, inner in value.items()}
            if isinstance(value, list):
                return [based(inner) for inner in value]
            return b64encode(bytes.fromhex(value)).decode() if name in ("traceId", "spanId", "parentSpanId") else value

        message = ExportTraceServiceRequest() if "resourceSpans" in request else ExportLogsServiceRequest()
        return bytes(ParseDict(based(request), message).SerializeToString())


@pytest.fixture(scope="session")
def requests() -> Requests:
    """Return requests to send."""
    return Requests()


@pytest.fixture
def receiver_of(tmp_path: Path) -> Iterator[Callable[..., Receiver]]:
    """Return a maker of receivers that write to the test's folder `out`; they are closed afterwards."""
    made: list[Receiver] = []

    def make(
        *,
        token: str | None = None,
        sink: Any = None,
        limits: Limits | None = None,
        carry: Path | None = None,
        **settings: Any,
    ) -> Receiver:
        chosen = Settings(**{"grace_s": 0.0, **settings})
        sink, limits = sink or DirectorySink(tmp_path / "out"), limits or Limits(drain_s=2.0)
        made.append(Receiver(chosen, sink, limits, token=token, carry=carry))
        return made[-1]

    yield make
    for receiver in made:
        receiver.close()


@pytest.fixture
def documents(tmp_path: Path) -> Callable[[], list[Any]]:
    """Return a reader of the documents in `out`."""
    return lambda: [json.loads(path.read_bytes()) for path in sorted((tmp_path / "out").glob("*.json"))]


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Return threads for doors."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(scope="session")
def run_async() -> Callable[[Callable[[], Awaitable[Any]]], Any]:
    """Return what runs a coroutine function to its end."""

    def run(main: Callable[[], Awaitable[Any]]) -> Any:
        async def whole() -> Any:
            return await asyncio.wait_for(main(), 30)

        return asyncio.run(whole())

    return run
