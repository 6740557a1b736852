"""Batches on their way through a splitting exporter: in parts, mended, named where they cannot pass."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as OverGrpc
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as OverHttp
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from atifold import SplittingLogRecordExporter, SplittingSpanExporter

LIMIT = 10_000


class Receiver(SpanExporter):
    """Keep what is exported; `answer` says what becomes of each request."""

    def __init__(self, answer: Callable[[int], SpanExportResult] = lambda _: SpanExportResult.SUCCESS) -> None:
        """Start empty."""
        self.requests: list[Sequence[ReadableSpan]] = []
        self.ended: list[float | None] = []
        self._answer = answer

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep a request."""
        self.requests.append(spans)
        return self._answer(len(self.requests))

    def shutdown(self, timeout_millis: float | None = None) -> None:
        """Note how long the end may take."""
        self.ended.append(timeout_millis)

    @property
    def names(self) -> list[str]:
        """Return the names of all spans that came, in their order."""
        return [span.name for request in self.requests for span in request]


class LogReceiver(LogRecordExporter):
    """Keep what is exported."""

    def __init__(self) -> None:
        """Start empty."""
        self.requests: list[Sequence[ReadableLogRecord]] = []

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        """Keep a request."""
        self.requests.append(batch)
        return LogRecordExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return True."""
        return True

    def shutdown(self) -> None:
        """Do nothing."""


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Return what holds the lines that atifold logs."""
    caplog.set_level(logging.INFO, "atifold")
    return caplog


def _size(spans: Sequence[ReadableSpan]) -> int:
    return int(encode_spans(spans).ByteSize())


def test_a_batch_that_passes_is_handed_on_as_it_is(make: Any) -> None:
    """The same object: nothing is copied or encoded for the question."""
    receiver, batch = Receiver(), [make.span() for _ in range(5)]
    assert SplittingSpanExporter(receiver, max_bytes=LIMIT).export(batch) is SpanExportResult.SUCCESS
    assert receiver.requests[0] is batch


def test_a_batch_that_is_too_large_goes_in_parts(make: Any) -> None:
    """Every span once, in order, each request below the limit and none without need."""
    receiver = Receiver()
    exporter = SplittingSpanExporter(receiver, max_bytes=LIMIT)
    batch = [make.span(f"span {n}", {"prompt": "x" * 3000}) for n in range(30)]
    assert exporter.export(batch) is SpanExportResult.SUCCESS
    assert receiver.names == [f"span {n}" for n in range(30)]
    assert [len(request) for request in receiver.requests] == [3] * 10
    assert all(_size(request) <= LIMIT for request in receiver.requests)
    assert exporter.counts["split"] == 1


def test_a_span_that_cannot_pass_is_named_and_the_rest_arrives(make: Any, log: pytest.LogCaptureFixture) -> None:
    """One line with name, id, bytes and limit."""
    receiver = Receiver()
    exporter = SplittingSpanExporter(receiver, max_bytes=LIMIT)
    large = make.span("chat gpt-4o", {"prompt": "x" * 20_000})
    assert exporter.export([make.span("a"), large, make.span("b")]) is SpanExportResult.FAILURE
    assert receiver.names == ["a", "b"]
    (line,) = log.messages
    assert f"span 'chat gpt-4o' [{large.get_span_context().span_id:016x}] is {_size([large]):,} bytes" in line
    assert "10,000" in line
    assert exporter.counts["too_large"] == 1


def test_only_the_true_size_keeps_a_span_back(make: Any, log: pytest.LogCaptureFixture) -> None:
    """Its bound is above the limit, its encoding is not: it goes in a request of its own."""
    many = make.span("many", {f"{n:04}": 1 for n in range(100)})
    receiver = Receiver()
    exporter = SplittingSpanExporter(receiver, max_bytes=_size([many]))
    assert exporter.export([make.span("a"), many, make.span("b")]) is SpanExportResult.SUCCESS
    assert [[span.name for span in request] for request in receiver.requests] == [["a"], ["many"], ["b"]]
    assert log.messages == []


def test_a_part_that_is_refused_does_not_keep_the_others(make: Any) -> None:
    """FAILURE, as something was lost, and the count of it; the same where the exporter raises."""

    def answer(request: int) -> SpanExportResult:
        if request == 3:
            raise OSError("gone")
        return SpanExportResult.FAILURE if request == 2 else SpanExportResult.SUCCESS

    receiver = Receiver(answer)
    exporter = SplittingSpanExporter(receiver, max_bytes=LIMIT)
    batch = [make.span(f"span {n}", {"prompt": "x" * 6000}) for n in range(5)]
    assert exporter.export(batch) is SpanExportResult.FAILURE
    assert len(receiver.requests) == 5
    assert exporter.counts["refused"] == 2


def test_spans_of_several_scopes_and_resources_fit_with_their_frames(make: Any) -> None:
    """What stands once around the spans of a scope counts in each request."""
    receiver = Receiver()
    batch = [make.span(f"span {n}", {"p": "x" * 500}, scope="s" * 800 + str(n % 3)) for n in range(40)]
    SplittingSpanExporter(receiver, max_bytes=LIMIT).export(batch)
    assert receiver.names == [f"span {n}" for n in range(40)]
    assert all(_size(request) <= LIMIT for request in receiver.requests)


def test_broken_texts_cost_nothing_but_themselves(make: Any, log: pytest.LogCaptureFixture) -> None:
    """The batch arrives with U+FFFD in their place; it is said once."""
    receiver = Receiver()
    exporter = SplittingSpanExporter(receiver, max_bytes=LIMIT)
    for _ in range(2):
        batch = [make.span("good"), make.span("bad \ud800", {"\udc00": "\ud83d"})]
        assert exporter.export(batch) is SpanExportResult.SUCCESS
        assert receiver.requests[-1][0] is batch[0]
    assert receiver.names == ["good", "bad \ufffd"] * 2
    assert encode_spans(receiver.requests[0]).SerializeToString()
    assert len(log.messages) == 1
    assert exporter.counts["mended"] == 2


def test_what_cannot_be_measured_goes_as_it_is(log: pytest.LogCaptureFixture, make: Any) -> None:
    """A value that is nested too deep for anybody: the exporter says what it thinks of it."""
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    span = ReadableSpan("deep", make.span().get_span_context(), attributes={"deep": deep})
    receiver = Receiver()
    assert SplittingSpanExporter(receiver, max_bytes=LIMIT).export([span]) is SpanExportResult.SUCCESS
    assert receiver.requests == [[span]]
    assert "could not be measured" in log.messages[0]


def test_log_records_are_split_too(make: Any, log: pytest.LogCaptureFixture) -> None:
    """By size, with the one that cannot pass named by its event and its span."""
    receiver = LogReceiver()
    exporter = SplittingLogRecordExporter(receiver, max_bytes=LIMIT)
    batch = [make.record("x" * size) for size in (6000, 20_000, 6000, 100)]
    assert exporter.export(batch) is LogRecordExportResult.FAILURE
    assert [len(request) for request in receiver.requests] == [1, 2]
    assert "log record 'e' [0000000000000000] is 20," in log.messages[0]
    assert exporter.export(batch[:1]) is LogRecordExportResult.SUCCESS
    exporter.shutdown()


def test_the_limit_is_that_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the class of the exporter; the environment and code say otherwise, its own limit is the last word."""
    made = [OverGrpc(endpoint="http://127.0.0.1:1", insecure=True), OverHttp(), OverHttp()]
    made[-1]._max_request_size = 5000  # type: ignore[union-attr]  # its argument of this name came with SDK 1.45
    assert [SplittingSpanExporter(each).max_bytes for each in made] == [3_500_000, 18_000_000, 5000]
    monkeypatch.setenv("ATIFOLD_EXPORT_MAX_BYTES", "9000")
    assert [SplittingSpanExporter(each).max_bytes for each in made] == [9000, 9000, 5000]
    assert SplittingSpanExporter(made[0], max_bytes=7000).max_bytes == 7000
    for each in made:
        each.shutdown()


def test_the_batch_processor_can_end_it() -> None:
    """The SDK gives the time that is left to an exporter that takes one; parts that wait are not sent any more."""
    receiver = Receiver()
    exporter = SplittingSpanExporter(receiver)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    provider.get_tracer("t").start_span("last").end()
    provider.shutdown()
    assert receiver.names == ["last"]
    (left,) = receiver.ended
    assert left is not None
    assert left > 0
    assert exporter.export(receiver.requests[0]) is SpanExportResult.FAILURE
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("receives", [True, False])
def test_what_was_lost_is_told_once_at_the_end(receives: bool, make: Any, log: pytest.LogCaptureFixture) -> None:
    """How many spans, and why; nothing where none was lost."""
    receiver = Receiver()
    exporter = SplittingSpanExporter(receiver, max_bytes=LIMIT)
    exporter.export([make.span("small")])
    exporter._splitter._send = lambda _: receives
    exporter.export([make.span("a"), make.span("b")])
    log.clear()
    exporter.shutdown()
    exporter.shutdown()
    words = "2 spans were not exported: the receiver did not take them"
    assert [record.getMessage() for record in log.records] == ([] if receives else [words])
