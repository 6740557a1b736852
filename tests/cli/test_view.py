"""The short view of a trajectory that people see."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from atifold.cli.figures import duration, money
from atifold.cli.view import trajectory_view
from atifold.cli.words import line

DOCUMENT: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "agent": {"name": "planner", "version": "1", "model_name": "mock-large"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Weather in Paris?"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "reasoning_content": "I need two facts.",
            "tool_calls": [
                {"tool_call_id": "w", "function_name": "get_weather", "arguments": {"city": "Paris"}},
                {"tool_call_id": "d", "function_name": "flaky_db", "arguments": {}, "extra": {"is_error": True}},
                {"tool_call_id": "n", "function_name": "never", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "w", "content": "18C"},
                    {"source_call_id": "d", "content": "connection refused"},
                ]
            },
            "metrics": {"prompt_tokens": 1200, "completion_tokens": 30},
        },
        {"step_id": 3, "source": "agent", "message": [{"type": "text", "text": "18C."}, {"type": "image"}]},
    ],
    "final_metrics": {"total_cost_usd": 0.5},
}


def shown(document: dict[str, Any], width: int = 80) -> str:
    """Return what a console without colours shows of a document."""
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(trajectory_view(document))
    return "\n".join(text.rstrip() for text in out.getvalue().splitlines())


def test_a_view_has_a_line_a_step() -> None:
    """Who said what, which tools ran and how, and what it took."""
    assert shown(DOCUMENT).splitlines() == [
        "planner: mock-large, 3 steps, $0.50",
        "  #  who    what                                  tools                in  out",
        "  1  user   Weather in Paris?",
        "  2  agent  I need two facts.                     get_weather: ok   1,200   30",
        "                                                  flaky_db: error",
        "                                                  never: no result",
        "  3  agent  18C. [image]",
    ]


def test_a_step_without_words_shows_what_it_asked_for() -> None:
    """A call says more than an empty message."""
    calls = [{"tool_call_id": "1", "function_name": "search", "arguments": {"q": "cats"}}]
    document = {**DOCUMENT, "steps": [{"step_id": 1, "source": "agent", "message": "", "tool_calls": calls}]}
    assert 'search {"q":"cats"}' in shown(document)


def test_a_step_that_only_refers_to_a_subagent_shows_who_ran() -> None:
    """Its message is empty, for nobody said it."""
    step = {"step_id": 1, "source": "system", "message": "", "extra": {"atifold": {"member": "legal"}}}
    assert "Ran legal." in shown({**DOCUMENT, "steps": [step]})


def test_long_messages_are_cut_at_sixty_signs() -> None:
    """Sixty signs fit, of sixty-one the last two become an ellipsis."""
    for length, expected in ((60, "x" * 60), (61, "x" * 59 + "…")):
        document = {**DOCUMENT, "steps": [{"step_id": 1, "source": "user", "message": "x" * length}]}
        assert expected in shown(document, 200).split()


def test_copied_steps_are_one_line() -> None:
    """What another document tells in full is only counted here."""
    copied = [{**step, "is_copied_context": True} for step in DOCUMENT["steps"][:2]]
    lines = shown({**DOCUMENT, "steps": [*copied, DOCUMENT["steps"][2]]}).splitlines()
    assert lines[2].split("  ")[-1] == "2 steps, copied from before"
    assert lines[2].split()[:2] == ["1-2", "earlier"]
    assert lines[3].split()[:2] == ["3", "agent"]


def test_subagents_stand_indented_below_their_caller() -> None:
    """Embedded trajectories are shown too, with their own steps."""
    inner = {**DOCUMENT, "agent": {"name": "researcher"}, "subagent_trajectories": None}
    lines = shown({**DOCUMENT, "subagent_trajectories": [inner]}).splitlines()
    assert "    subagent researcher: 3 steps, $0.50" in lines
    assert sum("Weather in Paris?" in text for text in lines) == 2


def test_a_cost_that_includes_subagents_says_so() -> None:
    """Tokens are of the document's own steps, the cost is of all: without a word they would not fit together."""
    document = {**DOCUMENT, "final_metrics": {"total_prompt_tokens": 5, "total_cost_usd": 0.5}}
    for inner, words in (([], "$0.50"), ([{}], "$0.50 with its subagent"), ([{}, {}], "$0.50 with its 2 subagents")):
        headline = shown({**document, "subagent_trajectories": inner}, 120).splitlines()[0]
        assert headline == f"planner: mock-large, 3 steps, 5 tokens in, {words}"


def test_a_headline_breaks_before_its_figures() -> None:
    """Where one line does not hold both, who it was stands above what it took."""
    document = {**DOCUMENT, "final_metrics": {"total_prompt_tokens": 1_375, "total_cost_usd": 0.5}}
    assert shown(document, 60).splitlines()[0] == "planner: mock-large, 3 steps, 1,375 tokens in, $0.50"
    assert shown(document, 50).splitlines()[:2] == ["planner: mock-large, 3 steps,", "  1,375 tokens in, $0.50"]


@pytest.mark.parametrize(
    ("ours", "words"),
    [({"state": "paused"}, ", paused"), ({"incomplete": ["run_open"]}, ", incomplete: run_open"), ({}, "$0.50")],
)
def test_an_unfinished_document_says_so(ours: dict[str, Any], words: str) -> None:
    """The headline ends in the state of the document, and in nothing where it is finished."""
    headline = shown({**DOCUMENT, "extra": {"atifold": ours}}, 120).splitlines()[0]
    assert headline.endswith(words)


def test_a_document_of_wrong_shape_is_shown_as_far_as_it_goes() -> None:
    """The view is for people: it shows what there is, and `check` says what is wrong."""
    assert shown({"agent": 3, "steps": "none", "extra": []}).startswith("unknown: 0 steps")


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0.0 ms"),
        (61_000_000, "61 ms"),
        (999_000_000, "999 ms"),
        (1_000_000_000, "1.0 s"),
        (59_900_000_000, "59.9 s"),
        (61_000_000_000, "1 min 1 s"),
        (-5, "0.0 ms"),
        (None, "open"),
    ],
)
def test_durations_have_the_unit_that_suits_them(nanoseconds: int | None, text: str) -> None:
    """From parts of a millisecond to minutes; a clock that went back took no time."""
    assert duration(nanoseconds) == text


@pytest.mark.parametrize(("usd", "text"), [(0.00081, "$0.00081"), (12, "$12.00"), (0.5, "$0.50"), (0, "$0.00")])
def test_money_has_two_digits_or_as_many_as_it_needs(usd: float, text: str) -> None:
    """A price of a few hundredths of a cent is no zero."""
    assert money(usd).plain == text


def test_a_line_is_one_line() -> None:
    """Line breaks, control signs and runs of spaces become one space."""
    assert line("a\n b\x1b\x00  c") == "a b c"
