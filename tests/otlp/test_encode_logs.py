"""Log events in OTLP JSON are what the SDK's own encoder makes of them."""

from __future__ import annotations

import base64
import json
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

from atifold.otlp import LogEvent, Scope, encode_log_lines
from atifold.otlp.encode_logs import RECORDS_A_LINE
from atifold.replay.files import _event_of

ATTRIBUTES: dict[str, Any] = {
    "text": "é",
    "count": 2**40,
    "share": 0.5,
    "yes": True,
    "list": ["a", {"deep": [1, None]}],
    "object": {"a": {"b": "c"}},
}


def test_it_is_the_sdk_s_encoding_with_ids_in_hex() -> None:
    """Resource, scope, times, severity, name, structures; protobuf's own form has the ids in base64."""
    memory = InMemoryLogRecordExporter()
    provider = LoggerProvider(resource=Resource({"service.name": "s"}), shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    logger = provider.get_logger("atifold", "1", "https://example.org/schema", {"k": "v"})
    here = NonRecordingSpan(SpanContext(2**100, 2**50, is_remote=False, trace_flags=TraceFlags(1)))
    for span in (here, INVALID_SPAN):
        logger.emit(
            event_name="an.event",
            timestamp=1_700_000_000_000_000_001,
            observed_timestamp=1_700_000_000_000_000_002,
            context=set_span_in_context(span, Context()),
            severity_number=SeverityNumber.WARN,
            attributes=ATTRIBUTES,
        )
    records = memory.get_finished_logs()
    ours = json.loads(encode_log_lines([_event_of(record) for record in records]))
    theirs = MessageToDict(encode_logs(records), use_integers_for_enums=True)
    for resource in theirs["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            for record in scope["logRecords"]:
                assert record.pop("body", {}) == {}  # there is none
                for name in ("traceId", "spanId"):
                    if name in record:
                        record[name] = base64.b64decode(record[name]).hex()
    assert ours == theirs
    first, second = ours["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert first["spanId"] == f"{2**50:016x}"
    assert "traceId" not in second


def test_lines_are_not_longer_than_a_batch() -> None:
    """And no events make no line."""
    event = LogEvent("n", 1, 1, 9, None, None, 0, {}, 0, {}, Scope("", "", "", {}))
    lines = encode_log_lines([event] * (RECORDS_A_LINE + 1)).splitlines()
    counts = [len(json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]) for line in lines]
    assert counts == [RECORDS_A_LINE, 1]
    assert encode_log_lines([]) == b""
