"""Make texts encodable: UTF-8, and so protobuf, knows no half of a surrogate pair.

Only what was found to be broken comes here (see `weight`), so that whole texts cost nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, Status


def mended_text(text: str) -> str:
    """Return a text in which each half of a surrogate pair is joined with its other half, or is U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def mended_value(value: Any) -> Any:
    """Return an attribute's value with whole characters in all of its texts and keys."""
    match value:
        case str():
            return mended_text(value)
        case Mapping():
            return {mended_value(name): mended_value(each) for name, each in value.items()}
        case bytes() | bytearray() | memoryview():
            return value
        case Sequence():
            return [mended_value(each) for each in value]
        case _:
            return value


def mended_span(span: ReadableSpan) -> ReadableSpan:
    """Return a span that can be encoded: name, attributes, events, links, status, scope and resource."""
    return _Span(span)


def mended_record(record: ReadableLogRecord) -> ReadableLogRecord:
    """Return a log record that can be encoded: body, attributes, event name, severity, scope and resource."""
    told = copy.copy(record.log_record)
    told.body = mended_value(told.body)
    told.attributes = mended_value(told.attributes)
    told.event_name = mended_value(told.event_name)
    told.severity_text = mended_value(told.severity_text)
    made = _Record(told, _resource(record.resource), _scope(record.instrumentation_scope), record.limits)
    object.__setattr__(made, "dropped", record.dropped_attributes)  # the class is frozen
    return made


class _Span(ReadableSpan):
    """A span with whole characters; what it had dropped before is still told."""

    def __init__(self, span: ReadableSpan) -> None:
        super().__init__(
            name=mended_text(span.name),
            context=span.get_span_context(),
            parent=span.parent,
            resource=_resource(span.resource),
            attributes=mended_value(span.attributes),
            events=[_Event(event) for event in span.events],
            links=[_Link(link) for link in span.links],
            kind=span.kind,
            status=_status(span.status),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=_scope(span.instrumentation_scope),
        )
        self._was = span

    @property
    def dropped_attributes(self) -> int:
        return self._was.dropped_attributes

    @property
    def dropped_events(self) -> int:
        return self._was.dropped_events

    @property
    def dropped_links(self) -> int:
        return self._was.dropped_links


class _Event(Event):
    def __init__(self, event: Event) -> None:
        super().__init__(mended_text(event.name), mended_value(event.attributes), event.timestamp)
        self._dropped = event.dropped_attributes

    @property
    def dropped_attributes(self) -> int:
        return self._dropped


class _Link(Link):
    def __init__(self, link: Link) -> None:
        super().__init__(link.context, mended_value(link.attributes))
        self._dropped = link.dropped_attributes

    @property
    def dropped_attributes(self) -> int:
        return self._dropped


class _Record(ReadableLogRecord):
    dropped = 0

    @property
    def dropped_attributes(self) -> int:
        return self.dropped


def _status(status: Status) -> Status:
    return Status(status.status_code, mended_value(status.description))


def _resource(resource: Resource) -> Resource:
    return Resource(mended_value(resource.attributes), resource.schema_url)


def _scope(scope: InstrumentationScope | None) -> InstrumentationScope | None:
    if scope is None:
        return None
    return InstrumentationScope(
        mended_text(scope.name),
        mended_value(scope.version),
        mended_value(scope.schema_url),
        mended_value(scope.attributes),
    )
