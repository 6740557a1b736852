"""Spans by the names that older readers know, and costs by foreign ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from meters import asks
from story import Story, play

from atifold import dialects, fold, semconv
from atifold.emit.spellings import COSTS, OLDER, spelling
from atifold.settings import SETTINGS

USAGE = {"input": 100, "output": 20, "cacheRead": 60, "cacheWrite": 5}
SYSTEM, CREATED = "gen_ai.system", "gen_ai.usage.cache_creation.input_tokens"
BESIDE = {
    "gen_ai.usage.prompt_tokens": 100,
    "gen_ai.usage.completion_tokens": 20,
    "gen_ai.usage.cache_read_input_tokens": 60,
    "gen_ai.usage.cache_creation_input_tokens": 5,
}
NEW = {semconv.USAGE_INPUT: 100, semconv.USAGE_OUTPUT: 20, semconv.USAGE_CACHE_READ: 60}


def run(*, cost: float | None = None, provider: str = "xai") -> Story:
    """Return a run with cached tokens, a retrieval, and a cost where one is known."""
    story = asks(Story().turn(), provider=provider).answers(usage=USAGE)
    if cost is not None:
        story.tell("cost.tick", {"estimatedUsd": cost}, stage="call-llm#1")
    return story.tell("memory.retrieved", {"k": 3}).turn_over()


def missing(attributes: dict[str, Any], *names: str) -> bool:
    """Tell whether none of the names is there."""
    return not set(names) & set(attributes)


@pytest.mark.parametrize("slow_lane", [False, True])
def test_both_writes_older_names_beside_the_new(slow_lane: bool) -> None:
    """A provider's value is spelled as it was then."""
    result = play(run(), slow_lane=slow_lane, spelling=spelling("both"))
    chat = result.named("chat m-1").attributes
    wanted = {**NEW, **BESIDE, semconv.PROVIDER: "x_ai", SYSTEM: "xai", semconv.USAGE_CACHE_WRITE: 5, CREATED: 5}
    assert {name: chat.get(name) for name in wanted} == wanted
    retrieval = result.named("retrieval").attributes
    assert retrieval[semconv.RETRIEVAL_TOP_K] == 3
    assert retrieval["gen_ai.request.top_k"] == 3.0
    assert isinstance(retrieval["gen_ai.request.top_k"], float)


@pytest.mark.parametrize("slow_lane", [False, True])
def test_compat_writes_older_names_instead(slow_lane: bool) -> None:
    """From the span's start on; names that every reader since 1.27 knows stay."""
    result = play(run(), slow_lane=slow_lane, spelling=spelling("compat"))
    chat = dict(result.named("chat m-1").attributes)
    wanted = {**NEW, **BESIDE, SYSTEM: "xai", CREATED: 5}
    assert {name: chat.get(name) for name in wanted} == wanted
    assert missing(chat, semconv.PROVIDER, semconv.USAGE_CACHE_WRITE)
    assert missing(dict(result.named("retrieval").attributes), semconv.RETRIEVAL_TOP_K)


def test_side_doors_keep_the_new_names() -> None:
    """What goes to a trajectory is not for older readers."""
    result = play(run(), spelling=spelling("compat", "openlit"))
    plain = play(run())
    assert result.record("chat m-1").attributes == plain.record("chat m-1").attributes


def test_latest_and_no_cost_name_is_no_work() -> None:
    """The default writes spans as they are."""
    assert spelling() is None
    assert spelling("latest", "none") is None


@pytest.mark.parametrize("names", ["compat", "both"])
def test_older_names_fold_to_the_same_trajectory(names: Any) -> None:
    """Nothing is counted twice and nothing is lost by them."""

    def folded(result: Any) -> list[Any]:
        return [json.loads(json.dumps(d.trajectory)) for d in fold.fold(dialects.read(result.exported)).documents]

    story = run(provider="openai")
    plain = play(story, ids=None)
    spelled = play(story, spelling=spelling(names))
    assert [d["final_metrics"] for d in folded(spelled)] == [d["final_metrics"] for d in folded(plain)]
    (steps,) = [[step.get("metrics") for step in d["steps"]] for d in folded(spelled)]
    assert steps == [step.get("metrics") for step in folded(plain)[0]["steps"]]


# ---- cost ----------------------------------------------------------------------------------------

FOREIGN = {
    "none": {},
    "proposal": {
        "gen_ai.usage.cost.amount": 0.5,
        "gen_ai.usage.cost.currency": "USD",
        "gen_ai.usage.cost.source": "local",
    },
    "openinference": {"llm.cost.total": 0.5},
    "openlit": {"gen_ai.usage.cost": 0.5},
    "logfire": {"operation.cost": 0.5},
}


@pytest.mark.parametrize("names", FOREIGN)
def test_costs_have_a_foreign_name_where_one_is_chosen(names: Any) -> None:
    """Beside our own, on the inference alone."""
    result = play(run(cost=0.5), spelling=spelling("latest", names))
    plain = play(run(cost=0.5))
    for span in plain:
        if span.name == "retrieval" or span.name.startswith("invoke_agent"):
            assert result.named(span.name).attributes == span.attributes
    chat, before = (dict(r.named("chat m-1").attributes) for r in (result, plain))
    assert {name: value for name, value in chat.items() if name not in before} == FOREIGN[names]
    assert chat[semconv.COST_USD] == 0.5


@pytest.mark.parametrize("names", [names for names in FOREIGN if names != "none"])
def test_an_unknown_cost_is_no_zero(names: Any) -> None:
    """Nothing is written; a cost that is known to be nothing is 0."""
    chat = play(run(), spelling=spelling("latest", names)).named("chat m-1").attributes
    assert missing(dict(chat), *FOREIGN[names])
    free = play(run(cost=0.0), spelling=spelling("latest", names)).named("chat m-1").attributes
    assert 0.0 in [free[name] for name in FOREIGN[names]]


# ---- the tables ----------------------------------------------------------------------------------


def test_every_choice_of_the_settings_has_its_rows() -> None:
    """And no row is one that cannot be chosen."""
    (row,) = [row for row in SETTINGS if row.name == "cost_names"]
    for names in COSTS:
        assert row.parse(names) == names
    assert {*COSTS, "none"} == set(FOREIGN)


def test_every_older_name_is_one_that_readers_are_known_to_accept(shared: Path) -> None:
    """From a name of the conventions to one of the table of aliases."""
    reference = shared / "reference" / "semconv"
    known = json.loads((reference / "genai-current-compiled.json").read_text("utf-8"))["attributes"]
    aliases = json.loads((reference / "aliases-for-readers.json").read_text("utf-8"))
    for row in OLDER:
        assert row.name in known, row.name
        assert any(row.older == alias.split()[0] for alias in aliases[row.name]), row.older
