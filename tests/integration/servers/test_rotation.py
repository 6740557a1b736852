"""A trace that a real Collector spreads over rotated files is whole when these are read as a set."""

from __future__ import annotations

import os
from pathlib import Path

import grpc
import pytest
from backends.backend import Backend
from backends.collector import FORMATS, collector, parts
from backends.sending import GRPC, Protocol
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from atifold import atif, dialects, fold, otlp

pytestmark = pytest.mark.integration

TURNS = 40
LONG = 100_000
"""Characters of a model's answer, hex of random bytes: compressed, half of it is left; in all, 4 MB and 2 MB."""
START_NS = 1_800_000_000_000_000_000


def _text(role: str, text: str) -> KeyValue:
    name = "input" if role == "user" else "output"
    message = f'[{{"role":"{role}","parts":[{{"type":"text","content":"{text}"}}]}}]'
    return _pair(f"gen_ai.{name}.messages", message)


def _pair(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))


def _trace() -> list[Span]:
    """Return one agent with many long answers of its model, the agent's span last."""
    trace_id, root = os.urandom(16), os.urandom(8)
    calls = [
        Span(
            trace_id=trace_id,
            span_id=os.urandom(8),
            parent_span_id=root,
            name="chat m",
            start_time_unix_nano=START_NS + (2 * number + 1) * 10**9,
            end_time_unix_nano=START_NS + (2 * number + 2) * 10**9,
            attributes=[
                _pair("gen_ai.operation.name", "chat"),
                _pair("gen_ai.request.model", "m"),
                _text("user", f"question {number}"),
                _text("assistant", os.urandom(LONG // 2).hex()),
            ],
        )
        for number in range(TURNS)
    ]
    agent = Span(
        trace_id=trace_id,
        span_id=root,
        name="invoke_agent a",
        start_time_unix_nano=START_NS,
        end_time_unix_nano=START_NS + 3 * TURNS * 10**9,
        attributes=[_pair("gen_ai.operation.name", "invoke_agent"), _pair("gen_ai.agent.name", "a")],
    )
    return [*calls, agent]


def _request(spans: list[Span]) -> ExportTraceServiceRequest:
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=spans)])])


def _send(backend: Backend, spans: list[Span], protocol: Protocol = GRPC) -> dict[str, int]:
    """Send spans one by one: a write that is longer than a file may be is thrown away whole."""
    for span in spans:
        assert protocol.send(backend.url(protocol), _request([span]), backend.headers) == 200
    return {spans[0].trace_id.hex(): len(spans)}


def _folded(batch: otlp.Batch) -> list[bytes]:
    assert batch.complaints == []
    return [atif.dumps(document.trajectory) for document in fold.fold(dialects.read(batch.spans)).documents]


def test_a_trace_in_several_rotated_files_is_folded_whole(tmp_path: Path) -> None:
    """In each format; and the files, in whatever order, give what the request itself gives."""
    spans = _trace()
    with collector(tmp_path, rotated=True) as backend:
        backend.wait(_send(backend, spans))
    expected = _folded(otlp.parse(_request(spans).SerializeToString(), "sent"))
    for name in FORMATS:
        files = parts(tmp_path, name)
        held = [len(otlp.read([file]).spans) for file in files]
        assert len([count for count in held if count]) >= 2, f"{name}: the trace lies in one file"
        assert sum(held) == len(spans)
        for order in (files, files[::-1]):
            assert _folded(otlp.read(order)) == expected


def test_a_write_longer_than_a_rotated_file_is_refused_whole(tmp_path: Path) -> None:
    """Nothing of it is in any file: why batches have to stay below the file size."""
    long, last = _trace()[:-1], _trace()[-1:]
    with collector(tmp_path, rotated=True) as backend:
        with pytest.raises(grpc.RpcError, match="exceeds maximum file size"):
            GRPC.send(backend.url(GRPC), _request(long), backend.headers)
        backend.wait(_send(backend, last))
        seen = {name: len(backend.views[name].facts(long[0].trace_id.hex())) for name in FORMATS}
    assert seen == dict.fromkeys(FORMATS, 0)
