"""The span processor in the real SDK."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, Decision, Sampler, SamplingResult

from atifold.plugin import AtifSpanProcessor

Make = Callable[..., TracerProvider]
Turn = Callable[[trace.TracerProvider], None]
Documents = Callable[[], dict[str, Any]]


class RecordOnly(Sampler):
    """Record every span and sample none."""

    def should_sample(self, *arguments: Any) -> SamplingResult:
        """Return RECORD_ONLY, and the attributes, which are the fifth argument."""
        return SamplingResult(Decision.RECORD_ONLY, arguments[4])

    def get_description(self) -> str:
        """Return a name."""
        return "record only"


def test_a_turn_is_a_document_beside_the_pipeline_that_is_there(
    provider_of: Make, turn: Turn, documents: Documents, tmp_path: Path
) -> None:
    """The exporter gets its spans as ever."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    processor = AtifSpanProcessor(tmp_path / "out")
    provider.add_span_processor(processor)
    turn(provider)
    turn(provider)
    assert provider.force_flush()
    assert len(exporter.get_finished_spans()) == 4
    found = documents()
    assert len(found) == 2
    for document in found.values():
        assert [step["message"] for step in document["steps"]] == ["What is due?", "Nothing."]
        assert document["final_metrics"]["total_completion_tokens"] == 4
    assert processor.counts == {"documents_written": 2}


def test_an_unfinished_turn_is_written_at_the_shutdown_and_says_so(
    provider_of: Make, turn: Turn, documents: Documents, tmp_path: Path
) -> None:
    """A flush leaves it alone."""
    provider = provider_of()
    provider.add_span_processor(AtifSpanProcessor(tmp_path / "out"))
    root = provider.get_tracer("t").start_span("request")
    with trace.use_span(root):
        turn(provider)
    provider.force_flush()
    assert documents() == {}
    provider.shutdown()
    (document,) = documents().values()
    assert document["extra"]["atifold"]["incomplete"] == ["open_spans"]
    root.end()


def test_a_span_that_ends_after_its_root_rewrites_the_document(
    provider_of: Make, documents: Documents, tmp_path: Path
) -> None:
    """Here the model call outlives the agent."""
    provider = provider_of()
    provider.add_span_processor(AtifSpanProcessor(tmp_path / "out"))
    tracer = provider.get_tracer("t")
    root = tracer.start_span("invoke_agent a", attributes={"gen_ai.operation.name": "invoke_agent"})
    here = trace.set_span_in_context(root)
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.output_tokens": 1}
    tracer.start_span("chat m", context=here, attributes=chat).end()
    root.end()
    provider.force_flush()
    (before,) = documents().items()
    tracer.start_span("chat m", context=here, attributes=chat).end()
    provider.force_flush()
    (after,) = documents().items()
    assert before[0] == after[0]
    assert (len(before[1]["steps"]), len(after[1]["steps"])) == (1, 2)


def test_recorded_spans_count_unless_the_sampler_is_followed(
    provider_of: Make, turn: Turn, documents: Documents, tmp_path: Path
) -> None:
    """RECORD_ONLY spans are not exported, and are trajectories all the same."""
    for follow, written in ((True, 0), (False, 1)):
        provider = provider_of(sampler=RecordOnly())
        provider.add_span_processor(AtifSpanProcessor(tmp_path / "out", follow_sampler=follow))
        turn(provider)
        provider.shutdown()
        assert len(documents()) == written


@pytest.mark.parametrize(
    "settings",
    [
        {"span_limits": SpanLimits(max_span_attributes=8, max_span_attribute_length=10)},
        {"span_limits": SpanLimits(max_span_attributes=1)},
        {"sampler": ALWAYS_OFF},
        {"sampler": RecordOnly()},
    ],
    ids=["limits", "one attribute", "sampled out", "record only"],
)
def test_the_side_door_is_under_no_limit_and_no_sampler(
    provider_of: Make, told_turn: Any, documents: Documents, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """The document is that of the whole records."""
    provider = provider_of(**settings)
    processor = AtifSpanProcessor(tmp_path / "out")
    provider.add_span_processor(processor)
    told_turn(provider, processor)
    provider.force_flush()
    (document,) = documents().values()
    assert [step["message"] for step in document["steps"]] == ["What is due?", "Nothing."]
    assert document["agent"]["name"] == "coder"
    assert "incomplete" not in document["extra"]["atifold"]


def test_the_side_door_follows_the_sampler_when_asked(
    provider_of: Make, told_turn: Any, documents: Documents, tmp_path: Path
) -> None:
    """What is sampled still comes."""
    for sampler, written in ((ALWAYS_OFF, 0), (None, 1)):
        provider = provider_of(sampler=sampler)
        processor = AtifSpanProcessor(tmp_path / "out", follow_sampler=True)
        provider.add_span_processor(processor)
        told_turn(provider, processor)
        provider.shutdown()
        assert len(documents()) == written


def test_threads_share_a_provider(provider_of: Make, turn: Turn, documents: Documents, tmp_path: Path) -> None:
    """Each of 80 turns in 8 threads is a document."""
    provider = provider_of()
    processor = AtifSpanProcessor(tmp_path / "out")
    provider.add_span_processor(processor)
    threads = [threading.Thread(target=lambda: [turn(provider) for _ in range(10)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert provider.force_flush()
    assert len(documents()) == 80
    assert processor.counts == {"documents_written": 80}


def test_a_folder_that_cannot_be_written_costs_the_program_nothing(
    provider_of: Make, turn: Turn, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One line with the path and the reason, and at the shutdown what is lost is counted."""
    provider, exporter = provider_of(), InMemorySpanExporter()
    processor = AtifSpanProcessor(tmp_path / "out")
    (tmp_path / "out").write_text("a file")  # else it is said when the processor is made
    provider.add_span_processor(processor)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with caplog.at_level(logging.WARNING, "atifold"):
        turn(provider)
        turn(provider)
        assert not provider.force_flush()
        provider.shutdown()
    assert len(exporter.get_finished_spans()) == 4
    assert processor.counts["documents_lost"] == 2
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2
    assert str(tmp_path / "out") in lines[0]
    assert "File exists" in lines[0]


def test_what_is_no_span_reaches_no_caller(tmp_path: Path) -> None:
    """A span of another SDK, broken in any way, is counted."""
    processor = AtifSpanProcessor(tmp_path / "out")
    processor.on_start(None)  # type: ignore[arg-type]
    processor.on_end(None)  # type: ignore[arg-type]
    assert processor.force_flush()
    assert processor.counts == {"internal_errors": 2}
    processor.shutdown()


def test_spans_that_end_after_the_shutdown_are_counted(provider_of: Make, turn: Turn, tmp_path: Path) -> None:
    """Nothing is written any more."""
    provider = provider_of()
    processor = AtifSpanProcessor(tmp_path / "out")
    provider.add_span_processor(processor)
    processor.shutdown()
    turn(provider)
    assert processor.counts == {"after_shutdown": 2}
    assert processor.force_flush()
    assert not (tmp_path / "out").exists()


def test_a_child_process_writes_its_own_turns(program: Callable[[str], str], documents: Documents) -> None:
    """What the parent holds is written by the parent, whole."""
    program("""
import os, sys
from opentelemetry import context
from opentelemetry.sdk.trace import TracerProvider
from atifold.plugin import AtifSpanProcessor

provider = TracerProvider()
provider.add_span_processor(AtifSpanProcessor(sys.argv[1]))
tracer = provider.get_tracer("t")
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "parent"}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}

def chat():
    tracer.start_span("chat", attributes=CHAT).end()

with tracer.start_as_current_span("invoke_agent", attributes=AGENT):
    chat()
    if os.fork() == 0:
        context.attach(context.Context())
        AGENT["gen_ai.agent.name"] = "child"
        with tracer.start_as_current_span("invoke_agent", attributes=AGENT):
            chat()
        provider.shutdown()
        os._exit(0)
    assert os.wait()[1] == 0
    chat()
""")
    found = sorted((document["agent"]["name"], len(document["steps"])) for document in documents().values())
    assert found == [("child", 1), ("parent", 2)]
