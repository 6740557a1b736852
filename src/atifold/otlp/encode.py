"""Write spans as OTLP JSON Lines: one `ExportTraceServiceRequest` a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, Final

from atifold.jsontext import to_json
from atifold.otlp.anyvalue import encode_attributes
from atifold.spans import Kind, Link, Span, SpanEvent, Status

SPANS_A_LINE: Final = 512

_KINDS: Final = {kind: number for number, kind in enumerate(Kind)}
_STATUSES: Final = {status: number for number, status in enumerate(Status)}


def encode_lines(spans: Iterable[Span]) -> bytes:
    """Write spans in the JSON mapping of OTLP, in their order, at most `SPANS_A_LINE` on a line.

    Neighbours of one resource share a line, neighbours of one scope a `scopeSpans` in it. Ids are
    hex, 64-bit integers strings, enums numbers. `parse` of the result gives equal spans; only NaN
    and infinities, integers beyond 64 bits and unpaired surrogates cannot come back as they were.
    """
    return b"".join(to_json(request) + b"\n" for request in requests_of(spans))


def requests_of(spans: Iterable[Span]) -> Iterator[dict[str, Any]]:
    """Yield the requests that `encode_lines` writes, as JSON values."""
    for resource, run in groupby(spans, lambda span: span.resource):
        while part := list(islice(run, SPANS_A_LINE)):
            yield {"resourceSpans": [_resource_spans(resource, part)]}


def _resource_spans(resource: Any, spans: list[Span]) -> dict[str, Any]:
    scopes = groupby(spans, lambda span: (span.scope_name, span.scope_version))
    return {
        "resource": {"attributes": encode_attributes(resource)},
        "scopeSpans": [
            {"scope": {"name": name, "version": version}, "spans": [_span(span) for span in run]}
            for (name, version), run in scopes
        ],
    }


def _span(span: Span) -> dict[str, Any]:
    optional = {
        "parentSpanId": span.parent_id,
        "endTimeUnixNano": None if span.end_ns is None else str(span.end_ns),
        "attributes": encode_attributes(span.attributes),
        "events": [_event(event) for event in span.events],
        "links": [_link(link) for link in span.links],
        "status": _status(span),
    }
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": str(span.start_ns),
        **{key: value for key, value in optional.items() if value},
    }


def _status(span: Span) -> dict[str, Any]:
    message = {"message": span.status_message} if span.status_message else {}
    code = {"code": _STATUSES[span.status]} if span.status is not Status.UNSET else {}
    return {**code, **message}


def _event(event: SpanEvent) -> dict[str, Any]:
    found: dict[str, Any] = {"name": event.name, "timeUnixNano": str(event.time_ns)}
    if event.attributes:
        found["attributes"] = encode_attributes(event.attributes)
    return found


def _link(link: Link) -> dict[str, Any]:
    found: dict[str, Any] = {"traceId": link.trace_id, "spanId": link.span_id}
    if link.attributes:
        found["attributes"] = encode_attributes(link.attributes)
    return found
