"""Say how many bytes of OTLP protobuf something takes at most, without encoding it.

To encode a batch costs several times the look at it that is taken here, and the exporter encodes it anyway. The
figures are sure bounds: field tags of one or two bytes, lengths and counts of up to five, numbers at their
longest; what they exceed the truth by is a few bytes a field. A text with half a surrogate pair raises
UnicodeEncodeError, as the encoder would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link

_FIELD: Final = 6
"""Tag and length of a field."""
_NUMBER: Final = 11
_SPAN: Final = 160
"""Ids, times, kind, flags, counts, and the heads of the texts and the status."""
_EVENT: Final = 40
_LINK: Final = 64
_RECORD: Final = 120
_RESOURCE: Final = 40
_SCOPE: Final = 60


def text_bytes(text: str | None) -> int:
    """Return the length of a text in UTF-8; raises UnicodeEncodeError for half a surrogate pair."""
    if not text:
        return 0
    return len(text) if text.isascii() else len(text.encode())


def value_bytes(value: Any) -> int:
    """Return a bound of an attribute's value; what the encoder refuses, and so leaves out, is nothing."""
    if isinstance(value, str):
        return _FIELD + text_bytes(value)
    if isinstance(value, (bool, int, float)):
        return _NUMBER
    if isinstance(value, bytes):
        return _FIELD + len(value)
    if isinstance(value, Mapping):
        return _FIELD + attributes_bytes(value)
    if isinstance(value, Sequence):
        return _FIELD + sum(_FIELD + value_bytes(each) for each in value)
    return 0


def attributes_bytes(attributes: Mapping[Any, Any] | None) -> int:
    """Return a bound of a list of keys and values."""
    if not attributes:
        return 0
    total = 3 * _FIELD * len(attributes)
    for name, value in attributes.items():
        total += text_bytes(name if isinstance(name, str) else str(name)) + value_bytes(value)
    return total


def span_bytes(span: ReadableSpan) -> int:
    """Return a bound of a span in a request, without its scope and resource."""
    context = span.get_span_context()
    total = _SPAN + text_bytes(span.name) + text_bytes(span.status.description) + attributes_bytes(span.attributes)
    if context is not None and context.trace_state:
        total += text_bytes(context.trace_state.to_header())
    total += sum(map(_event_bytes, span.events))
    return total + sum(map(_link_bytes, span.links))


def record_bytes(record: ReadableLogRecord) -> int:
    """Return a bound of a log record in a request, without its scope and resource."""
    told = record.log_record
    texts = text_bytes(told.severity_text) + text_bytes(told.event_name)
    return _RECORD + texts + value_bytes(told.body) + attributes_bytes(told.attributes)


def frame_bytes(resource: Resource | None, scope: InstrumentationScope | None) -> int:
    """Return a bound of what stands once around all things of one resource and scope."""
    total = _RESOURCE + _SCOPE
    if resource is not None:
        total += attributes_bytes(resource.attributes) + text_bytes(resource.schema_url)
    if scope is not None:
        total += attributes_bytes(scope.attributes)
        total += sum(map(text_bytes, (scope.name, scope.version, scope.schema_url)))
    return total


def _event_bytes(event: Event) -> int:
    return _EVENT + text_bytes(event.name) + attributes_bytes(event.attributes)


def _link_bytes(link: Link) -> int:
    return _LINK + attributes_bytes(link.attributes)
