"""Long prompts on their way to receivers at their default limits: nothing but the one named span is lost."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as OverGrpc
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from receivers import Received, over_grpc, over_http

from atifold import EventBus
from atifold.cli import main
from atifold.delivery import OtlpLogRecordExporter, OtlpSpanExporter

pytestmark = pytest.mark.integration

PROMPT = "gen_ai.input.messages"
SERVERS = {"grpc": over_grpc, "http": over_http}


@pytest.fixture(params=SERVERS)
def receiver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Received]:
    """Return a receiver that the environment names."""
    with SERVERS[request.param]() as received:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", received.endpoint)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", received.protocol)
        monkeypatch.setenv("NO_PROXY", "*")
        yield received


@pytest.fixture
def provider(receiver: Received) -> Iterator[TracerProvider]:
    """Return a provider whose spans go to the receiver in batches, as `atif_otlp` would send them."""
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(OtlpSpanExporter()))
    yield made
    made.shutdown()


def _span(provider: TracerProvider, name: str, size: int, **more: Any) -> None:
    provider.get_tracer("t").start_span(name, attributes={PROMPT: "x" * size, **more}).end()


def _names(received: Received) -> list[str]:
    return [span.name for span in received.spans]


def test_sixty_spans_of_100_kb_arrive(receiver: Received, provider: TracerProvider) -> None:
    """A batch of 6 MB; over gRPC it is two requests."""
    for number in range(60):
        _span(provider, f"chat {number}", 100_000)
    assert provider.force_flush()
    assert _names(receiver) == [f"chat {number}" for number in range(60)]
    assert receiver.requests == (2 if receiver.protocol == "grpc" else 1)


def test_without_us_all_sixty_are_lost_over_grpc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The receiver takes no message above 4 MiB: this is what the splitting is for."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with over_grpc() as received:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OverGrpc(endpoint=received.endpoint, insecure=True)))
        for number in range(60):
            _span(provider, f"chat {number}", 100_000)
        provider.force_flush()
        provider.shutdown()
    assert received.spans == []


def test_one_span_of_24_mb_is_named_and_those_beside_it_arrive(
    receiver: Received, provider: TracerProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """One line, and every other span once."""
    with caplog.at_level(logging.WARNING, "atifold"):
        for number in range(20):
            _span(provider, f"chat {number}", 100)
            if number == 10:
                _span(provider, "chat huge", 24_000_000)
        assert provider.force_flush()
    assert _names(receiver) == [f"chat {number}" for number in range(20)]
    (line,) = [words for name, _, words in caplog.record_tuples if name == "atifold"]
    assert line.startswith("span 'chat huge' [")
    assert "24,000," in line
    assert receiver.refused == 0


def test_the_largest_span_that_fits_arrives_among_others(receiver: Received, provider: TracerProvider) -> None:
    """A little below the limit of the protocol."""
    size = 3_400_000 if receiver.protocol == "grpc" else 17_900_000
    for name, length in (("a", 200_000), ("large", size), ("b", 200_000)):
        _span(provider, name, length)
    assert provider.force_flush()
    assert _names(receiver) == ["a", "large", "b"]


def test_broken_texts_arrive_with_their_batch(
    receiver: Received, provider: TracerProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """In a name, a value, a key and an event; the SDK's exporter alone loses the batch for the name."""
    _span(provider, "good", 10)
    span = provider.get_tracer("t").start_span("chat \ud83d", attributes={PROMPT: ["\ud83d", "ok"], "\udc00": 1})
    span.add_event("e \udfff", {"a": "\ud83d\ude00"})
    span.end()
    with caplog.at_level(logging.ERROR):
        assert provider.force_flush()
    assert [line for name, _, line in caplog.record_tuples if name.startswith("opentelemetry")] == []
    good, bad = receiver.spans
    assert (good.name, bad.name, bad.events[0].name) == ("good", "chat \ufffd", "e \ufffd")
    assert [each.key for each in bad.attributes] == [PROMPT, "\ufffd"]
    assert [each.string_value for each in bad.attributes[0].value.array_value.values] == ["\ufffd", "ok"]
    assert bad.events[0].attributes[0].value.string_value == "😀"


def test_log_records_of_long_prompts_arrive(receiver: Received) -> None:
    """Sixty of 100 KB, one that is too large, and one whose body is broken."""
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(BatchLogRecordProcessor(OtlpLogRecordExporter()))
    logger = provider.get_logger("t")
    for number in range(60):
        logger.emit(event_name=f"e{number}", body={"messages": "x" * 100_000})
    logger.emit(event_name="huge", body="x" * 24_000_000)
    logger.emit(event_name="broken", body="\ud800")
    provider.force_flush()
    provider.shutdown()
    assert [record.event_name for record in receiver.logs] == [*(f"e{number}" for number in range(60)), "broken"]
    assert receiver.logs[-1].body.string_value == "\ufffd"


def test_a_replay_brings_long_prompts_and_names_what_it_cannot_bring(receiver: Received, tmp_path: Path) -> None:
    """`atifold replay --otlp --capture-content`: sixty answers of 100 KB, and one of 24 MB."""
    bus = EventBus()
    with bus.record(tmp_path / "long.jsonl"), bus.run("writer", "Write.") as run:
        for number in range(61):
            with run.llm("gpt-4o", provider="openai") as call:
                call.respond("x" * (24_000_000 if number == 30 else 100_000))
    arguments = ["replay", str(tmp_path / "long.jsonl"), "--otlp", receiver.endpoint, "--capture-content"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    assert sorted(_names(receiver)) == ["chat gpt-4o"] * 60 + ["invoke_agent writer"]
    assert "1 span was not taken (span 'chat gpt-4o' [" in done.output
    assert f"61 spans sent to {receiver.endpoint}" in done.output
