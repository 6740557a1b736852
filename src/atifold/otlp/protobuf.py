"""Read OTLP protobuf: one export request of spans or log records, or several, each after its length.

The bytes become the values that OTLP JSON has for them, by the tables below, and are read as such.
Source: opentelemetry-proto 1.x, its field numbers; https://protobuf.dev/programming-guides/encoding/ for
the wire. The collector's file exporter puts four bytes of length before each message.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Union

from atifold.otlp import json
from atifold.otlp.batch import Batch

_BEGINNINGS: Final = (b"\x0a", b"\0")
"""How a request begins: with field 1 and its length, or with the length of the whole."""

_LENGTH: Final = 4
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}
_LAST_BYTE: Final = 0x80
_LONGEST_VARINT: Final = 70
_INT64: Final = 1 << 63


class _Scalar(NamedTuple):
    """A plain field: its wire type, and what it becomes."""

    wire: int
    read: Callable[[Any], Any]


class _Field(NamedTuple):
    """A field of a message: its name in OTLP JSON, and its kind, which is a scalar or the name of a message."""

    name: str
    kind: Union[_Scalar, str]
    many: bool = False


_TEXT: Final = _Scalar(_BYTES, lambda data: data.decode("utf-8", "replace"))
_HEX: Final = _Scalar(_BYTES, lambda data: data.hex())
_DATA: Final = _Scalar(_BYTES, lambda data: base64.b64encode(data).decode("ascii"))
_NUMBER: Final = _Scalar(_VARINT, lambda number: number)
_SIGNED: Final = _Scalar(_VARINT, lambda number: number - 2 * _INT64 if number >= _INT64 else number)
_TRUTH: Final = _Scalar(_VARINT, bool)
_TIME: Final = _Scalar(_FIXED64, lambda data: int.from_bytes(data, "little"))
_DOUBLE: Final = _Scalar(_FIXED64, lambda data: struct.unpack("<d", data)[0])

_ATTRIBUTES: Final = "KeyValue"
_IDS: Final = frozenset({"traceId", "spanId"})
_SPANS: Final = {1: _Field("resourceSpans", "ResourceSpans", many=True)}
_LOGS: Final = {1: _Field("resourceLogs", "ResourceLogs", many=True)}
_MESSAGES: Final[Mapping[str, Mapping[int, _Field]]] = {
    "ResourceSpans": {1: _Field("resource", "Resource"), 2: _Field("scopeSpans", "ScopeSpans", many=True)},
    "ResourceLogs": {1: _Field("resource", "Resource"), 2: _Field("scopeLogs", "ScopeLogs", many=True)},
    "Resource": {1: _Field("attributes", _ATTRIBUTES, many=True)},
    "ScopeSpans": {1: _Field("scope", "Scope"), 2: _Field("spans", "Span", many=True)},
    "ScopeLogs": {1: _Field("scope", "Scope"), 2: _Field("logRecords", "LogRecord", many=True)},
    "Scope": {1: _Field("name", _TEXT), 2: _Field("version", _TEXT)},
    "Span": {
        1: _Field("traceId", _HEX),
        2: _Field("spanId", _HEX),
        4: _Field("parentSpanId", _HEX),
        5: _Field("name", _TEXT),
        6: _Field("kind", _NUMBER),
        7: _Field("startTimeUnixNano", _TIME),
        8: _Field("endTimeUnixNano", _TIME),
        9: _Field("attributes", _ATTRIBUTES, many=True),
        11: _Field("events", "Event", many=True),
        13: _Field("links", "Link", many=True),
        15: _Field("status", "Status"),
    },
    "Event": {
        1: _Field("timeUnixNano", _TIME),
        2: _Field("name", _TEXT),
        3: _Field("attributes", _ATTRIBUTES, many=True),
    },
    "Link": {
        1: _Field("traceId", _HEX),
        2: _Field("spanId", _HEX),
        4: _Field("attributes", _ATTRIBUTES, many=True),
    },
    "Status": {2: _Field("message", _TEXT), 3: _Field("code", _NUMBER)},
    "LogRecord": {
        1: _Field("timeUnixNano", _TIME),
        5: _Field("body", "AnyValue"),
        6: _Field("attributes", _ATTRIBUTES, many=True),
        9: _Field("traceId", _HEX),
        10: _Field("spanId", _HEX),
        11: _Field("observedTimeUnixNano", _TIME),
        12: _Field("eventName", _TEXT),
    },
    _ATTRIBUTES: {1: _Field("key", _TEXT), 2: _Field("value", "AnyValue")},
    "AnyValue": {
        1: _Field("stringValue", _TEXT),
        2: _Field("boolValue", _TRUTH),
        3: _Field("intValue", _SIGNED),
        4: _Field("doubleValue", _DOUBLE),
        5: _Field("arrayValue", "ArrayValue"),
        6: _Field("kvlistValue", "KeyValueList"),
        7: _Field("bytesValue", _DATA),
    },
    "ArrayValue": {1: _Field("values", "AnyValue", many=True)},
    "KeyValueList": {1: _Field("values", _ATTRIBUTES, many=True)},
}


def decode(data: bytes, where: str) -> Batch | None:
    """Return what the data holds, None where it is no OTLP protobuf."""
    if not data.startswith(_BEGINNINGS):
        return None
    try:
        read = [_request(memoryview(part)) for part in _parts(data)]
    except (ValueError, IndexError, RecursionError):
        return None
    batch = Batch()
    for value in read:
        batch.extend(json.decode(value, where))
    return batch if read else None


def _parts(data: bytes) -> Iterator[bytes]:
    """Yield the requests of a file; raises ValueError where lengths do not fit."""
    if not data.startswith(b"\0"):
        yield data
        return
    at = 0
    while at < len(data):
        start = at + _LENGTH
        at = start + int.from_bytes(data[at:start], "big")
        if at > len(data):
            raise ValueError("a message that is cut")
        yield data[start:at]


def _request(data: memoryview) -> dict[str, Any]:
    """Return a request of spans or of log records; raises ValueError for what is neither.

    The two are built alike: it is one of spans when each item has a span's ids.
    """
    try:
        found = _message(data, _SPANS)
    except (ValueError, IndexError):
        found = {}
    if not found or not all(span.keys() >= _IDS for span in _spans_in(found)):
        found = _message(data, _LOGS)
    if not any(resource for resources in found.values() for resource in resources):
        raise ValueError("no request that says something")
    return found


def _spans_in(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in request.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            yield from scope.get("spans", ())


def _message(data: memoryview, fields: Mapping[int, _Field]) -> dict[str, Any]:
    """Return the fields of a message that are known; raises ValueError where one is not of its type."""
    found: dict[str, Any] = {}
    for number, wire, value in _wire(data):
        field = fields.get(number)
        if field is None:
            continue
        if isinstance(field.kind, str):
            _want(wire, _BYTES)
            read: Any = _message(value, _MESSAGES[field.kind])
        else:
            _want(wire, field.kind.wire)
            read = field.kind.read(value if wire == _VARINT else bytes(value))
        if field.many:
            found.setdefault(field.name, []).append(read)
        else:
            found[field.name] = read
    return found


def _want(wire: int, wanted: int) -> None:
    if wire != wanted:
        raise ValueError(f"wire type {wire} in place of {wanted}")


def _wire(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Yield (field number, wire type, number or bytes) of each field."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, wire, value
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        else:
            size = _SIZES.get(wire, -1)
        if number == 0 or size < 0 or at + size > end:
            raise ValueError("no protobuf")
        yield number, wire, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a number and the place after it; raises IndexError where the data ends in it."""
    value, shift = 0, 0
    while shift < _LONGEST_VARINT:
        byte = data[at]
        at += 1
        value |= (byte & (_LAST_BYTE - 1)) << shift
        if byte < _LAST_BYTE:
            return value, at
        shift += 7
    raise ValueError("a number that does not end")
