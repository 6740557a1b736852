"""Redact the spans and log records that others made, before trajectories are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from atifold import semconv
from atifold.redaction import WITHHELD, Redaction
from atifold.spans import Attributes, LogRecord, Span, SpanEvent


class Screen:
    """Ask a redaction for each text, list and object of a span's attributes, its events', its status, and of records.

    Names, ids and figures are not asked for; what is withheld is not there.
    """

    def __init__(self, redaction: Redaction) -> None:
        """Take who is asked."""
        self._ask = redaction

    def __call__(self, span: Span) -> Span:
        """Return the span without what must not leave."""
        events = [self._event(span.name, event) for event in span.events]
        status = self._value(span.name, semconv.STATUS, span.status_message)
        if not isinstance(status, str):
            status = self._refused(status)
        return replace(
            span,
            attributes=self._attributes(span.name, span.attributes),
            events=tuple(events),
            status_message=status,
        )

    def record(self, record: LogRecord) -> LogRecord:
        """Return the log record without what must not leave; its body is asked for as the attribute `body`."""
        body = self._value(record.name, _BODY, record.body)
        attributes = self._attributes(record.name, record.attributes)
        return replace(record, attributes=attributes, body=None if body is WITHHELD else body)

    def _event(self, name: str, event: SpanEvent) -> SpanEvent:
        return replace(event, attributes=self._attributes(name, event.attributes)) if event.attributes else event

    def _attributes(self, span: str, attributes: Attributes) -> Mapping[str, Any]:
        # on first use: the readers are loaded by who folds
        from atifold.dialects.structural import is_structural  # noqa: PLC0415

        found = {
            name: value if is_structural(name) else self._value(span, name, value) for name, value in attributes.items()
        }
        return {name: value for name, value in found.items() if value is not WITHHELD}

    def _value(self, span: str, name: str, value: Any) -> Any:
        return self._ask(span, name, value) if value and isinstance(value, _SAYING) else value

    def _refused(self, status: object) -> str:
        if status is not WITHHELD:
            self._ask.refuse(status)
        return ""


_BODY: Final = "body"
_SAYING: Final = (str, bytes, list, dict)
