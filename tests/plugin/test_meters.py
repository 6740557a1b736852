"""`instrument` attaches metrics and spellings as its settings say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from meters import Meters
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import atifold
from atifold.bus import EventBus


def run(directory: Path, meters: Meters, **settings: Any) -> dict[str, dict[str, Any]]:
    """Instrument a provider, make one run, and return the attributes of its spans by name."""
    provider = TracerProvider(shutdown_on_exit=False)
    memory = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    bus = atifold.instrument(provider, directory=directory, bus=EventBus(), meter_provider=meters.provider, **settings)
    with bus.run("agent", "go") as turn, turn.llm("m-1", provider="openai") as call:
        call.token("a")
        call.token("b")
        call.respond("ab", input_tokens=3, output_tokens=2, cost_usd=0.5)
    provider.shutdown()
    return {span.name: dict(span.attributes or {}) for span in memory.get_finished_spans()}


def test_instrument_records_metrics(tmp_path: Path) -> None:
    """Of the latest names by default, without gaps between chunks."""
    meters = Meters()
    run(tmp_path, meters)
    found = meters.metrics()
    assert {"gen_ai.client.inference.duration", "gen_ai.invoke_agent.duration", "agentfootprint.cost"} <= set(found)
    assert not [name for name in found if "per_output_chunk" in name or name == "gen_ai.client.token.usage"]


@pytest.mark.parametrize(
    ("settings", "there", "absent"),
    [
        ({"metrics": "off"}, set(), {"gen_ai.invoke_agent.duration", "agentfootprint.cost"}),
        ({"metrics": "compat"}, {"gen_ai.client.token.usage"}, {"gen_ai.client.inference.duration"}),
        ({"metrics": "both"}, {"gen_ai.client.token.usage", "gen_ai.client.inference.duration"}, set()),
        ({"chunk_metrics": True}, {"gen_ai.client.inference.time_per_output_chunk"}, set()),
    ],
)
def test_settings_choose_metrics(tmp_path: Path, settings: Any, there: set[str], absent: set[str]) -> None:
    """The rows of the settings' table reach the metrics."""
    meters = Meters()
    run(tmp_path, meters, **settings)
    found = set(meters.metrics())
    assert there <= found
    assert not absent & found


def test_settings_choose_spellings(tmp_path: Path) -> None:
    """The names of attributes and of cost."""
    chat = run(tmp_path, Meters(), attributes="compat", cost_names="logfire")["chat m-1"]
    assert chat["gen_ai.system"] == "openai"
    assert chat["operation.cost"] == 0.5


def test_a_setting_adds_the_names_of_openinference(tmp_path: Path) -> None:
    """With content only where that may leave."""
    found = run(tmp_path, Meters(), openinference="on")["invoke_agent agent"]
    assert found["openinference.span.kind"] == "AGENT"
    assert "input.value" not in found
    told = run(tmp_path, Meters(), openinference=True, capture_content="SPAN_ONLY")["invoke_agent agent"]
    assert told["input.value"] == "go"


def test_what_is_no_meter_provider_is_refused(tmp_path: Path) -> None:
    """As a tracer provider is; the call after it works."""
    provider = TracerProvider(shutdown_on_exit=False)
    bus = EventBus()
    with pytest.raises(TypeError, match="a MeterProvider is wanted"):
        atifold.instrument(provider, directory=tmp_path, bus=bus, meter_provider="x")  # type: ignore[arg-type]
    meters = Meters()
    atifold.instrument(provider, directory=tmp_path, bus=bus, meter_provider=meters.provider)
    with bus.run("agent", "go"):
        pass
    provider.shutdown()
    assert meters.counts("gen_ai.invoke_agent.duration") == 1


def test_a_global_meter_provider_that_is_set_after_instrument_is_found(tmp_path: Path) -> None:
    """In a process of its own, as there is one global provider in each."""
    code = f"""
import atifold
from atifold.bus import EventBus
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider

bus = atifold.instrument(TracerProvider(), directory={str(tmp_path)!r}, bus=EventBus())
with bus.run("early", "go"):
    pass
reader = InMemoryMetricReader()
metrics.set_meter_provider(MeterProvider([reader]))
with bus.run("late", "go"):
    pass
for resource in reader.get_metrics_data().resource_metrics:
    for scope in resource.scope_metrics:
        for metric in scope.metrics:
            if metric.name == "gen_ai.invoke_agent.duration":
                print(*[point.attributes["gen_ai.agent.name"] for point in metric.data.data_points])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["late"]


def test_importing_the_package_loads_no_metrics() -> None:
    """Who wants none pays for none."""
    code = "import atifold, sys; print(*[name for name in sys.modules if 'metrics' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


TWICE = """
import sys
from opentelemetry import _logs, metrics
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from atifold import EventBus, instrument

reader, logged, bus = InMemoryMetricReader(), InMemoryLogRecordExporter(), EventBus()
metrics.set_meter_provider(MeterProvider([reader]))
logs = LoggerProvider()
logs.add_log_record_processor(SimpleLogRecordProcessor(logged))
_logs.set_logger_provider(logs)

def measure():
    with bus.run("a") as run, run.llm("m", provider="p") as call:
        call.respond("x", input_tokens=5)
    scopes = reader.get_metrics_data().resource_metrics[0].scope_metrics
    points = {m.name: m.data.data_points[0] for s in scopes for m in s.metrics}
    found = len(logged.get_finished_logs())
    logged.clear()
    return points["gen_ai.client.inference.usage.input_tokens"].value, found

first, second = TracerProvider(), TracerProvider()
for provider in (first, second):
    instrument(provider, bus=bus, processor=False)
print(*measure())
instrument(TracerProvider(), bus=bus, processor=False, meter_provider=metrics.get_meter_provider())
print(*measure())
"""


def test_only_the_first_attachment_of_a_bus_writes_to_the_global_providers() -> None:
    """What two living providers hear is counted once there; a provider that is given is written to all the same."""
    done = subprocess.run([sys.executable, "-c", TWICE], check=True, capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["5 1", "15 1"]
