"""Read log records as CloudWatch keeps them: plain objects, as lines or as the messages of a query's answer.

AgentCore's runtime writes what its agents say so. Names are those of OTLP, values are without types around them.
Source: records of AgentCore runtimes; the answer of CloudWatch Logs' `FilterLogEvents` and `GetLogEvents`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from atifold.jsontext import parsed
from atifold.kinds import is_list, is_object
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, read_id
from atifold.otlp.items import event_name, nanoseconds
from atifold.otlp.place import BAD, Place
from atifold.otlp.plain import is_plain, plain_span
from atifold.otlp.shapes import object_in, optional_object, text_in
from atifold.spans import LogRecord

_TIMES: Final = ("timeUnixNano", "observedTimeUnixNano")


def is_cloudwatch(value: Any) -> bool:
    """Tell whether a value is a plain log record, or an answer with events whose messages are records or spans."""
    return _is_record(value) or any(_is_record(item) or is_plain(item) for item in _messages(value))


def decode(value: Any, place: Place) -> None:
    """Read what a value holds that `is_cloudwatch`; other lines of a log are passed over."""
    for item in [value] if _is_record(value) else _messages(value):
        try:
            if _is_record(item):
                place.batch.logs.append(_record(object_in(item)))
            elif is_plain(item):
                place.batch.spans.append(plain_span(item))
        except BAD as error:
            place.complain("log record", error)


def _messages(value: Any) -> Iterator[Any]:
    events = value.get("events") if is_object(value) and "attributes" not in value else None
    for event in events if is_list(events) else ():
        message = event.get("message") if is_object(event) else None
        if isinstance(message, str) and message.lstrip().startswith("{"):
            yield parsed(message)


def _is_record(value: Any) -> bool:
    if not is_object(value) or "body" not in value or "name" in value:
        return False
    return is_object(value.get("attributes")) and any(name in value for name in _TIMES)


def _record(item: Mapping[str, Any]) -> LogRecord:
    """Return a record; its time is the one at which it was observed where it has none of its own."""
    resource, scope = optional_object(item.get("resource")), optional_object(item.get("scope"))
    found = optional_object(item.get("attributes"))
    own, observed = (nanoseconds(item.get(name)) for name in _TIMES)
    return LogRecord(
        name=event_name(found, text_in(item.get("eventName"))),
        time_ns=own or observed,
        trace_id=read_id(item.get("traceId"), TRACE_BYTES),
        span_id=read_id(item.get("spanId"), SPAN_BYTES),
        attributes=found,
        body=item.get("body"),
        resource=optional_object(resource.get("attributes")),
        scope_name=text_in(scope.get("name")),
        scope_version=text_in(scope.get("version")),
    )
