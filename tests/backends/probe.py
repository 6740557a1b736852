"""Make spans that have every fact that a server may lose, one trace for what might cost its trace."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from backends.facts import Facts, of_requests
from backends.sending import as_json
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

START_NS = 1_800_000_000_123_456_789
SERVICE = "probe"
CAUGHT = {
    "exception.type": "ValueError",
    "exception.message": "no",
    "exception.stacktrace": "line 1",
    "exception.escaped": False,
    "why": "a test",
}
VALUES: dict[str, Any] = {
    "text": "plain, with ünicode",
    "json text": '{"b": 1,  "a": [2]}',
    "whole": 2**53 + 1,
    "fraction": 0.1,
    "truth": True,
    "array": ["b", "a", "c"],
    "mixed array": ["b", 1, True, 0.5],
    "map": {"z": 1, "a": {"k": ["v"]}},
    "dotted.name": "x",
}
CALL: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.conversation.id": "c",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.usage.input_tokens": 3,
    "gen_ai.usage.output_tokens": 2,
}
NAMES = ("root", "child", "chat", "instant", "whole_us", "null", "bytes", "nan", "nameless", "own_parent", "copied")
ALL = (*NAMES, "twice", "stolen", "last")


class Probe:
    """The spans of one cell: their ids come from its name, so that no two cells share one."""

    def __init__(self, cell: str) -> None:
        """Take what makes the ids its own."""
        self._cell = cell

    def trace_id(self, name: str) -> bytes:
        """Return the trace of a span: `root`, `child` and `own_parent` are one trace, others have one each."""
        family = "family" if name in ("root", "child", "own_parent") else name
        return self._digest("trace", family)[:16]

    def span_id(self, name: str) -> bytes:
        """Return the id of a span; `stolen` has the one of `twice`, in another trace."""
        return self._digest("span", "twice" if name == "stolen" else name)[:8]

    def _digest(self, *parts: str) -> bytes:
        return hashlib.sha256("\x00".join((self._cell, *parts)).encode()).digest()

    def span(self, name: str) -> Span:
        """Return one span; what it is for stands in the method of its name."""
        span = Span(
            trace_id=self.trace_id(name),
            span_id=self.span_id(name),
            name=name,
            kind=Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=START_NS,
            end_time_unix_nano=START_NS + 1_234_567_891,
        )
        getattr(self, f"_{name}", lambda _: None)(span)
        return span

    def _root(self, span: Span) -> None:
        span.kind = Span.SPAN_KIND_SERVER
        span.end_time_unix_nano += 10**9

    def _child(self, span: Span) -> None:
        span.parent_span_id = self.span_id("root")
        span.kind = Span.SPAN_KIND_CLIENT
        span.flags = 0x101
        span.trace_state = "vendor=1"
        span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message="it broke"))
        span.attributes.extend(_pairs(VALUES))
        span.dropped_attributes_count, span.dropped_events_count, span.dropped_links_count = 1, 2, 3
        events: list[tuple[str, dict[str, Any]]] = [("zz", {"n": 1}), ("exception", CAUGHT), ("aa", {})]
        for number, (name, told) in enumerate(events):
            at_ns = START_NS + 1001 * (number + 1)
            span.events.append(Span.Event(name=name, time_unix_nano=at_ns, attributes=_pairs(told)))
        link = Span.Link(trace_id=self.trace_id("twice"), span_id=self.span_id("twice"), attributes=_pairs({"l": "x"}))
        span.links.append(link)

    def _chat(self, span: Span) -> None:
        span.attributes.extend(_pairs(CALL))

    def _own_parent(self, span: Span) -> None:
        span.parent_span_id = self.span_id("root")
        span.links.append(Span.Link(trace_id=self.trace_id("root"), span_id=self.span_id("root")))

    def _instant(self, span: Span) -> None:
        span.end_time_unix_nano = span.start_time_unix_nano

    def _whole_us(self, span: Span) -> None:
        span.start_time_unix_nano = START_NS // 1000 * 1000
        span.end_time_unix_nano = span.start_time_unix_nano + 5_000

    def _null(self, span: Span) -> None:
        span.attributes.extend(_pairs({"null": None, "map with null": {"a": None, "b": 1}}))

    def _bytes(self, span: Span) -> None:
        span.attributes.extend(_pairs({"bytes": b"\x00\xff"}))

    def _nan(self, span: Span) -> None:
        span.attributes.extend(_pairs({"nan": math.nan}))

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        """Return what is sent, one after the other; `twice` comes twice, the second time with another name."""
        second = self.span("twice")
        second.name = "twice, again"
        plain = [name for name in NAMES if name != "nameless"]
        return [
            _request([*map(self.span, plain), self.span("twice")]),
            _request([self.span("nameless")], service=None),
            _request([second, self.span("stolen"), self.span("copied"), self.span("last")]),
        ]

    def sent(self) -> list[Facts]:
        """Return the facts of the spans as sent."""
        return of_requests(map(as_json, self.requests))

    @property
    def traces(self) -> dict[str, list[str]]:
        """Return the names of the spans of each trace, by its id."""
        found: dict[str, list[str]] = {}
        for name in ALL:
            found.setdefault(self.trace_id(name).hex(), []).append(name)
        return found

    def is_named(self, name: str, facts: Facts) -> bool:
        """Tell whether facts are of the span `name`, by their ids."""
        ids = self.trace_id(name).hex(), self.span_id(name).hex()
        return (facts["trace_id"], facts["span_id"]) == ids


def _request(spans: list[Span], service: str | None = SERVICE) -> ExportTraceServiceRequest:
    told = {"service.name": service} if service else {}
    scope = InstrumentationScope(name="scope", version="1.2", attributes=_pairs({"s": 1}))
    resource = Resource(attributes=_pairs({**told, "host": "h"}))
    part = ScopeSpans(scope=scope, spans=spans, schema_url="https://example.test/scope")
    group = ResourceSpans(resource=resource, scope_spans=[part], schema_url="https://example.test/resource")
    return ExportTraceServiceRequest(resource_spans=[group])


def _pairs(values: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any(value)) for key, value in values.items()]


_SCALARS = {bool: "bool_value", int: "int_value", float: "double_value", bytes: "bytes_value", str: "string_value"}


def _any(value: Any) -> AnyValue:
    if value is None:
        return AnyValue()
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=map(_any, value)))
    if isinstance(value, dict):
        return AnyValue(kvlist_value=KeyValueList(values=_pairs(value)))
    found: dict[str, Any] = {_SCALARS[type(value)]: value}
    return AnyValue(**found)
