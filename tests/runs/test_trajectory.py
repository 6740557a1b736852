"""A trajectory's record: expectations that were computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ledgers import Repo

from atifold.runs.fields import RecordFields, read
from atifold.runs.trajectory import Said, fields_of


def step(source: str = "agent", **more: Any) -> dict[str, Any]:
    """Return a step."""
    return {"step_id": 1, "source": source, "message": "", **more}


def call(prompt: int | None = None, completion: int | None = None, **more: Any) -> dict[str, Any]:
    """Return an inference with its metrics: `cached`, `written`, `cost` and fields of the step."""
    told = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cached_tokens": more.pop("cached", None),
        "cost_usd": more.pop("cost", None),
        "extra": {"cache_creation_input_tokens": more.pop("written", None), "cost_source": more.pop("priced", None)},
    }
    told["extra"] = {key: value for key, value in told["extra"].items() if value is not None}
    metrics = {key: value for key, value in told.items() if value not in (None, {})}
    return step(**({"metrics": metrics} if metrics else {}), **more)


def document(*steps: dict[str, Any], name: str = "cook", **more: Any) -> dict[str, Any]:
    """Return a trajectory."""
    agent = {"name": name, "version": "unknown", "model_name": "large"}
    return {"schema_version": "ATIF-v1.7", "trajectory_id": "t-1", "agent": agent, "steps": list(steps), **more}


def recorded(trajectory: dict[str, Any], **said: str) -> dict[str, Any]:
    """Return the fields, which the ledger accepts."""
    found = fields_of(trajectory, Said(**said))
    read(RecordFields, found)
    return found


def test_the_least_says_the_least() -> None:
    """Nothing is made up: no tokens, no cost, no times."""
    assert recorded(document(step("user"))) == {
        "id": "t-1",
        "harness": {"name": "cook"},
        "model": "large",
        "usage": {"turns": 1},
    }


def test_the_four_counts_do_not_overlap() -> None:
    """Input is the prompt without what came from the cache or went into it; steps without a count add nothing."""
    found = recorded(
        document(
            step("user"),
            call(1000, 50, cached=600, written=100, cost=0.25),
            call(200, 20, cost=0.5),
            call(None, 5, cost=0.125),
        )
    )
    counts = {"inputTokens": 500, "outputTokens": 75, "cacheReadTokens": 600, "cacheWriteTokens": 100}
    cost = {"amount": 0.875, "currency": "USD", "source": "harness:cook"}
    assert found["usage"] == {"turns": 1, **counts}
    assert found["models"] == [{"model": "large", **counts, "cost": cost}]
    assert found["cost"] == cost


def test_subagents_and_models_are_told_apart_and_summed_up() -> None:
    """By model and provider, in the order of their calls, wherever they were asked; turns are the user's alone."""
    sub = document(
        step("user"),
        call(30, 3, model_name="small", extra={"provider": "b"}, cost=0.03),
        call(40, 4, cost=0.04),
        name="helper",
        subagent_trajectories=[document(call(50, 5, cached=50, model_name="small", cost=0.05))],
    )
    found = recorded(
        document(
            step("user"),
            call(10, 1, extra={"provider": "a"}, cost=0.01),
            step("user"),
            call(20, 2, extra={"provider": "a"}, cost=0.02),
            subagent_trajectories=[sub],
        )
    )
    assert found["usage"] == {"turns": 2, "inputTokens": 100, "outputTokens": 15, "cacheReadTokens": 50}
    assert found["cost"]["amount"] == 0.15
    told = [
        (each["model"], each.get("provider"), each["inputTokens"], each["cost"]["amount"]) for each in found["models"]
    ]
    assert told == [
        ("large", "a", 30, 0.03),
        ("small", "b", 30, 0.03),
        ("large", None, 40, 0.04),
        ("small", None, 0, 0.05),
    ]


def test_an_unknown_cost_leaves_the_sum_unknown() -> None:
    """Of the whole and of its model; the other model's is known. Never zero, never a part."""
    found = recorded(document(call(10, 1, cost=0.5), call(10, 1, model_name="small")))
    assert "cost" not in found
    assert [each.get("cost", {}).get("amount") for each in found["models"]] == [0.5, None]
    nested = document(call(10, 1, cost=0.5), subagent_trajectories=[document(call(10, 1))])
    assert "cost" not in recorded(nested)


def test_calls_of_no_tokens_cost_nothing() -> None:
    """They count as zero where zero was told, and leave the sum known; a price of zero is a price."""
    found = recorded(document(call(0, 0), call(10, 1, cost=0.5)))
    assert found["usage"] == {"turns": 0, "inputTokens": 10, "outputTokens": 1}
    assert found["cost"]["amount"] == 0.5
    assert recorded(document(call(10, 1, cost=0.0)))["cost"]["amount"] == 0
    assert "cost" not in recorded(document(call(0, 0)))


def test_copied_steps_and_steps_without_a_model_count_for_nothing() -> None:
    """Neither as turns nor as tokens nor as models."""
    copied = [step("user", is_copied_context=True), call(99, 9, cost=9.0, is_copied_context=True)]
    nudge = step("user", extra={"atifold": {"origin": "framework"}})
    found = recorded(document(*copied, step("user"), nudge, call(10, 1), step(llm_call_count=0, model_name="none")))
    assert found["usage"] == {"turns": 1, "inputTokens": 10, "outputTokens": 1}
    assert [each["model"] for each in found["models"]] == ["large"]


def test_an_incomplete_trajectory_says_what_it_holds() -> None:
    """Its totals are those of its steps, whatever the document says it should have; it is not done."""
    final = {"total_prompt_tokens": 999, "total_cost_usd": 9.0, "total_steps": 40}
    told = document(call(10, 1, cost=0.5), final_metrics=final, extra={"atifold": {"incomplete": ["never ended: x"]}})
    found = recorded(told)
    assert (found["usage"]["inputTokens"], found["cost"]["amount"], found["outcome"]) == (10, 0.5, "not_done")


def test_totals_stand_in_where_no_step_tells_any() -> None:
    """As another writer's documents may have them."""
    final = {"total_prompt_tokens": 100, "total_completion_tokens": 7, "total_cached_tokens": 60, "total_cost_usd": 0.5}
    found = recorded(document(step("user"), step(), final_metrics=final))
    assert found["usage"] == {"turns": 1, "inputTokens": 40, "outputTokens": 7, "cacheReadTokens": 60}
    assert found["cost"]["amount"] == 0.5


@pytest.mark.parametrize(
    ("extra", "outcome"),
    [
        (None, None),
        ({"atifold": {}}, "done"),
        ({"atifold": {"state": "paused"}}, "not_done"),
        ({"error": {"type": "Timeout"}, "atifold": {}}, "failed"),
        ({"error": {"type": "Timeout"}}, "failed"),
    ],
)
def test_the_outcome_is_what_is_known(extra: Any, outcome: str | None) -> None:
    """Only our own documents say that nothing was left open; what is given wins."""
    trajectory = document(step(), **({"extra": extra} if extra is not None else {}))
    assert recorded(trajectory).get("outcome") == outcome
    assert recorded(trajectory, outcome="cancelled")["outcome"] == "cancelled"


def test_who_is_told_by_the_document_first() -> None:
    """Then by the caller, then by the agent's name."""
    ours = {"harness": {"name": "h", "version": "2"}, "by": "ada", "provider": "p"}
    said = {"harness": "other", "by": "bob", "provider": "q", "cost_source": "list:1"}
    found = recorded(document(call(1, 1, cost=1.0), extra={"atifold": ours}), **said)
    assert (found["harness"], found["by"], found["provider"]) == (ours["harness"], "ada", "p")
    found = recorded(document(call(1, 1, cost=1.0), session_id="s-1"), **said)
    assert (found["harness"], found["by"], found["provider"], found["agent"]) == ("other", "bob", "q", "s-1")
    assert found["cost"]["source"] == "list:1"


def test_prices_say_where_they_are_from() -> None:
    """All lists that the steps name."""
    found = recorded(document(call(1, 1, cost=1.0, priced="b"), call(1, 1, cost=1.0, priced="a")))
    assert found["cost"]["source"] == "cook:a+b"


def test_times_are_the_first_and_the_last() -> None:
    """Of all steps, subagents' too, by what they mean and not by how they are written; others are passed over."""
    sub = document(step(timestamp="2026-11-30T10:00:00.5+01:00"), step(timestamp="soon"))
    found = recorded(
        document(
            step(timestamp="2026-11-30T09:30:00Z", extra={"atifold": {"time": "2026-11-30T09:10:00Z"}}),
            step(timestamp="2026-11-30T09:45:00.000001Z"),
            step(timestamp="2020-01-01T00:00:00Z", is_copied_context=True),
            subagent_trajectories=[sub],
        )
    )
    assert (found["startedAt"], found["endedAt"]) == ("2026-11-30T10:00:00.5+01:00", "2026-11-30T09:45:00.000001Z")


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("t-1.x_Y", "t-1.x_Y"),
        ("a" * 100, "a" * 100),
        ("a" * 101, f"{'a' * 90}-"),
        ("-x/ä", "x__-"),
        ("", None),
        (7, None),
    ],
)
def test_a_trajectory_s_id_becomes_the_run_s(name: Any, run: str | None) -> None:
    """Where it does not fit it ends in digits of its hash; where there is none the ledger makes one."""
    found = recorded({**document(step()), "trajectory_id": name}).get("id")
    assert found == run or (run is not None and found is not None and found.startswith(run))


def test_odd_documents_are_read_as_far_as_they_go() -> None:
    """Whatever stands where something else is wanted."""
    for odd in (None, 1, "x", [], {}, [None], True):
        told = {"agent": odd, "steps": [{"metrics": odd, "extra": odd, "source": odd, "timestamp": odd}], "extra": odd}
        recorded({**told, "final_metrics": odd, "subagent_trajectories": odd, "session_id": odd})
    recorded(document(call(-1, 2**60, cost=float("nan"), cached=10, written=5)))


def test_a_workflow_has_the_turns_of_its_members() -> None:
    """No step of its own is of a user: of those that were asked, what one of them was asked at most."""
    members = [document(step("user"), call(1, 1)), document(step("user"), call(1, 1), step("user"))]
    assert recorded(document(subagent_trajectories=members))["usage"]["turns"] == 2


def test_the_command_maps_and_pins_the_file(repo: Repo) -> None:
    """Hash and bytes are those of the file as it lies there; options add what it cannot say."""
    told = document(step("user", timestamp="2026-11-30T10:00:00Z"), call(10, 1, cost=0.5), session_id="s-1")
    path = repo.folder / "told.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    commit = repo.commit("told")
    said = [
        "--outcome",
        "done",
        "--commit",
        commit,
        "--unit",
        "U-1",
        "--by",
        "ada",
        "--harness",
        "h",
        "--provider",
        "p",
    ]
    run = repo.runs("record", "--trajectory", "told.json", "--id", "r-1", *said, "--cost-source", "list").document[
        "run"
    ]
    wanted = {"id": "r-1", "outcome": "done", "by": "ada", "provider": "p", "agent": "s-1", "endedAt": run["startedAt"]}
    assert {name: run[name] for name in wanted} == wanted
    assert (run["harness"], run["unit"]) == ({"name": "h", "version": None}, {"id": "U-1", "kind": None})
    assert ([each["sha"] for each in run["commits"]], run["cost"]["source"]) == ([commit], "list")
    assert (run["transcript"]["bytes"], run["transcript"]["ref"]) == (path.stat().st_size, "told.json")
    again = repo.runs("record", "--trajectory", "told.json", "--id", "r-1")
    assert again.error == "run-exists"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"steps": 1}'])
def test_what_is_no_trajectory_is_refused(repo: Repo, text: str) -> None:
    """By the file's name."""
    (repo.folder / "told.json").write_text(text, encoding="utf-8")
    answer = repo.runs("record", "--trajectory", "told.json")
    assert answer.error == "write-input-invalid"
    assert "told.json" in answer.stderr


def test_the_recordings_sum_up_to_what_their_events_say(shared: Path, tmp_path: Path) -> None:
    """Each becomes a record that the ledger takes; that of the reference's example has the example's figures."""
    from atifold.replay import replay  # noqa: PLC0415 - the SDK, for this test alone

    for recording in sorted((shared / "recordings").glob("*.jsonl")):
        for made in replay([recording]).folded.documents:
            recorded(made.trajectory)
    (example,) = replay([shared / "recordings" / "02-tool-loop.jsonl"]).folded.documents
    expected = json.loads(
        (shared / "reference" / "chant" / "examples" / "record-input.json").read_text(encoding="utf-8")
    )
    found = recorded(example.trajectory, cost_source="agentfootprint:demo-pricing-2026-11")
    for name in ("usage", "models", "cost", "model", "agent", "outcome"):
        assert found[name] == expected[name]
