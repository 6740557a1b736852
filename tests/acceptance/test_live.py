"""A program's trajectories are the same, written live, by a replay of its recording, and from its spans."""

from __future__ import annotations

import importlib.util
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from story import Story, write_lines

from atifold import EventBus, atif, dialects, fold, instrument, otlp
from atifold.replay import SpanFile, replay

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "scripted_agent.py"


@pytest.fixture
def played(tmp_path: Path) -> tuple[list[dict[str, Any]], Path]:
    """Return (the documents that the scripted agent wrote live, the recording that ran beside it)."""
    spec = importlib.util.spec_from_file_location("scripted_agent", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    provider, recording = TracerProvider(), tmp_path / "r.jsonl"
    bus = instrument(provider, directory=tmp_path / "live", bus=EventBus())
    with bus.record(recording):
        module.TravelAgent(bus, pace=0.01).play()
    provider.shutdown()
    found = [json.loads(path.read_bytes()) for path in (tmp_path / "live").glob("*.json")]
    return sorted(found, key=lambda document: str(document["steps"][-1]["timestamp"])), recording


def facts(documents: list[dict[str, Any]]) -> str:
    """Return documents as JSON text in which each trace and span id is the number of its first appearance."""
    seen: dict[str, str] = {}
    text = "\n".join(atif.dumps(document).decode() for document in documents)
    ids = sorted({i for document in documents for i in document["extra"]["atifold"]["trace_ids"]})
    for trace_id in ids:  # a document's name ends in the head of its trace's id
        text = re.sub(rf'-{trace_id[:8]}(?=(\.json)?")', f"-{trace_id}", text)
    return re.sub(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b", lambda m: seen.setdefault(m[0], f"#{len(seen)}"), text)


def test_a_live_run_and_the_replay_of_its_recording_tell_the_same(
    played: tuple[list[dict[str, Any]], Path], tmp_path: Path
) -> None:
    """To the byte, but for trace and span ids; and the exported spans alone fold to what the replay does."""
    live, recording = played
    spans = tmp_path / "s.jsonl"
    result = replay([recording], exporters=[SpanFile(spans)], capture_content=True, files=True)
    documents = [document.trajectory for document in result.folded.documents]
    assert facts(live) == facts(documents)
    assert [len(document["steps"]) for document in documents] == [4, 7]
    again = fold.fold(dialects.read(otlp.read([spans]).spans), files=True)
    assert [(d.name, atif.dumps(d.trajectory)) for d in again.documents] == [
        (d.name, atif.dumps(d.trajectory)) for d in result.folded.documents
    ]


def test_calls_of_one_batch_stand_in_the_order_of_the_models_message(tmp_path: Path) -> None:
    """In whatever order the events of one millisecond come."""
    asked = [{"id": call_id, "name": "look_up", "args": {"q": call_id}} for call_id in ("w", "c", "a")]
    story = Story().turn().asks().answers("t", calls=3)
    batch = len(story.events)
    for call in asked:
        story.starts(str(call["id"]), args=call["args"]).ends(str(call["id"]), f"r-{call['id']}")
    history = [{"role": "user", "content": "What now?"}, {"role": "assistant", "content": "t", "toolCalls": asked}]
    story.tell("agent.iteration_end", {"iterIndex": 1, "toolCallCount": 3, "history": history})
    for event in story.events[batch:-1]:
        event["meta"]["wallClockMs"] = story.events[batch]["meta"]["wallClockMs"]
    story.asks(2).answers("Done.", 2).turn_over().disposed()
    chance = random.Random(1)  # noqa: S311  any order will do, the same in every run
    for number in range(20):
        events = list(story.events)
        middle = events[batch : batch + 6]
        events[batch : batch + 6] = chance.sample(middle, 6) if number else middle
        (document,) = replay([write_lines(tmp_path / "r.jsonl", events)]).folded.documents
        calls = [call for step in document.trajectory["steps"] for call in step.get("tool_calls", ())]
        results = [r for step in document.trajectory["steps"] for r in step.get("observation", {}).get("results", ())]
        assert [call["tool_call_id"] for call in calls] == ["w", "c", "a"]
        assert [result["content"] for result in results] == ["r-w", "r-c", "r-a"]
