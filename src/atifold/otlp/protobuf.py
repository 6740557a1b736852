"""Read OTLP protobuf: one export request of spans or log records, or several, each after its length.

Source: opentelemetry-proto 1.x; the collector's file exporter puts four bytes of length before each
message. What a message holds is known by its ids: a span has 16 and 8 bytes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from atifold.otlp import json
from atifold.otlp.batch import Batch
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES

if TYPE_CHECKING:
    from google.protobuf.message import Message

_FIRST_FIELD: Final = b"\x0a"
"""How a message of resources begins: field 1, with a length."""

_LENGTH: Final = 4


def decode(data: bytes, where: str) -> Batch | None:
    """Return what the data holds, None where it is no OTLP protobuf."""
    parts = list(_messages(data))
    read = [_read(part) for part in parts]
    if not parts or any(value is None for value in read):
        return None
    batch = Batch()
    for value in read:
        batch.extend(json.decode(value, where))
    return batch


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a file; nothing where it cannot be one."""
    if data.startswith(_FIRST_FIELD):
        yield data
        return
    lengths: list[tuple[int, int]] = []
    at = 0
    while at + _LENGTH <= len(data):
        size = int.from_bytes(data[at : at + _LENGTH], "big")
        lengths.append((at + _LENGTH, at + _LENGTH + size))
        at += _LENGTH + size
    if at == len(data):
        yield from (data[start:end] for start, end in lengths)


def _read(data: bytes) -> Any:
    """Return a message as OTLP JSON, None for what is no request."""
    from google.protobuf.json_format import MessageToDict  # noqa: PLC0415 - JSON needs none of it
    from google.protobuf.message import DecodeError  # noqa: PLC0415
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData  # noqa: PLC0415
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData  # noqa: PLC0415

    for kind, fits in ((TracesData, _has_spans), (LogsData, _has_records)):
        message = kind()
        try:
            message.ParseFromString(data)
        except DecodeError:
            continue
        if fits(message):
            return MessageToDict(message)
    return None


def _items(resources: Iterable[Any], scopes: str, items: str) -> list[Message]:
    return [item for resource in resources for scope in getattr(resource, scopes) for item in getattr(scope, items)]


def _has_spans(message: Any) -> bool:
    spans: list[Any] = _items(message.resource_spans, "scope_spans", "spans")
    return bool(spans) and all(len(s.trace_id) == TRACE_BYTES and len(s.span_id) == SPAN_BYTES for s in spans)


def _has_records(message: Any) -> bool:
    records: list[Any] = _items(message.resource_logs, "scope_logs", "log_records")
    sizes = ((len(record.trace_id), len(record.span_id)) for record in records)
    return bool(records) and all(trace in (0, TRACE_BYTES) and span in (0, SPAN_BYTES) for trace, span in sizes)
