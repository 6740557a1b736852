"""Write spans as each container has them: what a collector writes, and what tracing servers give back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from itertools import groupby
from typing import Any, Final

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from atifold.otlp import encode_lines
from atifold.otlp.anyvalue import encode_attributes
from atifold.spans import Span, Status

Writer = Callable[[Sequence[Span]], bytes]
EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def requests(spans: Iterable[Span]) -> list[dict[str, Any]]:
    """Return spans as requests in OTLP JSON."""
    return [json.loads(line) for line in encode_lines(spans).splitlines()]


def whole(spans: Iterable[Span]) -> dict[str, Any]:
    """Return spans as one request in OTLP JSON."""
    return {"resourceSpans": [each for request in requests(spans) for each in request["resourceSpans"]]}


def dump(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


def snake(name: str) -> str:
    """Return a key of protobuf's JSON form as the field is called."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def protojson(value: Any, key: str = "") -> Any:
    """Return OTLP JSON as protobuf's own writer has it: ids in base64, enum names, snake_case keys."""
    kinds = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
    match value:
        case dict():
            return {snake(name): protojson(inner, name) for name, inner in value.items()}
        case list():
            return [protojson(inner) for inner in value]
        case str() if key in ("traceId", "spanId", "parentSpanId"):
            return base64.b64encode(bytes.fromhex(value)).decode()
        case int() if key == "kind":
            return f"SPAN_KIND_{kinds[value]}"
        case int() if key == "code":
            return f"STATUS_CODE_{('UNSET', 'OK', 'ERROR')[value]}"
        case _:
            return value


def protobuf(spans: Iterable[Span]) -> bytes:
    """Return spans as one request in protobuf."""
    return ParseDict(protojson(whole(spans)), TracesData()).SerializeToString()


def framed(parts: Iterable[bytes]) -> bytes:
    """Return messages each after its length."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def tags(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes as Jaeger has them: typed, lists and maps as JSON text with keys in order."""
    return [{"key": name, **tag(value)} for name, value in values.items() if value is not None]


def tag(value: Any) -> dict[str, Any]:
    """Return a value as Jaeger has it."""
    match value:
        case bool():
            return {"type": "bool", "value": value}
        case int():
            return {"type": "int64", "value": value}
        case float():
            return {"type": "float64", "value": value}
        case bytes():
            return {"type": "binary", "value": base64.b64encode(value).decode()}
        case str():
            return {"type": "string", "value": value}
        case _:
            return {"type": "string", "value": json.dumps(value, sort_keys=True)}


def jaeger(spans: Sequence[Span]) -> bytes:
    """Return spans as `/api/traces` of Jaeger has them."""
    traces = []
    for trace_id, group in groupby(sorted(spans, key=lambda span: span.trace_id), lambda span: span.trace_id):
        own = list(group)
        processes = {
            f"p{number}": {"serviceName": span.resource.get("service.name", ""), "tags": tags(span.resource)}
            for number, span in enumerate(own)
        }
        items = [jaeger_span(span, f"p{number}") for number, span in enumerate(own)]
        traces.append({"traceID": trace_id, "spans": items, "processes": processes, "warnings": None})
    return dump({"data": traces, "total": 0, "limit": 0, "offset": 0, "errors": None})


def jaeger_span(span: Span, process: str) -> dict[str, Any]:
    """Return a span as Jaeger has it."""
    start, end = span.start_ns // 1000, (span.end_ns or 0) // 1000
    own = {"otel.scope.name": span.scope_name, "otel.scope.version": span.scope_version}
    own |= {"span.kind": span.kind.value.lower(), "otel.status_description": span.status_message}
    own |= {"otel.status_code": span.status.value} if span.status is not Status.UNSET else {}
    own |= {"error": True} if span.status is Status.ERROR else {}
    parents = [("CHILD_OF", span.trace_id, span.parent_id)] if span.parent_id else []
    links = [("FOLLOWS_FROM", link.trace_id, link.span_id) for link in span.links]
    return {
        "traceID": span.trace_id,
        "spanID": span.span_id,
        "operationName": span.name,
        "references": [{"refType": kind, "traceID": trace, "spanID": one} for kind, trace, one in parents + links],
        "startTime": start,
        "duration": max(0, end - start),
        "tags": tags({**span.attributes, **{name: value for name, value in own.items() if value}}),
        "logs": [
            {"timestamp": event.time_ns // 1000, "fields": tags({"event": event.name, **event.attributes})}
            for event in span.events
        ],
        "processID": process,
        "warnings": None,
    }


def iso(time_ns: int | None) -> str | None:
    """Return a time as Phoenix has it: to the microsecond."""
    return None if time_ns is None else (EPOCH + timedelta(microseconds=time_ns // 1000)).isoformat()


def dotted(name: str, value: Any) -> dict[str, Any]:
    """Return an attribute taken apart, as Phoenix does: lists without maps stay."""
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        inner = dict(enumerate(value)).items()
    else:
        return {} if value is None else {name: value}
    return {key: leaf for part, item in inner for key, leaf in dotted(f"{name}.{part}", item).items()}


def taken_apart(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes taken apart."""
    return {key: leaf for name, value in values.items() for key, leaf in dotted(name, value).items()}


def phoenix(spans: Sequence[Span]) -> bytes:
    """Return spans as `/v1/projects/…/spans` of Phoenix has them."""
    return dump({"data": [phoenix_span(span) for span in spans], "next_cursor": None})


def phoenix_span(span: Span) -> dict[str, Any]:
    """Return a span as Phoenix has it."""
    attributes = taken_apart(span.attributes)
    return {
        "id": "U3Bhbjox",
        "name": span.name,
        "context": {"trace_id": span.trace_id, "span_id": span.span_id},
        "span_kind": attributes.pop("openinference.span.kind", "UNKNOWN"),
        "parent_id": span.parent_id,
        "start_time": iso(span.start_ns),
        "end_time": iso(span.end_ns),
        "status_code": span.status.value,
        "status_message": span.status_message,
        "attributes": attributes,
        "events": [
            {"name": event.name, "timestamp": iso(event.time_ns), "attributes": event.attributes}
            for event in span.events
        ],
    }


NULLS: Final = dict.fromkeys(
    ("array_value", "bool_value", "bytes_value", "double_value", "int_value", "kvlist_value", "string_value")
)


def otlpv1(spans: Sequence[Span]) -> bytes:
    """Return spans as `/v1/projects/…/spans/otlpv1` of Phoenix has them."""
    return dump({"data": [otlpv1_span(span) for span in spans], "next_cursor": None})


def otlpv1_span(span: Span) -> dict[str, Any]:
    """Return a span as that answer has it: ids hex, every kind of value named, most of them null."""
    return {
        "attributes": pairs(taken_apart(span.attributes)),
        "dropped_attributes_count": None,
        "end_time_unix_nano": span.end_ns,
        "events": [
            {"name": event.name, "time_unix_nano": event.time_ns, "attributes": pairs(taken_apart(event.attributes))}
            for event in span.events
        ]
        or None,
        "flags": None,
        "kind": None,
        "links": None,
        "name": span.name,
        "parent_span_id": span.parent_id,
        "span_id": span.span_id,
        "start_time_unix_nano": span.start_ns,
        "status": {"code": ("UNSET", "OK", "ERROR").index(span.status.value), "message": span.status_message or None},
        "trace_id": span.trace_id,
        "trace_state": None,
    }


def pairs(values: Mapping[str, Any]) -> Any:
    """Return attributes with all other kinds of values named as null."""
    found = protojson(encode_attributes(values))
    for pair in found:
        pair["value"] = {**NULLS, **pair["value"]}
    return found


def json_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return attributes as MLflow has them: each as JSON text, one that is such a text already as it is."""
    return {name: value if is_json(value) else json.dumps(value) for name, value in values.items()}


def is_json(value: Any) -> bool:
    """Tell whether a value is JSON text."""
    try:
        json.loads(value)
    except (TypeError, ValueError):
        return False
    return True


def mlflow_artifact(spans: Sequence[Span]) -> bytes:
    """Return spans as `get-trace-artifact` of MLflow has them."""
    return dump({"spans": [mlflow_span(span) for span in spans]})


def mlflow_span(span: Span) -> dict[str, Any]:
    """Return a span as MLflow has it."""
    return {
        "trace_id": base64.b64encode(bytes.fromhex(span.trace_id)).decode(),
        "span_id": base64.b64encode(bytes.fromhex(span.span_id)).decode(),
        "parent_span_id": base64.b64encode(bytes.fromhex(span.parent_id or "")).decode(),
        "name": span.name,
        "start_time_unix_nano": span.start_ns,
        "end_time_unix_nano": span.end_ns,
        "events": [
            {"name": event.name, "time_unix_nano": event.time_ns, "attributes": event.attributes}
            for event in span.events
        ],
        "status": {"code": f"STATUS_CODE_{span.status.value}", "message": span.status_message},
        "attributes": json_texts({"mlflow.traceRequestId": "tr-1", **span.attributes}),
    }


def mlflow_get(spans: Sequence[Span]) -> bytes:
    """Return spans as `traces/get` of MLflow has them."""
    scopes = [scope for resource in whole(spans)["resourceSpans"] for scope in resource["scopeSpans"]]
    items = [span for scope in scopes for span in scope["spans"]]
    return dump({"trace": {"trace_info": {"trace_id": "tr-1", "trace_metadata": {}}, "spans": protojson(items)}})


FIELDS: Final = {
    "langfuse.observation.type": "type",
    "langfuse.observation.input": "input",
    "langfuse.observation.output": "output",
    "langfuse.observation.model.name": "model",
    "langfuse.observation.model.parameters": "modelParameters",
    "langfuse.observation.usage_details": "usageDetails",
    "langfuse.observation.cost_details": "costDetails",
    "langfuse.observation.level": "level",
    "langfuse.observation.status_message": "statusMessage",
    "langfuse.observation.completion_start_time": "completionStartTime",
}
"""What Langfuse makes fields of an observation."""

OBJECTS: Final = ("modelParameters", "usageDetails", "costDetails")


def langfuse(spans: Sequence[Span]) -> bytes:
    """Return spans of one trace as the public API of Langfuse has them."""
    session = next((span.attributes["session.id"] for span in spans if "session.id" in span.attributes), None)
    observations = [observation(span) for span in spans]
    return dump({"id": spans[0].trace_id, "sessionId": session, "name": None, "observations": observations})


def observation(span: Span) -> dict[str, Any]:
    """Return a span as an observation."""
    fields: dict[str, Any] = {"type": "SPAN", "level": "DEFAULT"}
    for name, field in FIELDS.items():
        if name in span.attributes:
            value = span.attributes[name]
            fields[field] = json.loads(value) if field in OBJECTS else value
    fields["type"] = fields["type"].upper()
    left = {name: value for name, value in span.attributes.items() if name not in FIELDS}
    metadata = {
        "attributes": left,
        "resourceAttributes": span.resource,
        "scope": {"name": span.scope_name, "version": span.scope_version},
    }
    return {
        "id": span.span_id,
        "traceId": span.trace_id,
        "parentObservationId": span.parent_id,
        "name": span.name,
        "startTime": iso(span.start_ns),
        "endTime": iso(span.end_ns),
        **fields,
        "metadata": json.dumps(metadata),
    }


EXACT: Final[dict[str, Writer]] = {
    "one document": lambda spans: dump(whole(spans)),
    "a list": lambda spans: dump(requests(spans)),
    "Jaeger v3": lambda spans: dump({"result": whole(spans)}),
    "Tempo": lambda spans: dump({"batches": whole(spans)["resourceSpans"]}),
    "Tempo v2": lambda spans: dump({"trace": whole(spans)}),
    "protojson": lambda spans: dump(protojson(whole(spans))),
    "protobuf": protobuf,
    "framed protobuf": lambda spans: framed(protobuf([span]) for span in spans),
    "framed JSON Lines": lambda spans: framed(encode_lines([span]) for span in spans),
}
"""Containers in which nothing of a span is lost."""

SERVERS: Final[dict[str, Writer]] = {
    "Jaeger": jaeger,
    "Phoenix": phoenix,
    "Phoenix otlpv1": otlpv1,
    "MLflow artifact": mlflow_artifact,
    "MLflow get": mlflow_get,
}
"""What servers give back: kinds, scopes, resources, links or types may be lost."""
