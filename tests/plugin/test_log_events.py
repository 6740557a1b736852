"""`instrument` and log events: the provider that is given, the global one, one that comes later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atifold.bus import EventBus
from atifold.plugin import instrument

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
DETAILS = "gen_ai.client.inference.operation.details"


@pytest.mark.parametrize(
    ("mode", "on_spans", "on_events"),
    [
        ("", False, False),
        ("span_only", True, False),
        ("EVENT_ONLY", False, True),
        ("SPAN_AND_EVENT", True, True),
        ("true", True, True),
        ("false", False, False),
    ],
)
def test_a_capture_mode_of_the_environment_holds_for_both_signals(
    provider_of: Callable[..., TracerProvider],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    on_spans: bool,
    on_events: bool,
) -> None:
    """The conventions' variable, its older words included."""
    monkeypatch.setenv(CAPTURE, mode)
    provider, spans, logs = provider_of(), InMemorySpanExporter(), InMemoryLogRecordExporter()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    logger_provider = LoggerProvider(shutdown_on_exit=False)
    logger_provider.add_log_record_processor(SimpleLogRecordProcessor(logs))
    bus = instrument(provider, directory=tmp_path, bus=EventBus(), logger_provider=logger_provider)
    with bus.run("bookings", "Table for two") as run, run.llm("m", provider="p") as call:
        call.respond("mk-booked")
    provider.shutdown()
    assert ("mk-booked" in "".join(span.to_json() for span in spans.get_finished_spans())) is on_spans
    (record,) = logs.get_finished_logs()
    assert record.log_record.event_name == DETAILS
    assert ("mk-booked" in record.to_json()) is on_events
    span = next(span for span in spans.get_finished_spans() if span.name == "chat m")
    assert span.context is not None
    assert (record.log_record.trace_id, record.log_record.span_id) == (span.context.trace_id, span.context.span_id)
    found: Any = span.instrumentation_scope
    assert record.instrumentation_scope == found


def test_a_global_provider_that_is_set_later_is_found_and_gets_what_is_open_at_exit(
    program: Callable[[str], str],
) -> None:
    """Its exit handler is registered after ours, so ours is registered again."""
    source = """
import sys
from opentelemetry import _logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
from opentelemetry.sdk.trace import TracerProvider
from atifold import instrument

bus = instrument(TracerProvider(), directory=sys.argv[1])
with bus.run("early", "x") as run, run.llm("m-early", provider="p") as call:
    call.respond("y")
provider = LoggerProvider()
provider.add_log_record_processor(BatchLogRecordProcessor(ConsoleLogRecordExporter(out=sys.stderr)))
_logs.set_logger_provider(provider)
with bus.run("late", "x") as run, run.llm("m-late", provider="p") as call:
    call.respond("y")
run = bus.run("open", "x").__enter__()
run.llm("m-open", provider="p").__enter__()
"""
    said = program(source)
    assert said.count(f'"event_name": "{DETAILS}"') == 2
    assert "m-early" not in said
    assert "m-late" in said
    assert "m-open" in said
