"""Containers by name."""

from __future__ import annotations

import gzip

import pytest

from atifold.otlp import container_of

SPANS = b'{"resourceSpans": [{"scopeSpans": []}]}'
PROTOBUF = b"\x0a\x02\x12\x00"


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
        (b'{"data": [{"spans": []}]}', "Jaeger JSON"),
        (PROTOBUF, "OTLP protobuf"),
        (gzip.compress(PROTOBUF), "OTLP protobuf, gzip"),
        (gzip.compress(SPANS), "OTLP JSON, gzip"),
        (b"", "unknown"),
        (b"{}", "unknown"),
        (b"[1]", "unknown"),
        (b"hello", "unknown"),
    ],
)
def test_a_container_is_known_by_what_is_in_it(data: bytes, name: str) -> None:
    """Its form, whether it is one document or one a line, and its packing."""
    assert container_of(data) == name
