"""The attach in one call, the shared bus, and the ways without code."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, SynchronousMultiSpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from atifold.bus import EventBus
from atifold.emit import Emitter
from atifold.plugin import AtifSpanExporter, AtifSpanProcessor, instrument
from atifold.plugin.attach import attach
from atifold.plugin.forerunner import Forerunner

Make = Callable[..., TracerProvider]
Turn = Callable[[trace.TracerProvider], None]
Documents = Callable[[], dict[str, Any]]


def _run(bus: EventBus) -> None:
    with bus.run("bookings", "Table for two") as run:
        with run.llm("gpt-4o", provider="openai") as call:
            call.respond("Booked.", input_tokens=30, output_tokens=6)
        run.answer = "Booked."


def _messages(document: dict[str, Any]) -> list[str]:
    return [step["message"] for step in document["steps"]]


def test_events_become_spans_and_a_document(provider_of: Make, documents: Documents, tmp_path: Path) -> None:
    """The spans are without content, the document is with it."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    bus = EventBus()
    assert instrument(provider, directory=tmp_path / "out", bus=bus) is bus
    _run(bus)
    provider.shutdown()
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]
    assert "incomplete" not in document["extra"]["atifold"]
    spans = exporter.get_finished_spans()
    assert {span.name for span in spans} >= {"invoke_agent bookings", "chat gpt-4o"}
    assert not [span for span in spans if "Booked." in span.to_json()]


@pytest.mark.parametrize(
    "settings",
    [{"span_limits": SpanLimits(max_span_attributes=8, max_span_attribute_length=10)}, {"sampler": ALWAYS_OFF}],
    ids=["limits", "sampled out"],
)
def test_no_limit_and_no_sampler_thins_a_document(
    provider_of: Make, documents: Documents, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """The emitter's side door brings the whole record."""
    provider = provider_of(**settings)
    _run(instrument(provider, directory=tmp_path / "out", bus=EventBus()))
    provider.shutdown()
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]
    assert document["final_metrics"]["total_prompt_tokens"] == 30


def test_a_flush_writes_a_run_that_has_just_ended(provider_of: Make, documents: Documents, tmp_path: Path) -> None:
    """The emitter does not hold its spans back from it."""
    provider = provider_of()
    _run(instrument(provider, directory=tmp_path / "out", bus=EventBus()))
    provider.force_flush()
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]


def test_a_run_that_is_open_at_the_shutdown_is_written(provider_of: Make, documents: Documents, tmp_path: Path) -> None:
    """And says that it is incomplete."""
    provider = provider_of()
    bus = instrument(provider, directory=tmp_path / "out", bus=EventBus())
    with bus.run("bookings", "Table for two") as run:
        with run.llm("gpt-4o", provider="openai") as call:
            call.respond("Booked.", input_tokens=30, output_tokens=6)
        provider.shutdown()
    (document,) = documents().values()
    assert document["extra"]["atifold"]["incomplete"]


def test_a_second_call_changes_nothing(provider_of: Make, documents: Documents, tmp_path: Path) -> None:
    """One processor, one emitter: each span and document once."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    bus = EventBus()
    for _ in range(2):
        instrument(provider, directory=tmp_path / "out", bus=bus)
    _run(bus)
    provider.shutdown()
    assert len(documents()) == 1
    assert [span.name for span in exporter.get_finished_spans()].count("chat gpt-4o") == 1


@pytest.mark.parametrize("processor", [BatchSpanProcessor, SimpleSpanProcessor, None])
def test_what_is_attached_already_is_used(
    provider_of: Make, documents: Documents, tmp_path: Path, processor: Any
) -> None:
    """An exporter or a processor of ours: no second one writes beside it."""
    provider = provider_of()
    if processor is None:
        provider.add_span_processor(AtifSpanProcessor(tmp_path / "out"))
    else:
        provider.add_span_processor(processor(AtifSpanExporter(tmp_path / "out")))
    bus = instrument(provider, directory=tmp_path / "other", bus=EventBus())
    _run(bus)
    provider.shutdown()
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]
    assert not (tmp_path / "other").exists()


class Renamed(TracerProvider):
    """An SDK of another version: what it keeps its processors under has another name."""

    def __init__(self, processors: Any) -> None:
        """Take the SDK's own processor of many."""
        super().__init__(shutdown_on_exit=False, active_span_processor=processors)
        self.processors = processors

    def get_tracer(self, *args: Any, **kwargs: Any) -> trace.Tracer:
        """Return the SDK's tracer."""
        self._active_span_processor = self.processors
        try:
            return super().get_tracer(*args, **kwargs)
        finally:
            del self._active_span_processor

    def add_span_processor(self, span_processor: Any) -> None:
        """Add it as the SDK does."""
        self.processors.add_span_processor(span_processor)


@pytest.mark.parametrize("hidden", ["_active_span_processor", "_span_processors"])
def test_an_sdk_that_hides_its_processors_gets_one_of_ours(documents: Documents, tmp_path: Path, hidden: str) -> None:
    """Its private names are no interface: without them nothing raises, and the document is written."""
    processors = SynchronousMultiSpanProcessor()
    provider = Renamed(processors)
    if hidden == "_active_span_processor":
        del provider._active_span_processor
    else:
        provider._active_span_processor = SimpleNamespace()  # type: ignore[assignment]
    bus = instrument(provider, directory=tmp_path / "out", bus=EventBus())
    assert [type(each) for each in processors._span_processors] == [Forerunner, AtifSpanProcessor]
    _run(bus)
    processors.shutdown()
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]


def test_what_was_attached_can_be_released(provider_of: Make, documents: Documents, tmp_path: Path) -> None:
    """Later events make no span and no document; attached again, they do."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    bus = EventBus()
    attached = attach(provider, directory=tmp_path / "out", bus=bus)
    attach(provider, bus=bus).release()  # changed nothing, takes nothing back
    _run(bus)
    attached.release()
    spans = len(exporter.get_finished_spans())
    assert spans
    _run(bus)
    assert len(exporter.get_finished_spans()) == spans
    attach(provider, bus=bus)
    attached.release()  # once was all
    _run(bus)
    provider.shutdown()
    assert len(exporter.get_finished_spans()) == 2 * spans
    assert len(documents()) == 2


def test_spans_alone_when_no_processor_is_wanted(provider_of: Make, tmp_path: Path) -> None:
    """No folder appears."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    _run(instrument(provider, directory=tmp_path / "out", bus=EventBus(), processor=False))
    provider.shutdown()
    assert exporter.get_finished_spans()
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_attached_to_is_refused(tmp_path: Path, provider_of: Make) -> None:
    """So is a setting that there is not: both are mistakes in code."""
    with pytest.raises(TypeError, match="an SDK TracerProvider is wanted"):
        instrument(trace.NoOpTracerProvider(), directory=tmp_path)
    with pytest.raises(TypeError, match="no setting named"):
        instrument(provider_of(), directory=tmp_path, grace=1)


def test_a_program_without_a_provider_gets_one(program: Callable[[str], str], documents: Documents) -> None:
    """Two lines, the shared bus, and the interpreter's exit writes."""
    program("""
import sys
from atifold.plugin import instrument, shared_bus
bus = instrument(directory=sys.argv[1])
assert bus is shared_bus()
with bus.run("bookings", "Table for two") as run:
    with run.llm("gpt-4o", provider="openai") as call:
        call.respond("Booked.", input_tokens=30, output_tokens=6)
""")
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]
    assert "incomplete" not in document["extra"]["atifold"]


def test_a_run_that_is_open_at_the_exit_is_written(program: Callable[[str], str], documents: Documents) -> None:
    """The program ends inside of it."""
    program("""
import sys
from atifold.plugin import instrument
bus = instrument(directory=sys.argv[1])
run = bus.run("bookings", "Table for two").__enter__()
with run.llm("gpt-4o", provider="openai") as call:
    call.respond("Booked.", input_tokens=30, output_tokens=6)
""")
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]
    assert document["extra"]["atifold"]["incomplete"]


def test_the_shared_bus_needs_no_sdk(program: Callable[[str], str]) -> None:
    """A library may emit on it in a program without any telemetry."""
    program("""
import sys
from atifold.plugin import shared_bus
assert shared_bus() is shared_bus()
assert not [name for name in sys.modules if name.startswith("opentelemetry.sdk")]
""")


@pytest.mark.skipif(
    find_spec("opentelemetry.instrumentation") is None, reason="opentelemetry-instrumentation is not installed"
)
@pytest.mark.parametrize("exporter", [True, False])
def test_the_instrumentor_attaches_to_the_global_provider(
    program: Callable[[str], str], documents: Documents, *, exporter: bool
) -> None:
    """With an exporter of ours at work it adds no processor; uninstrumented, it makes no spans any more."""
    program(f"""
import os, sys
os.environ["ATIFOLD_DIR"] = sys.argv[1]
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from atifold.plugin import AtifSpanExporter, AtifSpanProcessor, doors, shared_bus
from atifold.plugin.instrumentor import AtifInstrumentor
provider = TracerProvider()
if {exporter}:
    provider.add_span_processor(BatchSpanProcessor(AtifSpanExporter()))
trace.set_tracer_provider(provider)
AtifInstrumentor().instrument()
assert [type(door) for door in doors.doors()] == [AtifSpanExporter if {exporter} else AtifSpanProcessor]
def turn():
    with shared_bus().run("bookings", "Table for two") as run:
        with run.llm("gpt-4o", provider="openai") as call:
            call.respond("Booked.", input_tokens=30, output_tokens=6)
turn()
AtifInstrumentor().uninstrument()
turn()
""")
    (document,) = documents().values()
    assert _messages(document) == ["Table for two", "Booked."]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("bus", "bus: an EventBus is wanted, int was found"),
        ("directory", "directory: a path is wanted, int was found"),
        ("logger_provider", "logger_provider: a LoggerProvider is wanted, int was found"),
        ("meter_provider", "a MeterProvider is wanted, int was found"),
        ("redact", "redact: a function is wanted, int was found"),
    ],
)
def test_an_argument_of_another_kind_is_named(provider_of: Make, argument: str, words: str) -> None:
    """A mistake in code is said where it was made."""
    with pytest.raises(TypeError, match=f"^{words}$"):
        instrument(provider_of(), **{argument: 5})  # type: ignore[arg-type]


def test_a_step_of_a_shutdown_that_fails_costs_no_other(
    provider_of: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is raised, and the emitter of another bus ends what it holds."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    flush, flushed = Emitter.flush, list[Emitter]()

    def fails_first(emitter: Emitter) -> None:
        flushed.append(emitter)
        if len(flushed) == 1:
            raise RecursionError
        flush(emitter)

    buses = [EventBus(), EventBus()]
    for bus in buses:
        instrument(provider, bus=bus, processor=False).emit("agent.turn_start", {"turnIndex": 0})
    monkeypatch.setattr(Emitter, "flush", fails_first)
    provider.shutdown()
    assert [span.name for span in exporter.get_finished_spans()] == ["invoke_agent agent"]
    assert "a step of a flush or a shutdown failed: RecursionError" in caplog.text
