"""Read one log record of OTLP JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atifold.otlp.anyvalue import attributes, plain
from atifold.otlp.ids import SPAN_BYTES, TRACE_BYTES, read_id
from atifold.otlp.items import Origin, event_name, first, nanoseconds
from atifold.otlp.shapes import text_in
from atifold.spans import LogRecord


def log_record(item: Mapping[str, Any], origin: Origin) -> LogRecord:
    """Return a record; its time is the one at which it was observed where it has none of its own."""
    found = attributes(item.get("attributes"))
    return LogRecord(
        name=event_name(found, text_in(first(item, ("eventName", "event_name")))),
        time_ns=_time(item),
        trace_id=read_id(first(item, ("traceId", "trace_id")), TRACE_BYTES),
        span_id=read_id(first(item, ("spanId", "span_id")), SPAN_BYTES),
        attributes=found,
        body=plain(item.get("body")),
        resource=origin.resource,
        scope_name=origin.scope_name,
        scope_version=origin.scope_version,
    )


def _time(item: Mapping[str, Any]) -> int:
    own = nanoseconds(first(item, ("timeUnixNano", "time_unix_nano")))
    return own or nanoseconds(first(item, ("observedTimeUnixNano", "observed_time_unix_nano")))
