"""The recording behind `atifold demo`: made by the example, and with everything in it that the demo is to show."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atifold import EventBus, atif
from atifold.replay import Replayed, replay

ROOT = Path(__file__).resolve().parent.parent
RECORDING = ROOT / "src" / "atifold" / "data" / "demo.jsonl"
EXAMPLE = ROOT / "examples" / "scripted_agent.py"

Wire = dict[str, Any]

_TIMES = {"wallClockMs", "runOffsetMs", "atifold.timeNs", "durationMs"}


def _lines(text: str) -> list[Wire]:
    return [json.loads(line) for line in text.splitlines()]


def _timeless(path: Path) -> list[Wire]:
    """Return a recording's events without times, and with runs that are counted instead of named.

    Tools that run side by side take their stages in any order.
    """
    text = path.read_text(encoding="utf-8")
    runs = dict.fromkeys(event["meta"]["runId"] for event in _lines(text))
    for number, run in enumerate(runs):
        text = text.replace(json.dumps(run), f'"run {number}"')
    return [_without_times(event) for event in _lines(text)]


def _without_times(event: Wire) -> Wire:
    left_out = _TIMES | ({"runtimeStageId"} if _of_tools(event) else set())
    parts = {part: {k: v for k, v in event[part].items() if k not in left_out} for part in ("meta", "payload")}
    return {**event, **parts}


def _sorted(events: list[Wire]) -> list[str]:
    return sorted(json.dumps(event, sort_keys=True) for event in events)


def _of_tools(event: Wire) -> bool:
    return event["type"].startswith("agentfootprint.stream.tool_")


@pytest.fixture
def example() -> ModuleType:
    """Return the example as a module."""
    found = importlib.util.spec_from_file_location("scripted_agent", EXAMPLE)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def replayed() -> Replayed:
    """Return what the recording becomes, content and all."""
    return replay([RECORDING], capture_content=True)


def test_the_example_makes_the_bundled_recording(example: ModuleType, tmp_path: Path) -> None:
    """The same events but for ids and times.

    Where it is out of date: `examples/scripted_agent.py --record src/atifold/data/demo.jsonl`, then `make readme`.
    """
    bus = EventBus()
    with bus.record(tmp_path / "anew.jsonl"):
        example.TravelAgent(bus, pace=0).play()
    anew, bundled = _timeless(tmp_path / "anew.jsonl"), _timeless(RECORDING)
    assert _sorted(anew) == _sorted(bundled)
    # tools that run side by side start in any order
    assert [e for e in anew if not _of_tools(e)] == [e for e in bundled if not _of_tools(e)]


def test_the_recording_is_read_without_a_complaint(replayed: Replayed) -> None:
    """Every line is an event that has its place, and every span of it ends."""
    assert replayed.complaints == []
    assert replayed.events == len(RECORDING.read_bytes().splitlines())
    assert len(replayed.spans) == 13
    assert not [span for span in replayed.spans if "atifold.incomplete" in span.attributes]


def test_it_holds_what_the_demo_is_to_show(replayed: Replayed) -> None:
    """Two turns of one conversation, two tools at once of which one fails, an agent as a tool."""
    named = {span.name: span for span in replayed.spans}
    turns = [span for span in replayed.spans if span.name == "invoke_agent trip_planner"]
    assert [span.attributes["gen_ai.conversation.id"] for span in turns] == ["trip-42"] * 2
    assert len({span.trace_id for span in turns}) == 2

    weather, trains = named["execute_tool get_weather"], named["execute_tool search_trains"]
    assert max(weather.start_ns, trains.start_ns) < min(weather.end_ns, trains.end_ns)
    failed = [span.name for span in replayed.spans if "error.type" in span.attributes]
    assert (failed, trains.attributes["error.type"]) == ([trains.name], "TimeoutError")

    tool, colleague = named["execute_tool ask_hotel_expert"], named["invoke_agent hotel_expert"]
    assert (colleague.trace_id, colleague.parent_id) == (tool.trace_id, tool.span_id)
    assert {span.name for span in replayed.spans if span.parent_id == colleague.span_id} == {
        "chat claude-haiku-4-5",
        "execute_tool search_hotels",
    }


def test_it_folds_into_two_valid_documents_with_the_right_figures(replayed: Replayed) -> None:
    """Figures added up by hand from the script; tokens are a document's own, cost is with its subagents."""
    first, second = (document.trajectory for document in replayed.folded.documents)
    assert atif.check(first) == []
    assert atif.check(second) == []
    assert first["final_metrics"] == {
        "total_prompt_tokens": 412 + 548,
        "total_completion_tokens": 96 + 41,
        "total_cached_tokens": 384,
        "total_cost_usd": pytest.approx(0.003898, abs=1e-12),
        "total_steps": 4,
    }
    (colleague,) = second["subagent_trajectories"]
    assert colleague["final_metrics"] == {
        "total_prompt_tokens": 120 + 171,
        "total_completion_tokens": 22 + 24,
        "total_cost_usd": pytest.approx(0.000417, abs=1e-12),
        "total_steps": 4,
    }
    assert second["final_metrics"] == {
        "total_prompt_tokens": 633 + 742,
        "total_completion_tokens": 38 + 33,
        "total_cached_tokens": 512 + 640,
        "total_cost_usd": pytest.approx(0.001087 + 0.000993 + 0.000417, abs=1e-12),
        "total_steps": 7,
    }


def test_its_steps_are_the_script_s(replayed: Replayed) -> None:
    """Texts, reasoning, calls and results stand where the script has them."""
    first, second = (document.trajectory for document in replayed.folded.documents)
    asks = first["steps"][2]
    assert asks["message"] == "I look at the weather and the trains."
    assert asks["reasoning_content"] == "Two independent look-ups: ask for both at once."
    assert [call["function_name"] for call in asks["tool_calls"]] == ["get_weather", "search_trains"]
    results = {result["source_call_id"]: result.get("content") for result in asks["observation"]["results"]}
    assert results["call_w1"] == "Friday: light rain, 14 to 17 degrees"
    assert results["call_t1"] == "timetable service timed out after 3 s"

    copied = [step.get("is_copied_context", False) for step in second["steps"]]
    assert copied == [False, True, True, True, False, False, False]
    (answer,) = second["steps"][5]["observation"]["results"]
    assert answer["content"] == "Hôtel des Jardins: six minutes on foot, low noise, free on Friday."
    (reference,) = answer["subagent_trajectory_ref"]
    assert reference["trajectory_id"] == second["subagent_trajectories"][0]["trajectory_id"]
