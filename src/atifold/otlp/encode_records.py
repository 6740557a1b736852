"""Write log records that were read as OTLP JSON, so that they can be read again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from atifold.otlp.anyvalue import encode, encode_attributes
from atifold.spans import LogRecord


def resource_logs(records: Iterable[LogRecord]) -> list[dict[str, Any]]:
    """Return the `resourceLogs` of records, in their order; what reads them gives equal records."""
    return [
        {
            "resource": {"attributes": encode_attributes(resource)},
            "scopeLogs": [
                {"scope": {"name": name, "version": version}, "logRecords": [_record(record) for record in found]}
                for (name, version), found in groupby(run, lambda record: (record.scope_name, record.scope_version))
            ],
        }
        for resource, run in groupby(records, lambda record: record.resource)
    ]


def _record(record: LogRecord) -> dict[str, Any]:
    optional = {
        "eventName": record.name,
        "traceId": record.trace_id,
        "spanId": record.span_id,
        "body": encode(record.body),
        "attributes": encode_attributes(record.attributes),
    }
    return {"timeUnixNano": str(record.time_ns), **{key: value for key, value in optional.items() if value}}
