"""Hold what is told of a span in one plain form, whatever API told it, so that it can be compared."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Facts = dict[str, Any]
"""The facts of one span by name; absent where an API does not tell them.

`trace_id`, `span_id`, `parent_id` (hex, "" for none), `name`, `kind` and `status` (numbers),
`status_message`, `start_ns`, `end_ns`, `attributes`, `events` ([name, ns, attributes]), `links` ([trace id,
span id, attributes]), `flags`, `trace_state`, `dropped` (attributes, events, links), `scope` (name,
version, attributes), `scope_schema`, `resource`, `resource_schema`.
"""


def of_requests(requests: Iterable[Mapping[str, Any]]) -> list[Facts]:
    """Return the facts of the spans of requests in OTLP JSON, in their order, a span as often as it comes."""
    return [facts for request in requests for facts in _of_request(request)]


def _of_request(request: Mapping[str, Any]) -> Iterator[Facts]:
    for group in request.get("resourceSpans", ()):
        resource = {
            "resource": attributes(group.get("resource", {}).get("attributes", ())),
            "resource_schema": group.get("schemaUrl", ""),
        }
        for part in group.get("scopeSpans", ()):
            scope = part.get("scope", {})
            named = [scope.get("name", ""), scope.get("version", ""), attributes(scope.get("attributes", ()))]
            for span in part.get("spans", ()):
                yield {**_of_span(span), **resource, "scope": named, "scope_schema": part.get("schemaUrl", "")}


def _of_span(span: Mapping[str, Any]) -> Facts:
    status = span.get("status", {})
    dropped = ("droppedAttributesCount", "droppedEventsCount", "droppedLinksCount")
    return {
        "trace_id": span["traceId"],
        "span_id": span["spanId"],
        "parent_id": span.get("parentSpanId", ""),
        "name": span["name"],
        "kind": span.get("kind", 0),
        "status": status.get("code", 0),
        "status_message": status.get("message", ""),
        "start_ns": int(span["startTimeUnixNano"]),
        "end_ns": int(span["endTimeUnixNano"]),
        "attributes": attributes(span.get("attributes", ())),
        "events": [
            [e["name"], int(e["timeUnixNano"]), attributes(e.get("attributes", ()))] for e in span.get("events", ())
        ],
        "links": [
            [link["traceId"], link["spanId"], attributes(link.get("attributes", ()))] for link in span.get("links", ())
        ],
        "flags": span.get("flags", 0),
        "trace_state": span.get("traceState", ""),
        "dropped": [span.get(name, 0) for name in dropped],
    }


def attributes(pairs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return key-value pairs of OTLP JSON as plain values."""
    return {pair["key"]: _value(pair.get("value", {})) for pair in pairs}


def _value(value: Mapping[str, Any]) -> Any:
    match dict(value):
        case {"intValue": number}:
            return int(number)
        case {"doubleValue": number}:
            return float(number)
        case {"bytesValue": text}:
            return base64.b64decode(text)
        case {"arrayValue": array}:
            return [_value(item) for item in array.get("values", ())]
        case {"kvlistValue": pairs}:
            return attributes(pairs.get("values", ()))
        case found:
            return next(iter(found.values()), None)
