"""Texts with half a surrogate pair, on spans and log records: mended wherever they stand."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext

from atifold.delivery.characters import mended_record, mended_span, mended_text, mended_value

HALF = "a\ud83dz"
MENDED = "a\ufffdz"


@pytest.mark.parametrize(
    ("text", "mended"),
    [(HALF, MENDED), ("\udc00", "\ufffd"), ("\ud83d\ude00", "😀"), ("é€😀", "é€😀"), ("\ude00\ud83d", "\ufffd\ufffd")],
)
def test_halves_are_joined_or_replaced(text: str, mended: str) -> None:
    """Two halves that belong together are the character that they are."""
    assert mended_text(text) == mended


def test_values_keep_their_kinds() -> None:
    """Only texts and keys change."""
    value = {HALF: [HALF, 1, True, None, 2.5, b"\xff", {"k": (HALF,)}]}
    assert mended_value(value) == {MENDED: [MENDED, 1, True, None, 2.5, b"\xff", {"k": [MENDED]}]}


def test_a_mended_span_is_encoded_whole(make: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Name, keys, values, events, links and status, and everything else as it was."""
    link = Link(SpanContext(1, 2, is_remote=True), {HALF: HALF})
    broken = make.span(HALF, {HALF: HALF, "n": 1}, events=[(HALF, {HALF: HALF})], links=[link], status=HALF, scope=HALF)
    with caplog.at_level(logging.ERROR):
        (resource,) = encode_spans([mended_span(broken)]).resource_spans
    assert caplog.messages == []
    (scope,) = resource.scope_spans
    (span,) = scope.spans
    assert (scope.scope.name, span.name, span.status.message) == (MENDED, MENDED, MENDED)
    assert [each.key for each in span.attributes] == [MENDED, "n"]
    assert span.events[0].name == span.events[0].attributes[0].key == MENDED
    assert span.links[0].attributes[0].value.string_value == MENDED
    assert span.span_id == broken.get_span_context().span_id.to_bytes(8, "big")
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (broken.start_time, broken.end_time)


def test_what_a_span_dropped_before_is_still_told() -> None:
    """The counts stand in the request, also those of events and links."""
    limits = SpanLimits(max_span_attributes=1, max_events=1, max_links=1, max_event_attributes=1, max_link_attributes=1)
    provider = TracerProvider(span_limits=limits, shutdown_on_exit=False)
    links = [Link(SpanContext(1, number, is_remote=False), {"a": 1, HALF: 2}) for number in (2, 3)]
    span = provider.get_tracer("t").start_span("s", attributes={"a": 1, HALF: 2}, links=links)
    for _ in range(2):
        span.add_event("e", {"a": 1, HALF: 2})
    span.end()
    assert isinstance(span, ReadableSpan)
    told = encode_spans([mended_span(span)]).resource_spans[0].scope_spans[0].spans[0]
    assert (told.dropped_attributes_count, told.dropped_events_count, told.dropped_links_count) == (1, 1, 1)
    assert told.events[0].dropped_attributes_count == told.links[0].dropped_attributes_count == 1


def test_scope_and_resource_are_mended_too() -> None:
    """Arguments of a process that are no UTF-8 come as halves."""
    resource = Resource({"process.command_args": [HALF]}, "https://example.org/1")
    scope = InstrumentationScope("t", HALF, None, {HALF: HALF})
    told = encode_spans(
        [
            mended_span(
                ReadableSpan(
                    "s",
                    SpanContext(1, 2, is_remote=False),
                    resource=resource,
                    instrumentation_scope=scope,
                    start_time=1,
                    end_time=2,
                )
            )
        ]
    ).resource_spans[0]
    assert told.resource.attributes[0].value.array_value.values[0].string_value == MENDED
    assert told.schema_url == "https://example.org/1"
    assert told.scope_spans[0].scope.version == told.scope_spans[0].scope.attributes[0].key == MENDED


def test_a_mended_log_record_is_encoded_whole(make: Any) -> None:
    """Body, attributes and name; the record itself is left as it was."""
    record = make.record({HALF: [HALF]}, {HALF: HALF}, HALF)
    told = encode_logs([mended_record(record)]).resource_logs[0].scope_logs[0].log_records[0]
    assert told.event_name == told.attributes[0].key == told.body.kvlist_value.values[0].key == MENDED
    assert record.log_record.event_name == HALF
    assert mended_record(record).dropped_attributes == record.dropped_attributes
