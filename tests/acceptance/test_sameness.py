"""The same events in another packing give the same facts."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from story import DEMO, Story, Wire, wires, write_lines

from atifold import atif
from atifold.replay import Replayed, replay

Pack = Callable[[list[Wire]], list[Wire]]


def bytes_of(result: Replayed) -> dict[str, bytes]:
    """Return the documents' canonical JSON by name."""
    return {document.name: atif.dumps(document.trajectory) for document in result.folded.documents}


def facts_of(documents: Iterable[dict[str, Any]]) -> Counter[str]:
    """Return what the documents hold, without the ids and times that a shift changes."""
    return Counter(json.dumps(_facts(document), sort_keys=True) for document in documents)


def _facts(document: dict[str, Any]) -> dict[str, Any]:
    steps = [step for step in document["steps"] if not step.get("is_copied_context")]
    return {
        "agent": document["agent"]["name"],
        "steps": [
            [_text(step), *(step.get(key) for key in ("source", "reasoning_content", "metrics"))] for step in steps
        ],
        "calls": [
            [call["tool_call_id"], call["function_name"], call["arguments"]]
            for step in steps
            for call in step.get("tool_calls", ())
        ],
        "results": [
            [result.get("source_call_id"), result.get("content")]
            for step in steps
            for result in step.get("observation", {}).get("results", ())
        ],
        "totals": document.get("final_metrics"),
        "subagents": sorted(
            json.dumps(_facts(sub), sort_keys=True) for sub in document.get("subagent_trajectories", ())
        ),
    }


def _text(step: dict[str, Any]) -> object:
    """Return a step's message; fragments of a system prompt that came in one millisecond have no order."""
    return sorted(step["message"].split("\n\n")) if step["source"] == "system" else step["message"]


def doubled(events: list[Wire]) -> list[Wire]:
    """Return each line twice."""
    return [event for event in events for _ in range(2)]


def shuffled(seed: int) -> Pack:
    """Return a packing that shuffles the lines of each millisecond."""

    def pack(events: list[Wire]) -> list[Wire]:
        chance = random.Random(seed)  # noqa: S311  an order, no secret
        groups = [list(g) for _, g in itertools.groupby(events, key=lambda e: e["meta"]["wallClockMs"])]
        for group in groups:
            chance.shuffle(group)
        return [event for group in groups for event in group]

    return pack


PACKS: dict[str, Pack] = {
    "twice": lambda events: events + events,
    "doubled": doubled,
    **{f"shuffled-{seed}": shuffled(seed) for seed in range(5)},
}


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_another_packing_gives_the_same_documents(real_recording: Path, pack: Pack, tmp_path: Path) -> None:
    """Repeated lines are one event, and lines of one millisecond have no order to lose."""
    whole = replay([real_recording])
    other = replay([write_lines(tmp_path / "r.jsonl", pack(wires(real_recording)))])
    assert facts_of(d.trajectory for d in other.folded.documents) == facts_of(
        d.trajectory for d in whole.folded.documents
    )


def test_a_repetition_changes_no_byte_and_is_counted(recording: Path, tmp_path: Path) -> None:
    """The file twice in one file, the file named twice and each line doubled: the same bytes."""
    whole = replay([recording])
    doubled_file = write_lines(tmp_path / "r.jsonl", doubled(wires(recording)))
    for paths in ([recording, recording], [doubled_file]):
        again = replay(paths)
        assert bytes_of(again) == bytes_of(whole)
        assert again.events == whole.events
        assert again.counts["repeated"] == whole.events


def shifted(events: list[Wire], by_ms: int) -> list[Wire]:
    """Return events at other times; run ids and everything else stay."""
    moved = []
    for event in events:
        meta = {**event["meta"], "wallClockMs": event["meta"]["wallClockMs"] + by_ms}
        if "atifold.timeNs" in meta:
            meta["atifold.timeNs"] += by_ms * 1_000_000
        moved.append({**event, "meta": meta})
    return moved


def merged(first: list[Wire], second: list[Wire]) -> list[Wire]:
    """Return both at a common start, by time."""
    start = first[0]["meta"]["wallClockMs"]
    both = first + shifted(second, start - second[0]["meta"]["wallClockMs"])
    return sorted(both, key=lambda event: event["meta"]["wallClockMs"])


def trajectories(result: Replayed) -> list[dict[str, Any]]:
    """Return the documents."""
    return [document.trajectory for document in result.folded.documents]


def test_any_two_recordings_at_once_are_the_union_of_both(shared: Path, tmp_path: Path) -> None:
    """Runs that interleave on one bus have nothing of each other in them."""
    paths = [DEMO, *sorted((shared / "recordings").glob("*.jsonl"))]
    alone = {path: facts_of(trajectories(replay([path]))) for path in paths}
    wrong = []
    for first, second in itertools.combinations(paths, 2):
        file = write_lines(tmp_path / "m.jsonl", merged(wires(first), wires(second)))
        if facts_of(trajectories(replay([file]))) != alone[first] + alone[second]:
            wrong.append(f"{first.stem} and {second.stem}")
    assert wrong == []


def test_two_stories_at_once_are_the_union_of_both(tmp_path: Path) -> None:
    """Two agents whose calls have the same ids, stages, prompts and tools, event by event in turn."""
    stories = []
    for run in ("run-a", "run-b"):
        story = Story(run).turn("same prompt").asks().answers("", calls=1).starts("c1", args={"q": run}).ends("c1", run)
        stories.append(story.asks(2).answers(f"answer of {run}", 2).turn_over().disposed().events)
    alone = [trajectories(replay([write_lines(tmp_path / f"{n}.jsonl", s)])) for n, s in enumerate(stories)]
    both = replay([write_lines(tmp_path / "m.jsonl", [e for pair in zip(*stories, strict=True) for e in pair])])
    assert facts_of(trajectories(both)) == facts_of(alone[0]) + facts_of(alone[1])
    assert facts_of(alone[0]) != facts_of(alone[1])


def test_an_agent_and_a_tool_of_another_run_with_its_prompt_are_joined_only_when_one_can_be_meant(
    tmp_path: Path,
) -> None:
    """Of two open tools with the prompt among their arguments none is the parent."""
    outer = [Story(run).turn("x").asks().answers("", calls=1).starts("d", "delegate", {"task": "dig"}) for run in "ab"]
    inner = Story("c").turn("dig").asks().answers("dug").turn_over().disposed()
    for story in outer:
        story.ends("d", "dug").asks(2).answers("fin", 2).turn_over().disposed()

    def roots(*stories: Story) -> int:
        events = [event for story in stories for event in story.events]
        # The inner run happens while the tools are open.
        for event in inner.events:
            event["meta"]["wallClockMs"] = outer[0].events[3]["meta"]["wallClockMs"] + 1
        return len(replay([write_lines(tmp_path / "r.jsonl", events)]).folded.documents)

    assert roots(outer[0], inner) == 1
    assert roots(*outer, inner) == 3
