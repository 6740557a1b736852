"""The span exporter, as the SDK makes and feeds it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from atifold.plugin import AtifSpanExporter, doors

Make = Callable[..., TracerProvider]
Turn = Callable[[trace.TracerProvider], None]
Documents = Callable[[], dict[str, Any]]


@pytest.mark.parametrize("processor", [BatchSpanProcessor, SimpleSpanProcessor])
def test_exported_turns_are_documents(
    provider_of: Make, turn: Turn, documents: Documents, tmp_path: Path, processor: Any
) -> None:
    """In batches or one by one."""
    provider = provider_of()
    exporter = AtifSpanExporter(tmp_path / "out")
    provider.add_span_processor(processor(exporter))
    turn(provider)
    turn(provider)
    provider.force_flush()
    exporter.force_flush()
    assert [len(document["steps"]) for document in documents().values()] == [2, 2]


def test_without_arguments_everything_comes_from_the_environment(
    provider_of: Make, turn: Turn, documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the SDK makes it for OTEL_TRACES_EXPORTER."""
    monkeypatch.setenv("ATIFOLD_DIR", str(tmp_path / "out"))
    provider = provider_of()
    provider.add_span_processor(SimpleSpanProcessor(AtifSpanExporter()))
    turn(provider)
    provider.shutdown()
    assert len(documents()) == 1


def test_after_the_shutdown_an_export_fails_and_nothing_is_written(tmp_path: Path) -> None:
    """As the SDK's own exporters say it."""
    exporter = AtifSpanExporter(directory=tmp_path / "out", grace_s=0.5)
    assert exporter in doors.doors()
    assert exporter.export([]) is SpanExportResult.SUCCESS
    exporter.shutdown()
    exporter.shutdown()
    assert exporter.export([]) is SpanExportResult.FAILURE
    assert exporter not in doors.doors()
    assert not (tmp_path / "out").exists()


def test_a_batch_after_the_side_door_changes_nothing(
    provider_of: Make, told_turn: Any, documents: Documents, tmp_path: Path
) -> None:
    """The whole records were there before, and the exported ones are the same spans."""
    provider = provider_of()
    exporter = AtifSpanExporter(tmp_path / "out")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    told_turn(provider, exporter)
    exporter.force_flush()
    before = documents()
    assert len(before) == 1
    provider.force_flush()
    exporter.force_flush()
    assert documents() == before
    assert exporter.counts == {"documents_written": 1}


def test_the_side_door_brings_what_the_sampler_dropped(
    provider_of: Make, told_turn: Any, documents: Documents, tmp_path: Path
) -> None:
    """Nothing is ever exported, and the document is there."""
    provider = provider_of(sampler=ALWAYS_OFF)
    exporter = AtifSpanExporter(tmp_path / "out")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    told_turn(provider, exporter)
    provider.shutdown()
    assert len(documents()) == 1


def test_doors_are_forgotten_with_their_owner(tmp_path: Path) -> None:
    """The registry keeps nobody alive."""

    class Door(AtifSpanExporter):
        def __init__(self) -> None:
            doors.register(self)

    before = doors.doors()
    door = Door()
    assert doors.doors() == (*before, door)
    del door
    assert doors.doors() == before


def test_the_entry_points_name_what_there_is() -> None:
    """The SDK finds both by them."""
    found = [*entry_points(group="opentelemetry_traces_exporter", name="atif")]
    if not found:
        pytest.skip("atifold is not installed, only on the path")
    assert found[0].load() is AtifSpanExporter
    pytest.importorskip("opentelemetry.instrumentation")
    (instrumentor,) = entry_points(group="opentelemetry_instrumentor", name="atifold")
    assert instrumentor.load().__name__ == "AtifInstrumentor"
