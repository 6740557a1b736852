"""The life of a provider that is attached to: who gets what at its flush, at its end, and beside others of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atifold.bus import EventBus
from atifold.emit.lane import LightSpan
from atifold.plugin import AtifSpanExporter, AtifSpanProcessor, instrument
from atifold.plugin.attach import attach

Make = Callable[..., TracerProvider]
Documents = Callable[[], dict[str, Any]]


def _model_call(run: Any, text: str = "Booked.") -> None:
    with run.llm("gpt-4o", provider="openai") as call:
        call.respond(text, input_tokens=30, output_tokens=6)


def _run(bus: EventBus) -> None:
    with bus.run("bookings", "Table for two") as run:
        _model_call(run)


def _names(exporter: InMemorySpanExporter) -> list[str]:
    return sorted(span.name for span in exporter.get_finished_spans())


@pytest.mark.parametrize("kind", [BatchSpanProcessor, SimpleSpanProcessor])
@pytest.mark.parametrize("ours", ["added", "none", "exporter"])
def test_an_exporter_added_before_gets_an_open_run_at_the_shutdown(
    provider_of: Make, tmp_path: Path, kind: Any, ours: str
) -> None:
    """The emitter gives up its spans before any exporter is shut down."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(kind(exporter))
    if ours == "exporter":
        provider.add_span_processor(kind(AtifSpanExporter(tmp_path / "out")))
    bus = instrument(provider, directory=tmp_path / "out", bus=EventBus(), processor=ours == "added")
    with bus.run("bookings", "Table for two") as run:
        _model_call(run)
        provider.shutdown()
    assert _names(exporter) == ["chat gpt-4o", "invoke_agent bookings"]


@pytest.mark.parametrize("kind", [BatchSpanProcessor, SimpleSpanProcessor])
def test_an_exporter_added_before_gets_a_run_that_has_just_ended_at_a_flush(
    provider_of: Make, tmp_path: Path, kind: Any
) -> None:
    """A call without an agent waits for its grace; a flush cuts that short."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(kind(exporter))
    bus = instrument(provider, directory=tmp_path / "out", bus=EventBus())
    bus.emit("stream.llm_start", {"iteration": 1, "provider": "openai", "model": "gpt-4o"}, meta={"runId": "r"})
    bus.emit(
        "stream.llm_end", {"iteration": 1, "content": "Hi.", "usage": {"input": 1, "output": 1}}, meta={"runId": "r"}
    )
    provider.force_flush()
    assert _names(exporter) == ["chat gpt-4o"]


def test_a_provider_that_is_shut_down_is_let_go_by_the_bus(
    provider_of: Make, documents: Documents, tmp_path: Path
) -> None:
    """The next one on the same bus is the only parent of what runs inside."""
    bus = EventBus()
    for _ in range(2):
        provider, exporter = provider_of(), InMemorySpanExporter()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        instrument(provider, directory=tmp_path / "out", bus=bus)
        with bus.run("bookings", "Table for two") as run:
            with run.tool("look", {}), provider.get_tracer("http").start_as_current_span("GET"):
                pass
            with run.agent("waiter", "Which table?") as waiter:
                _model_call(waiter, "The round one.")
        provider.shutdown()
        spans = exporter.get_finished_spans()
        known = {span.context.span_id for span in spans if span.context is not None}
        assert all(span.parent is None or span.parent.span_id in known for span in spans)
        assert not bus._subscriptions
        assert not bus._activators
    assert [len(document["subagent_trajectories"]) for document in documents().values()] == [1, 1]


def test_two_living_providers_on_one_bus_both_get_all(provider_of: Make, tmp_path: Path) -> None:
    """And the shutdown of one leaves the other's alone."""
    bus, exporters = EventBus(), [InMemorySpanExporter(), InMemorySpanExporter()]
    providers = [provider_of(), provider_of()]
    for n in range(2):
        providers[n].add_span_processor(SimpleSpanProcessor(exporters[n]))
        instrument(providers[n], directory=tmp_path / str(n), bus=bus)
    _run(bus)
    providers[0].shutdown()
    _run(bus)
    providers[1].shutdown()
    assert [len(exporter.get_finished_spans()) for exporter in exporters] == [2, 4]
    assert [len(list((tmp_path / str(n)).iterdir())) for n in range(2)] == [1, 2]


def test_a_provider_attached_again_after_a_release_is_let_go_too(provider_of: Make, tmp_path: Path) -> None:
    """Each attachment ends once, whoever ends it."""
    provider, bus = provider_of(), EventBus()
    attach(provider, directory=tmp_path / "out", bus=bus).release()
    attached = attach(provider, bus=bus)
    assert bus._subscriptions
    provider.shutdown()
    attached.release()
    assert not bus._subscriptions


def test_each_of_ours_on_a_provider_gets_the_content(provider_of: Make, tmp_path: Path) -> None:
    """Two processors and an exporter, one of them added after the attachment."""
    provider, bus = provider_of(), EventBus()
    provider.add_span_processor(AtifSpanProcessor(tmp_path / "first"))
    provider.add_span_processor(BatchSpanProcessor(AtifSpanExporter(tmp_path / "exported")))
    instrument(provider, directory=tmp_path / "none", bus=bus)
    provider.add_span_processor(AtifSpanProcessor(tmp_path / "later"))
    _run(bus)
    provider.shutdown()
    for name in ("first", "exported", "later"):
        (file,) = (tmp_path / name).iterdir()
        assert "Booked." in file.read_text(), name
    assert not (tmp_path / "none").exists()


def test_light_spans_are_made_beside_what_is_attached(provider_of: Make, tmp_path: Path) -> None:
    """Nothing that `instrument` adds closes the fast lane; a processor that hears of starts does."""
    bus, provider = EventBus(), provider_of()
    provider.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    instrument(provider, directory=tmp_path / "out", bus=bus)
    with bus.run("bookings", "Table for two"):
        assert isinstance(trace.get_current_span(), LightSpan)

    class Listening(SimpleSpanProcessor):
        """Inherits from a quiet one, and is not."""

        def on_start(self, span: Any, parent_context: Any = None) -> None:
            """Listen."""

    provider.add_span_processor(Listening(InMemorySpanExporter()))
    with bus.run("bookings", "Table for two"):
        assert not isinstance(trace.get_current_span(), LightSpan)


def test_a_span_that_the_program_ended_early_keeps_its_whole_record(
    provider_of: Make, documents: Documents, tmp_path: Path
) -> None:
    """The side door's record counts, though the SDK's bare one came first."""
    provider, bus = provider_of(), EventBus()
    instrument(provider, directory=tmp_path / "out", bus=bus)
    with bus.run("bookings", "Table for two") as run:
        with run.llm("gpt-4o", provider="openai") as call:
            trace.get_current_span().end()
            call.respond("Which day?", input_tokens=10, output_tokens=5)
        _model_call(run)
    provider.shutdown()
    (document,) = documents().values()
    assert [step["message"] for step in document["steps"]] == ["Table for two", "Which day?", "Booked."]
    assert document["final_metrics"]["total_prompt_tokens"] == 40


def test_a_disabled_sdk_leaves_one_whole_document(program: Callable[[str], str], documents: Documents) -> None:
    """`OTEL_SDK_DISABLED` takes the spans away, not the trajectory."""
    program("""
import os, sys
os.environ["OTEL_SDK_DISABLED"] = "true"
from opentelemetry.sdk.trace import TracerProvider
from atifold import EventBus, instrument
provider = TracerProvider()
bus = instrument(provider, directory=sys.argv[1], bus=EventBus())
with bus.run("bookings", "Table for two", session_id="S") as run:
    with run.llm("gpt-4o", provider="openai") as call:
        call.respond("Looking.", tool_calls=[{"id": "c", "name": "look", "arguments": {}}])
    with run.tool("look", {}, id="c") as tool:
        tool.result("free")
    with run.llm("gpt-4o", provider="openai") as call:
        call.respond("Booked.", input_tokens=30, output_tokens=6)
provider.shutdown()
""")
    (document,) = documents().values()
    assert [step["message"] for step in document["steps"]] == ["Table for two", "Looking.", "Booked."]
    assert document["steps"][1]["observation"]["results"][0]["content"] == "free"
    assert "incomplete" not in document["extra"]["atifold"]
