"""Batches of long prompts at a real Collector whose limits are the default ones: 4 MiB over gRPC, 20 MiB over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from backends.backend import Backend
from backends.collector import collector as start_collector
from backends.sending import GRPC, PROTOBUF, Protocol
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from atifold import SplittingSpanExporter
from atifold.readable import trace_id_of

pytestmark = pytest.mark.integration

SPANS, LONG, HUGE = 60, 100_000, 24_000_000


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """Return a Collector with default limits."""
    with start_collector(tmp_path_factory.mktemp("strict"), limits=True) as backend:
        yield backend


@pytest.mark.parametrize("protocol", [GRPC, PROTOBUF], ids=lambda each: each.name)
def test_sixty_long_spans_arrive_beside_one_that_cannot(
    protocol: Protocol, strict: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    """In one batch, 60 spans of 100 KB and one of 24 MB: that one is named and counted, and the others are there."""
    exporter = SplittingSpanExporter(protocol.exporter(strict.url(protocol), {}))
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=600_000))
    tracer = provider.get_tracer("t")
    with caplog.at_level(logging.WARNING, "atifold"), tracer.start_as_current_span("agent") as agent:
        for number in range(SPANS):
            size = HUGE if number == SPANS // 2 else LONG
            tracer.start_span(f"chat {number}", attributes={"prompt": "x" * size}).end()
        tracer.start_span("chat last", attributes={"prompt": "x" * LONG}).end()
    with caplog.at_level(logging.WARNING, "atifold"):
        provider.shutdown()
    trace_id = trace_id_of(agent.get_span_context())
    strict.wait({trace_id: SPANS + 1})
    names = {f"chat {number}" for number in range(SPANS) if number != SPANS // 2} | {"chat last", "agent"}
    for view in strict.views.values():
        told = view.facts(trace_id)
        assert {facts["name"] for facts in told} == names
        assert len(told) == len(names)
        assert {len(facts["attributes"].get("prompt", "")) for facts in told} == {0, LONG}
    assert exporter.counts["too_large"] == 1
    assert exporter.counts["refused"] == 0
    (line,) = [record.getMessage() for record in caplog.records if record.name == "atifold"]
    assert line.startswith(f"span 'chat {SPANS // 2}' ")


def test_without_splitting_the_whole_batch_is_lost_over_grpc(strict: Backend, caplog: pytest.LogCaptureFixture) -> None:
    """What the splitting is for: the receiver refuses one message of 6 MB, and all sixty spans with it."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(GRPC.exporter(strict.url(GRPC), {}), schedule_delay_millis=600_000))
    tracer = provider.get_tracer("t")
    with tracer.start_as_current_span("agent") as agent:
        for number in range(SPANS):
            tracer.start_span(f"chat {number}", attributes={"prompt": "x" * LONG}).end()
    provider.shutdown()
    assert strict.seen(trace_id_of(agent.get_span_context())) == 0
    assert "RESOURCE_EXHAUSTED" in caplog.text
