"""Containers by name."""

from __future__ import annotations

import gzip

import exports
import pytest

from atifold.otlp import container_of
from atifold.spans import Span

SPANS = b'{"resourceSpans": [{"scopeSpans": []}]}'
SPAN = Span("1" * 32, "2" * 16, None, "a span", 1, 2)
PROTOBUF = exports.protobuf([SPAN])
JAEGER = (
    b'{"data": [{"traceID": "1", "spans": [{"traceID": "1", "spanID": "2", "operationName": "x"}], "processes": {}}]}'
)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (SPANS, "OTLP JSON"),
        (b"\xef\xbb\xbf" + SPANS, "OTLP JSON"),
        (SPANS + b"\n" + SPANS, "OTLP JSON Lines"),
        (b"broken\n" + SPANS, "OTLP JSON Lines"),
        (b"[" + SPANS + b"]", "OTLP JSON"),
        (b'{"resource_logs": []}', "OTLP JSON in snake case"),
        (b'{"batches": [{}]}', "Tempo JSON"),
        (b'{"trace": ' + SPANS + b"}", "OTLP JSON"),
        (JAEGER, "Jaeger JSON"),
        (len(PROTOBUF).to_bytes(4, "big") + PROTOBUF, "length-prefixed messages of OTLP protobuf"),
        (PROTOBUF, "OTLP protobuf"),
        (gzip.compress(PROTOBUF, mtime=0), "OTLP protobuf, gzip"),
        (gzip.compress(SPANS, mtime=0), "OTLP JSON, gzip"),
        (b"", "unknown"),
        (b"{}", "unknown"),
        (b"[1]", "unknown"),
        (b"hello", "unknown"),
    ],
)
def test_a_container_is_known_by_what_is_in_it(data: bytes, name: str) -> None:
    """Its form, whether it is one document or one a line, and its packing."""
    assert container_of(data) == name
