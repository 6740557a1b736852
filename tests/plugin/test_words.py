"""What attaching and folding say: once, in one line, with what to do."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atifold.bus import EventBus
from atifold.plugin import AtifSpanExporter, AtifSpanProcessor, instrument

Make = Callable[..., TracerProvider]
Turn = Callable[[trace.TracerProvider], None]


def _lines(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_a_provider_that_is_set_up_too_late_is_foretold(program: Callable[[str], str]) -> None:
    """The global provider is taken: whoever sets one up afterwards learns from us why it is refused."""
    words = program("""
import sys
from atifold.plugin import instrument
instrument(directory=sys.argv[1])
""")
    assert words == (
        "atifold: no TracerProvider was set up, so one of the SDK is set as the global one, and a later "
        "set_tracer_provider will be refused; call instrument after it, or pass it your provider\n"
    )


def test_a_provider_that_is_set_up_before_is_worth_no_word(program: Callable[[str], str]) -> None:
    """The other side of it."""
    assert not program("""
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from atifold.plugin import instrument
trace.set_tracer_provider(TracerProvider())
instrument(directory=sys.argv[1])
""")


@pytest.mark.parametrize("capture", [True, "true", "span_only", "SPAN_AND_EVENT"])
def test_content_goes_on_spans_where_code_says_so(provider_of: Make, tmp_path: Path, capture: object) -> None:
    """By a switch or by the conventions' words."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    bus = instrument(provider, directory=tmp_path / "out", bus=EventBus(), capture_content=capture)
    with bus.run("bookings", "Table for two"):
        pass
    provider.shutdown()
    assert "Table for two" in exporter.get_finished_spans()[0].to_json()


@pytest.mark.parametrize("make", [AtifSpanProcessor, AtifSpanExporter, instrument])
def test_the_folder_has_one_name_in_code(make: Callable[..., object]) -> None:
    """The setting's own name is refused with the one that is wanted."""
    with pytest.raises(TypeError, match="no setting named dir; the folder is given as `directory`"):
        make(dir="x")


def test_a_folder_that_cannot_be_written_is_said_when_it_is_attached(
    provider_of: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A file stands in its way; all else goes on, and nothing is made for the question."""
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING, "atifold"):
        instrument(provider_of(), directory=tmp_path / "file" / "out", bus=EventBus())
        instrument(provider_of(), directory=tmp_path / "new" / "out", bus=EventBus())
    (line,) = _lines(caplog, logging.WARNING)
    assert line.startswith(
        f"atifold cannot write to {tmp_path / 'file' / 'out'}: {tmp_path / 'file'} is not a folder; "
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_is_forbidden_is_said_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where it is there, and where it would have to be made."""
    tmp_path.chmod(0o500)
    try:
        for folder in (tmp_path, tmp_path / "out"):
            with caplog.at_level(logging.WARNING, "atifold"):
                AtifSpanProcessor(folder).shutdown()
    finally:
        tmp_path.chmod(0o700)
    assert [f"{tmp_path} is not writable" in line for line in _lines(caplog, logging.WARNING)] == [True, True]


def test_what_live_folding_skips_is_said_once_a_kind(
    provider_of: Make, turn: Turn, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Traces of no dialect, and a dialect's calls whose content stands under names that are not read."""
    provider, processor = provider_of(), AtifSpanProcessor(tmp_path / "out")
    provider.add_span_processor(processor)
    unread = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "vendor.prompt": "What is due?"}
    with caplog.at_level(logging.INFO, "atifold"):
        turn(provider)
        provider.force_flush()
        assert not _lines(caplog, logging.INFO)
        for _ in range(3):
            provider.get_tracer("http").start_span("GET").end()
            provider.get_tracer("vendor").start_span("chat m", attributes=unread).end()
        provider.force_flush()
    assert [line.partition(" ")[2].partition(" ")[2] for line in _lines(caplog, logging.INFO)] == [
        "holds no call in a dialect that is read (said once, counted as no_dialect)",
        "holds content under names that are not read (said once, counted as content_unread)",
    ]
    assert not _lines(caplog, logging.WARNING)
    assert {kind: processor.counts[kind] for kind in ("no_dialect", "content_unread")} == {
        "no_dialect": 3,
        "content_unread": 3,
    }
