"""The harness keeps what an agent emits, and the package as its users import it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import atifold.testing
from atifold import semconv
from atifold.testing import Fault, Harness, assert_conforms, faults


def talk(harness: Harness) -> None:
    """Emit one turn of an agent with a model call."""
    with harness.bus.run("greeter", "Hello", session_id="s-1") as run, run.llm("m-1", provider="openai") as call:
        call.respond("Hi.", input_tokens=3, output_tokens=2)


def test_spans_are_there_after_the_block_without_content() -> None:
    """They conform, and the records behind them are whole."""
    with Harness() as harness:
        talk(harness)
    assert [span.name for span in harness.spans] == ["chat m-1", "invoke_agent greeter"]
    assert_conforms(
        spans=harness.spans,
        metrics=harness.metrics(),
        logs=harness.logs,
        content=False,
        sessions={"s-1"},
        namespaces=("agentfootprint.", "atifold."),
    )
    assert all(semconv.OUTPUT_MESSAGES in record.attributes for record in harness.records)
    assert faults(spans=harness.records, content=False)


def test_content_is_on_spans_where_it_was_asked_for() -> None:
    """Settings are those of `instrument`; one that there is not is a mistake."""
    with Harness(capture_content=True) as harness:
        talk(harness)
    assert_conforms(spans=harness.spans, content=True)
    with pytest.raises(TypeError, match="atifold has no setting named capture"):
        Harness(capture=True)


def test_trajectories_are_whole_without_captured_content() -> None:
    """As those on the disk of a program would be."""
    with Harness() as harness:
        talk(harness)
    (trajectory,) = harness.trajectories()
    assert [step["message"] for step in trajectory["steps"]] == ["Hello", "Hi."]


def test_a_run_that_is_still_open_is_sealed_at_the_end_of_the_block() -> None:
    """Before, nothing of it was exported."""
    with Harness() as harness:
        harness.bus.emit("agent.turn_start", {"turnIndex": 0, "userPrompt": "Hi"}, meta={"runId": "r"})
        assert harness.spans == ()
    (span,) = harness.spans
    assert span.attributes is not None
    assert span.attributes[semconv.INCOMPLETE]
    harness.close()
    harness.bus.emit("agent.turn_start", {"turnIndex": 0, "userPrompt": "Hi"}, meta={"runId": "q"})
    assert harness.spans == (span,)


def test_telemetry_of_other_instrumentation_is_kept_too() -> None:
    """On all three signals; before the end and after."""
    with Harness() as harness:
        harness.tracer_provider.get_tracer("t").start_span("GET").end()
        harness.meter_provider.get_meter("t").create_counter("my.calls").add(1)
        harness.logger_provider.get_logger("t").emit(event_name="my.event")
        during = harness.metrics()
    assert [span.name for span in harness.spans] == [record.name for record in harness.records] == ["GET"]
    for data in (during, harness.metrics()):
        assert data is not None
        assert data.resource_metrics[0].scope_metrics[0].metrics[0].name == "my.calls"
    assert [record.log_record.event_name for record in harness.logs] == ["my.event"]


def test_two_harnesses_share_nothing() -> None:
    """Nor does one leave anything behind in the process."""
    with Harness() as one, Harness() as other:
        talk(one)
    assert (len(one.spans), other.spans, other.records) == (2, (), ())


def test_a_fault_is_a_line() -> None:
    """Without an attribute it is shorter."""
    assert str(Fault("chat m", "a.b", "wrong")) == "chat m: a.b: wrong"
    assert str(Fault("chat m", "", "wrong")) == "chat m: wrong"


def test_the_public_names_are_those_that_are_documented() -> None:
    """And nothing else."""
    assert sorted(atifold.testing.__all__) == ["Fault", "Harness", "assert_conforms", "faults"]


def test_the_package_does_not_load_its_tests_tools() -> None:
    """Neither alone nor with a provider attached."""
    program = (
        "import sys, atifold\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "bus = atifold.instrument(TracerProvider(shutdown_on_exit=False), processor=False, bus=atifold.EventBus())\n"
        "with bus.run('a', 'b') as run: pass\n"
        "print([name for name in sys.modules if name.startswith('atifold.testing')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
