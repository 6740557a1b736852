"""Estimate how much memory a span or a log record holds, quickly."""

from __future__ import annotations

from typing import Any

from atifold.spans import Attributes, LogRecord, Span

# Measured with tracemalloc on CPython 3.11.
TRACE = 1_200
"""Bytes that a trace takes beside its spans."""
_SPAN = 500  # a span's own object, its ids and its place
_RECORD = 350  # the same of a log record
_ENTRY = 80  # one attribute or list element: the slot, and a small value


def size_of(span: Span) -> int:
    """Return the bytes that a held span takes, estimated; the shared resource is not counted."""
    size = _SPAN + _attributes(span.attributes) + len(span.status_message)
    for event in span.events:
        size += 2 * _ENTRY + _attributes(event.attributes)
    for link in span.links:
        size += 2 * _ENTRY + _attributes(link.attributes)
    return size


def record_size(record: LogRecord) -> int:
    """Return the bytes that a held log record takes, estimated as those of a span are."""
    return _RECORD + _attributes(record.attributes) + _value(record.body)


def _attributes(attributes: Attributes) -> int:
    size = _ENTRY * len(attributes)
    for value in attributes.values():
        kind = value.__class__
        if kind is str:
            size += len(value)
        elif kind is not int and kind is not float and kind is not bool:
            size += _value(value)
    return size


def _value(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, dict):
        return _attributes(value)
    if isinstance(value, (list, tuple)):
        return sum(_ENTRY + _value(item) for item in value)
    return 0
