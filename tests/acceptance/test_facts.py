"""Every recording becomes the trajectories that its facts say, whatever the spans are allowed to hold."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from story import DEMO

from atifold import atif, dialects, fold, otlp
from atifold.replay import Replayed, SpanFile, replay


@pytest.fixture(scope="session")
def compare(shared: Path) -> ModuleType:
    """Return the tool that compares documents with what is known of a recording."""
    spec = importlib.util.spec_from_file_location("compare_fold", shared / "tools" / "compare_fold.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def canonical(folded: fold.Folded) -> dict[str, bytes]:
    """Return the documents' canonical JSON by name."""
    return {document.name: atif.dumps(document.trajectory) for document in folded.documents}


def write(folded: fold.Folded, folder: Path) -> Path:
    """Write the documents as the command line does."""
    folder.mkdir(exist_ok=True)
    for name, data in canonical(folded).items():
        (folder / f"{name}.json").write_bytes(data)
    return folder


def replayed(path: Path, spans: Path, **how: Any) -> tuple[Replayed, fold.Folded]:
    """Return a replay and the fold of the spans that it exported."""
    result = replay([path], exporters=[SpanFile(spans)], **how)
    return result, fold.fold(dialects.read(otlp.read([spans]).spans))


def test_each_recording_folds_to_its_facts(compare: ModuleType, real_recording: Path, tmp_path: Path) -> None:
    """The documents hold the calls, tools, texts, tokens and cost that the events say."""
    result = replay([real_recording])
    expected = json.loads(real_recording.with_suffix(".expect.json").read_text(encoding="utf-8"))
    facts = compare.facts_of(write(result.folded, tmp_path))
    assert compare.compare(expected, facts, json.dumps(result.folded.report)) == []
    assert result.complaints == []


def test_the_demo_folds_to_what_its_script_says() -> None:
    """Two turns of one session: six inferences with their tokens and cost, four tools of which one fails."""
    documents = [document.trajectory for document in replay([DEMO]).folded.documents]
    agents = [*documents, *(sub for doc in documents for sub in doc.get("subagent_trajectories", ()))]
    said = [step for doc in agents for step in doc["steps"] if step["source"] == "agent"]
    steps = [step for step in said if not step.get("is_copied_context")]
    assert len(documents) == 2
    assert len(steps) == 6
    assert sum(step["metrics"]["prompt_tokens"] for step in steps) == 412 + 548 + 633 + 742 + 120 + 171
    assert sum(step["metrics"]["cost_usd"] for step in steps) == pytest.approx(0.006395)
    calls = [call["function_name"] for step in steps for call in step.get("tool_calls", ())]
    assert sorted(calls) == ["ask_hotel_expert", "get_weather", "search_hotels", "search_trains"]


@pytest.mark.parametrize("name", ["fileObservability.ndjson", "envelope/run-1796035692448-35.json"])
def test_the_other_forms_of_a_recording_agree_with_the_facts(
    compare: ModuleType, shared: Path, name: str, tmp_path: Path
) -> None:
    """A file sink's NDJSON and a recorder's envelope say the same as JSON Lines would."""
    known = json.loads((shared / "recordings" / "facts.json").read_text(encoding="utf-8"))[name]
    result = replay([shared / "recordings" / name])
    facts = compare.facts_of(write(result.folded, tmp_path))
    assert result.events == known["events"]
    assert facts["user_messages"] == [turn["prompt"] for turn in known["turns"]]
    assert facts["agent_messages"] == [call["content"] for call in known["llm_calls"]]
    assert facts["prompt_tokens"] == known["tokens"]["input"]
    assert facts["completion_tokens"] == known["tokens"]["output"]
    assert facts["model_calls"] == len(known["llm_calls"])
    assert facts["tool_calls"] == known["tool_calls"] == []


def test_spans_with_content_fold_to_the_same_documents(recording: Path, tmp_path: Path) -> None:
    """The exported spans alone give the same names and the same bytes as the side door."""
    result, again = replayed(recording, tmp_path / "s.jsonl", capture_content=True)
    assert canonical(again) == canonical(result.folded)
    assert canonical(again)


LIMITS = {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "8", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": "10"}


@pytest.mark.parametrize("environment", [LIMITS, {"OTEL_TRACES_SAMPLER": "always_off"}], ids=["limits", "sampler"])
@pytest.mark.filterwarnings("ignore")
def test_no_limit_and_no_sampler_changes_a_document(
    recording: Path, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the spans may hold is no matter of the trajectory's."""
    free = canonical(replay([recording]).folded)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result, poor = replayed(recording, tmp_path / "s.jsonl", capture_content=True)
    assert canonical(result.folded) == free
    assert canonical(poor) != free, "the setting had no effect on the spans"


def test_spans_without_content_fold_to_all_the_rest(compare: ModuleType, real_recording: Path, tmp_path: Path) -> None:
    """Calls, tools, tokens, cost and errors are there, and the report says that content was not captured."""
    result, bare = replayed(real_recording, tmp_path / "s.jsonl")
    poor, rich = (
        compare.facts_of(write(folded, tmp_path / name)) for name, folded in (("a", bare), ("b", result.folded))
    )
    for fact in ("root_trajectories", "prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "model_calls"):
        assert poor[fact] == rich[fact], fact
    # A call that was asked for and never started is nowhere but in content.
    started = [call for call in rich["tool_calls"] if call["result"] is not None or call["error"]]
    assert [(c["id"], c["name"], c["error"]) for c in poor["tool_calls"]] == [
        (c["id"], c["name"], c["error"]) for c in started
    ]
    assert poor["subagents"] == rich["subagents"]


def test_a_fold_without_content_is_valid_and_says_so(recording: Path, tmp_path: Path) -> None:
    """The documents pass the check, nobody's texts are in them, and each report names what was not captured."""
    _, bare = replayed(recording, tmp_path / "s.jsonl")
    assert bare.documents
    for document in bare.documents:
        assert [f for f in atif.check(document.trajectory) if f.severity == "error"] == []
        assert all(step["message"] == "" for step in document.trajectory["steps"])
        assert "not captured" in json.dumps(document.report)


def test_every_document_passes_the_check(recording: Path) -> None:
    """A replayed trajectory has no finding at all."""
    for document in replay([recording]).folded.documents:
        assert atif.check(document.trajectory) == []
