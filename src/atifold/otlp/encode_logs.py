"""Write log events as OTLP JSON Lines: one `ExportLogsServiceRequest` a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

from atifold.jsontext import to_json
from atifold.otlp.anyvalue import encode_attributes
from atifold.spans import Attributes

RECORDS_A_LINE: Final = 512


class Scope(NamedTuple):
    """Who made log events."""

    name: str
    version: str
    schema_url: str
    attributes: Attributes


class LogEvent(NamedTuple):
    """One log record without a body; ids are lower-case hex, None where it belongs to no span."""

    name: str
    time_ns: int
    observed_ns: int
    severity: int
    trace_id: str | None
    span_id: str | None
    flags: int
    attributes: Attributes
    dropped_attributes: int
    resource: Attributes
    scope: Scope


def encode_log_lines(events: Iterable[LogEvent]) -> bytes:
    """Write log events in the JSON mapping of OTLP, in their order, at most `RECORDS_A_LINE` on a line.

    Neighbours of one resource share a line, neighbours of one scope a `scopeLogs` in it. Ids are hex,
    64-bit integers strings.
    """
    return b"".join(to_json(request) + b"\n" for request in _requests(events))


def _requests(events: Iterable[LogEvent]) -> Iterator[dict[str, Any]]:
    for resource, run in groupby(events, lambda event: event.resource):
        while part := list(islice(run, RECORDS_A_LINE)):
            scopes = [_scope_logs(scope, found) for scope, found in groupby(part, lambda event: event.scope)]
            yield {
                "resourceLogs": [{"resource": {"attributes": encode_attributes(resource)}, "scopeLogs": scopes}],
            }


def _scope_logs(scope: Scope, events: Iterable[LogEvent]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": scope.name, "version": scope.version}
    if scope.attributes:
        found["attributes"] = encode_attributes(scope.attributes)
    schema = {"schemaUrl": scope.schema_url} if scope.schema_url else {}
    return {"scope": found, "logRecords": [_record(event) for event in events], **schema}


def _record(event: LogEvent) -> dict[str, Any]:
    optional = {
        "attributes": encode_attributes(event.attributes),
        "droppedAttributesCount": event.dropped_attributes,
        "flags": event.flags,
        "traceId": event.trace_id,
        "spanId": event.span_id,
    }
    return {
        "timeUnixNano": str(event.time_ns),
        "observedTimeUnixNano": str(event.observed_ns),
        "severityNumber": event.severity,
        "eventName": event.name,
        **{key: value for key, value in optional.items() if value},
    }
