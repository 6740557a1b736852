"""Log records of a LoggerProvider in trajectories: processor, exporter, `instrument`, and the corpus re-emitted."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import (
    BatchLogRecordProcessor,
    InMemoryLogRecordExporter,
    LogRecordExportResult,
    SimpleLogRecordProcessor,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanKind, TraceFlags

from atifold import WITHHELD, AtifLogExporter, AtifLogProcessor, AtifSpanExporter, AtifSpanProcessor
from atifold.bus import EventBus
from atifold.plugin import doors, instrument
from atifold.spans import LogRecord as Record

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o"}

Providers = Callable[..., TracerProvider]
Documents = Callable[[], dict[str, Any]]


@pytest.fixture
def nobody_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process have no door of ours, whatever other tests left alive."""
    monkeypatch.setattr(doors, "_doors", weakref.WeakValueDictionary())


@pytest.fixture
def loggers() -> Iterator[Callable[..., LoggerProvider]]:
    """Return a maker of LoggerProviders with these processors, which are shut down afterwards."""
    made: list[LoggerProvider] = []

    def make(*processors: Any) -> LoggerProvider:
        made.append(LoggerProvider(shutdown_on_exit=False))
        for processor in processors:
            made[-1].add_log_record_processor(processor)
        return made[-1]

    yield make
    for provider in made:
        provider.shutdown()


def _say(provider: LoggerProvider, name: str, body: Any, **attributes: Any) -> None:
    provider.get_logger("some.instrumentation").emit(
        LogRecord(event_name=name, body=body, attributes=attributes, severity_number=SeverityNumber.INFO)
    )


def _chat(spans: trace.TracerProvider, logs: LoggerProvider) -> None:
    """Trace a model call whose content is in log records alone."""
    with spans.get_tracer("some.instrumentation").start_as_current_span(
        "chat gpt-4o", kind=SpanKind.CLIENT, attributes=CHAT
    ):
        _say(logs, "gen_ai.user.message", {"content": "Where is it?"})
        _say(logs, "", "a plain line of a log")
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Here."}}
        _say(logs, "gen_ai.choice", choice)


def _said(documents: Mapping[str, Any]) -> list[list[str]]:
    return [[step.get("message") for step in document["steps"]] for document in documents.values()]


def test_content_of_log_records_is_in_the_trajectory(
    provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path, documents: Documents
) -> None:
    """The processor is given who has the spans."""
    spans, processor = provider_of(), AtifSpanProcessor(tmp_path / "out")
    spans.add_span_processor(processor)
    _chat(spans, loggers(AtifLogProcessor(processor)))
    spans.shutdown()
    assert _said(documents()) == [["Where is it?", "Here."]]
    assert processor.counts == {"documents_written": 1}


@pytest.mark.usefixtures("nobody_at_work")
def test_without_a_processor_named_the_one_of_the_process_is_found(
    provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path, documents: Documents
) -> None:
    """It may be made later than the log processor; what comes before is nobody's."""
    spans, logs = provider_of(), loggers(AtifLogProcessor())
    _say(logs, "gen_ai.user.message", {"content": "too early"})
    assert logs.force_flush()
    spans.add_span_processor(AtifSpanProcessor(tmp_path / "out"))
    _chat(spans, logs)
    assert logs.force_flush()
    spans.shutdown()
    assert _said(documents()) == [["Where is it?", "Here."]]


def test_instrument_brings_the_log_records_of_others(
    provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path, documents: Documents
) -> None:
    """Once, however often it is called; what we emit ourselves comes by the side door and not again."""
    kept = InMemoryLogRecordExporter()
    spans, logs = provider_of(), loggers(SimpleLogRecordProcessor(kept))
    for _ in range(2):
        bus = instrument(spans, directory=tmp_path / "out", bus=EventBus(), logger_provider=logs)
    (ours,) = [part for part in logs._multi_log_record_processor._log_record_processors if _is_ours(part)]
    assert isinstance(ours.spans, AtifSpanProcessor)
    _chat(spans, logs)
    with bus.run("bookings", "A table") as run, run.llm("m", provider="p") as call:
        call.respond("Booked.")
    spans.shutdown()
    assert sorted(_said(documents())) == [["A table", "Booked."], ["Where is it?", "Here."]]
    assert len(kept.get_finished_logs()) == 4


def _is_ours(part: object) -> bool:
    return isinstance(part, AtifLogProcessor)


def test_our_processor_alone_asks_for_none_of_our_log_events(
    provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path
) -> None:
    """A LoggerProvider without exporters costs nothing more than before."""
    logs = loggers()
    if not hasattr(logs.get_logger("other"), "enabled"):
        pytest.skip("this SDK's loggers cannot be asked")
    instrument(provider_of(), directory=tmp_path / "out", bus=EventBus(), logger_provider=logs)
    assert not logs.get_logger("atifold").enabled()
    assert logs.get_logger("other").enabled()


@pytest.mark.parametrize("processor", [True, False])
def test_instrument_adds_no_log_processor_beside_one_of_ours_or_without_ours(
    processor: bool, provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path
) -> None:
    """The exporter that the environment named takes them already; without a span processor nobody would."""
    theirs = [BatchLogRecordProcessor(AtifLogExporter(tmp_path / "out"))] if processor else []
    logs = loggers(*theirs)
    instrument(provider_of(), directory=tmp_path, bus=EventBus(), logger_provider=logs, processor=processor)
    assert list(logs._multi_log_record_processor._log_record_processors) == theirs


def test_the_exporter_hands_records_to_who_has_the_spans(
    provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path, documents: Documents
) -> None:
    """As `OTEL_LOGS_EXPORTER=atif` makes it: it knows of nobody when it is made."""
    exporter = AtifLogExporter(tmp_path / "nowhere")
    spans, logs = provider_of(), loggers(BatchLogRecordProcessor(exporter))
    spans.add_span_processor(AtifSpanProcessor(tmp_path / "out"))
    _chat(spans, logs)
    assert logs.force_flush()
    spans.shutdown()
    logs.shutdown()
    assert _said(documents()) == [["Where is it?", "Here."]]
    assert not (tmp_path / "nowhere").exists()
    assert exporter.export([]) is LogRecordExportResult.FAILURE


@pytest.mark.usefixtures("nobody_at_work")
def test_the_exporter_alone_writes_what_records_alone_tell(
    loggers: Callable[..., LoggerProvider], tmp_path: Path, documents: Documents
) -> None:
    """No tracer provider of ours: the documents are its own."""
    exporter = AtifLogExporter(tmp_path / "out", idle_s=100)
    logs = loggers(SimpleLogRecordProcessor(exporter))
    _chat(TracerProvider(shutdown_on_exit=False), logs)
    logs.shutdown()
    assert _said(documents()) == [["Where is it?", "Here."]]


def test_a_wrong_setting_of_the_exporter_is_said_at_once(tmp_path: Path) -> None:
    """As the span exporter says it."""
    with pytest.raises(TypeError, match="no setting named idle; idle_s was meant"):
        AtifLogExporter(tmp_path, idle=3)


def test_redaction_sees_records_before_they_are_folded(
    provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path, documents: Documents
) -> None:
    """The body as the attribute `body`, and attributes that may hold content."""
    asked: list[tuple[str, str]] = []

    def redact(event: str, path: str, value: Any) -> Any:
        asked.append((event, path))
        return WITHHELD if event == "gen_ai.user.message" else value

    spans = provider_of()
    processor = AtifSpanProcessor(tmp_path / "out", redact=redact)
    spans.add_span_processor(processor)
    _chat(spans, loggers(AtifLogProcessor(processor)))
    spans.shutdown()
    assert "Where is it?" not in json.dumps(documents())
    assert "Here." in json.dumps(documents())
    assert ("gen_ai.choice", "body") in asked


def test_records_of_unsampled_spans_follow_the_setting(
    provider_of: Providers, loggers: Callable[..., LoggerProvider], tmp_path: Path, documents: Documents
) -> None:
    """`follow_sampler` leaves them out; without it the records alone tell of the call."""
    for follow, expected in ((True, []), (False, [["Where is it?", "Here."]])):
        spans, processor = provider_of(sampler=ALWAYS_OFF), AtifSpanProcessor(tmp_path / "out", follow_sampler=follow)
        spans.add_span_processor(processor)
        _chat(spans, loggers(AtifLogProcessor(processor)))
        spans.shutdown()
        assert _said(documents()) == expected


def test_a_record_that_cannot_be_read_costs_nothing_but_itself(tmp_path: Path, caplog: Any) -> None:
    """It is said, and the records beside it are taken."""
    intake, exporter = AtifSpanExporter(tmp_path / "out"), AtifLogExporter()
    good = _readable(Record("gen_ai.choice", 1, "a" * 32, "b" * 16))
    bad = ReadableLogRecord(LogRecord(event_name="gen_ai.choice", trace_id="no number"), Resource({}))  # type: ignore[arg-type]
    assert exporter.export([bad, good]) is LogRecordExportResult.FAILURE
    assert "a log record could not be taken: " in caplog.text
    intake.shutdown()


def _readable(record: Record) -> ReadableLogRecord:
    return ReadableLogRecord(
        LogRecord(
            timestamp=record.time_ns,
            trace_id=int(record.trace_id or "0", 16),
            span_id=int(record.span_id or "0", 16),
            trace_flags=TraceFlags(1),
            body=record.body,
            attributes=record.attributes,
            event_name=record.name,
        ),
        Resource(record.resource),
        InstrumentationScope(record.scope_name, record.scope_version),
    )
