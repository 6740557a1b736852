"""What a redaction withholds is in no trajectory either, whoever made the span."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

from atifold import WITHHELD, AtifSpanExporter, AtifSpanProcessor, EventBus, atif, instrument
from atifold.dialects import structural
from atifold.dialects.registry import DIALECTS

MARK = "mk-secret"
Documents = Callable[[], dict[str, Any]]

MESSAGE = json.dumps([{"role": "user", "parts": [{"type": "text", "content": MARK}]}])
FOREIGN = {
    "chat": {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.input.messages": MESSAGE,
        "gen_ai.output.messages": MESSAGE,
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": MARK}]),
        "gen_ai.request.stop_sequences": [MARK],
    },
    "tool": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look_up",
        "gen_ai.tool.call.id": "c",
        "gen_ai.tool.call.arguments": json.dumps({"q": MARK}),
        "gen_ai.tool.call.result": MARK,
    },
    "openinference": {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": MARK,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": MARK,
        "input.value": MARK,
        "metadata": json.dumps({"note": MARK}),
    },
}


def nothing(event: str, path: str, value: Any) -> Any:
    """Let nothing through."""
    return WITHHELD


def stars(event: str, path: str, value: Any) -> Any:
    """Replace the secret in every text."""
    return value.replace(MARK, "***") if isinstance(value, str) else [stars(event, path, item) for item in value]


def trace_foreign(provider: TracerProvider) -> None:
    """Trace an agent of somebody else, whose model and tool say the secret everywhere."""
    tracer = provider.get_tracer("somebody")
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder", "gen_ai.input.messages": MESSAGE}
    with tracer.start_as_current_span("invoke_agent coder", attributes=agent):
        for name, attributes in FOREIGN.items():
            span = tracer.start_span(name, attributes=attributes)
            span.add_event("gen_ai.choice", {"content": MARK, "count": 1})
            span.record_exception(ValueError(MARK))
            span.set_status(Status(StatusCode.ERROR, MARK))
            span.end()


def add(kind: type[AtifSpanProcessor | AtifSpanExporter], provider: TracerProvider, folder: Path, **more: Any) -> Any:
    """Add one of the two plugins to a provider."""
    plugin = kind(folder, **more)
    provider.add_span_processor(plugin if isinstance(plugin, AtifSpanProcessor) else SimpleSpanProcessor(plugin))
    return plugin


@pytest.mark.parametrize("kind", [AtifSpanProcessor, AtifSpanExporter])
@pytest.mark.parametrize("redact", [None, nothing, stars])
def test_others_spans_are_redacted_before_they_are_folded(
    kind: Any,
    redact: Any,
    provider_of: Callable[..., TracerProvider],
    documents: Documents,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In no text of the document, and the document stays valid; without a function all of it is there."""
    provider = provider_of()
    plugin = add(kind, provider, tmp_path / "out", redact=redact)
    with caplog.at_level(logging.DEBUG):
        trace_foreign(provider)
        provider.shutdown()
    text = json.dumps(documents())
    assert (MARK in text) is (redact is None)
    assert ("***" in text) is (redact is stars)
    assert MARK not in caplog.text
    assert "redactions_failed" not in plugin.counts
    for document in documents().values():
        assert [finding for finding in atif.check(document) if finding.is_error] == []


def test_who_is_asked_sees_texts_and_structures_and_no_names(
    provider_of: Callable[..., TracerProvider], tmp_path: Path
) -> None:
    """Each once, with the span's name and the attribute's."""
    asked: list[tuple[str, str, Any]] = []

    def note(*said: Any) -> Any:
        asked.append(said)
        return said[2]

    provider = provider_of()
    add(AtifSpanProcessor, provider, tmp_path / "out", redact=note)
    trace_foreign(provider)
    provider.shutdown()
    of_tool = [(path, value) for event, path, value in asked if event == "tool"]
    assert sorted((path, value) for path, value in of_tool if path != "exception.stacktrace") == [
        ("content", MARK),
        ("exception.message", MARK),
        ("gen_ai.tool.call.arguments", json.dumps({"q": MARK})),
        ("gen_ai.tool.call.result", MARK),
        ("status.description", MARK),
    ]
    names = {path for event, path, _ in asked if event == "openinference"}
    assert not {name for name in names if name.endswith("role")}
    assert "metadata" in names


def test_a_function_that_fails_withholds_and_is_said_once(
    provider_of: Callable[..., TracerProvider],
    documents: Documents,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The document is written without the values, and the log has none of them."""

    def bad(event: str, path: str, value: Any) -> Any:
        raise ValueError(value)

    provider = provider_of()
    plugin = add(AtifSpanProcessor, provider, tmp_path / "out", redact=bad)
    trace_foreign(provider)
    provider.shutdown()
    assert MARK not in json.dumps(documents())
    assert len(documents()) == 1
    assert plugin.counts["redactions_failed"] > 1
    assert [record.message for record in caplog.records if "redact" in record.message] == [
        "redact raised ValueError; the value is withheld (said once, counted as redactions_failed)"
    ]
    assert MARK not in caplog.text


def run(bus: EventBus) -> None:
    """Run an agent that says the secret everywhere."""
    with bus.run("coder", MARK) as agent:
        with agent.llm("m", provider="openai", messages=[{"role": "user", "content": MARK}]) as call:
            call.respond(MARK)
        with agent.tool("look_up", {"q": MARK}) as tool:
            tool.result(MARK)
        agent.finish(MARK)


@pytest.mark.parametrize("redact", [None, nothing, stars])
@pytest.mark.parametrize("before", [False, True])
def test_instrument_redacts_events_and_others_spans(
    redact: Any,
    before: bool,
    provider_of: Callable[..., TracerProvider],
    documents: Documents,
    tmp_path: Path,
) -> None:
    """One function for all exits, also where the provider had a processor before; spans as well as documents."""
    memory, provider = InMemorySpanExporter(), provider_of()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    if before:
        add(AtifSpanProcessor, provider, tmp_path / "out")
    bus = instrument(provider, directory=tmp_path / "out", bus=EventBus(), redact=redact, capture_content="true")
    run(bus)
    trace_foreign(provider)
    provider.shutdown()
    ours = [span.to_json() for span in memory.get_finished_spans() if span.instrumentation_scope.name == "atifold"]
    text = json.dumps(documents())
    assert len(ours) == 3
    assert len(documents()) == 2
    assert (MARK in text) is (MARK in "".join(ours)) is (redact is None)
    assert ("***" in text) is ("***" in "".join(ours)) is (redact is stars)


def test_events_are_redacted_by_the_function_of_a_processor_that_was_there(
    provider_of: Callable[..., TracerProvider], documents: Documents, tmp_path: Path
) -> None:
    """What a trajectory must not hold is not left to a second argument."""
    provider = provider_of()
    add(AtifSpanProcessor, provider, tmp_path / "out", redact=nothing)
    run(instrument(provider, bus=EventBus()))
    provider.shutdown()
    assert len(documents()) == 1
    assert MARK not in json.dumps(documents())


def test_a_processor_redacts_whole_records_of_events_that_nobody_redacted(
    provider_of: Callable[..., TracerProvider], documents: Documents, tmp_path: Path
) -> None:
    """It came after the bus was attached, so that the emitter knows of no function; with one, it is not asked again."""
    provider = provider_of()
    bus = instrument(provider, bus=EventBus(), processor=False)
    add(AtifSpanProcessor, provider, tmp_path / "out", redact=nothing)
    run(bus)
    provider.shutdown()
    assert len(documents()) == 1
    assert MARK not in json.dumps(documents())
    asked: list[str] = []

    def note(event: str, path: str, value: Any) -> Any:
        asked.append(event)
        return value

    second = provider_of()
    run(instrument(second, bus=EventBus(), directory=tmp_path / "out", redact=note))
    second.shutdown()
    assert asked
    assert all(event.startswith("agentfootprint.") for event in asked)


def test_a_long_value_is_in_the_trajectory_and_not_on_the_span(
    provider_of: Callable[..., TracerProvider], documents: Documents, tmp_path: Path
) -> None:
    """The setting is about the tracing backend."""
    memory, provider = InMemorySpanExporter(), provider_of()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    run(instrument(provider, directory=tmp_path / "out", bus=EventBus(), capture_content="true", max_value=3))
    provider.shutdown()
    spans = memory.get_finished_spans()
    assert spans
    assert MARK not in "".join(span.to_json() for span in spans)
    assert all("atifold.omitted" in (span.attributes or {}) for span in spans)
    assert MARK in json.dumps(documents())


def test_the_table_of_structural_names_is_in_step_with_the_dialects() -> None:
    """Each field is one of theirs, and none that holds what was said is in it."""
    rows = [row for dialect in DIALECTS for row in dialect.rows]
    assert {row.field for row in rows} >= structural.FIELDS
    said = {"arguments", "description", "input", "output", "result", "system", "tools"}
    assert said.isdisjoint(structural.FIELDS)
    content = {name for row in rows if row.field in said for name in row.names}
    assert [name for name in content if structural.is_structural(name)] == []
    assert structural.is_structural("llm.output_messages.0.message.tool_calls.0.tool_call.id")
    assert not structural.is_structural("llm.output_messages.0.message.content")


def test_a_redaction_of_a_later_call_takes_effect(
    provider_of: Callable[..., TracerProvider], documents: Documents, tmp_path: Path
) -> None:
    """On spans and in trajectories, in place of none and of the one before; a call without one leaves it."""
    provider, memory, bus = provider_of(), InMemorySpanExporter(), EventBus()
    provider.add_span_processor(SimpleSpanProcessor(memory))

    def attach(redact: Any) -> None:
        instrument(provider, bus=bus, directory=tmp_path / "out", redact=redact, capture_content=True)

    def said() -> str:
        memory.clear()
        with bus.run("a", MARK) as turn, turn.llm("m", provider="openai") as call:
            call.respond(MARK)
        return "".join(span.to_json() for span in memory.get_finished_spans())

    attach(None)
    assert MARK in said()
    attach(stars)
    attach(None)
    assert MARK not in (text := said())
    assert "***" in text
    attach(nothing)
    assert "***" not in (text := said())
    assert MARK not in text
    trace_foreign(provider)
    provider.shutdown()
    told = [MARK in json.dumps(document) for document in documents().values()]
    assert len(told) == 4
    assert sum(told) <= 1, "the first, where it was read before a redaction was there"


@pytest.mark.parametrize("make", [AtifSpanProcessor, AtifSpanExporter])
def test_a_redaction_can_be_called(make: Callable[..., Any], tmp_path: Path) -> None:
    """Else nothing would leave, which is no mistake that anybody sees."""
    with pytest.raises(TypeError, match=r"^redact: a function is wanted, str was found$"):
        make(tmp_path, redact="x")
