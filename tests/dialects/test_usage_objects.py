"""Token counts that stand together in one object, in the spelling of whoever wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from atifold.calls import ModelCall
from atifold.dialects.usage_objects import put_usage
from atifold.spans import Span


def counts(prompt: int, completion: int, **more: int) -> dict[str, int]:
    """Return the fields that a usage object feeds."""
    return {f"usage.{name}": count for name, count in {"prompt": prompt, "completion": completion, **more}.items()}


SPELLINGS = [
    pytest.param(
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 8},
        },
        counts(100, 20, cached=64, reasoning=8),
        id="OpenAI chat: sums with their parts",
    ),
    pytest.param(
        {
            "input_tokens": 100,
            "output_tokens": 20,
            "input_tokens_details": {"cached_tokens": 64},
            "output_tokens_details": {"reasoning_tokens": 8},
        },
        counts(100, 20, cached=64, reasoning=8),
        id="OpenAI responses: sums with their parts",
    ),
    pytest.param(
        {
            "input_tokens": 100,
            "output_tokens": 20,
            "input_token_details": {"cache_read": 64, "cache_creation": 4},
            "output_token_details": {"reasoning": 8},
        },
        counts(100, 20, cached=64, cache_write=4, reasoning=8),
        id="LangChain: sums with their parts",
    ),
    pytest.param(
        {"input_tokens": 32, "output_tokens": 20, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 4},
        counts(100, 20, cached=64, cache_write=4),
        id="Anthropic itself: the cache is beside the input",
    ),
    pytest.param(
        {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "cache_read_input_tokens": 64},
        counts(100, 20, cached=64),
        id="MLflow: the same name, but a sum",
    ),
    pytest.param(
        {"prompt_token_count": 100, "candidates_token_count": 12, "thoughts_token_count": 8},
        counts(100, 20, reasoning=8),
        id="Gemini: thoughts are beside the candidates",
    ),
    pytest.param(
        {"input": 36, "output": 12, "input_cache_read": 64, "output_reasoning": 8, "total": 120},
        counts(100, 20, cached=64, reasoning=8),
        id="Langfuse: buckets that add up to the total",
    ),
    pytest.param(
        {"input": 100, "output": 20, "input_cached_tokens": 64, "output_reasoning_tokens": 8, "total": 120},
        counts(100, 20, cached=64, reasoning=8),
        id="Langfuse: a total of the sums alone",
    ),
    pytest.param({"prompt_tokens": "100", "completion_tokens": 20.0}, counts(100, 20), id="texts and doubles"),
    pytest.param({"prompt_tokens": None, "completion_tokens": -1, "input_tokens": [1]}, {}, id="no numbers"),
    pytest.param([1], {}, id="no object"),
]


@pytest.mark.parametrize(("told", "wanted"), SPELLINGS)
def test_counts_are_inclusive_sums_whoever_wrote_them(told: Any, wanted: dict[str, int]) -> None:
    """A prompt has its cache in it and a completion its thoughts; what is not told is absent."""
    fields: dict[str, Any] = {}
    put_usage(told, fields)
    assert fields == wanted


def test_a_count_that_is_there_already_stays() -> None:
    """What another attribute told goes first."""
    fields: dict[str, Any] = {"usage.prompt": 7}
    put_usage({"prompt_tokens": 100, "completion_tokens": 20}, fields)
    assert fields == counts(7, 20)


@pytest.mark.parametrize(
    ("figures", "wanted"),
    [
        ({"input": 10, "read": 0, "written": 90}, 100),
        ({"input": 50, "read": 30, "written": 40}, 120),
        ({"input": 100, "read": 60, "total": 166}, 160),
        ({"input": 100, "read": 60, "total": 106}, 100),
        ({"input": 100, "read": 60, "total": 999}, 100),
        ({"input": 100, "read": 0, "total": 106}, 100),
    ],
)
def test_figures_prove_that_the_cache_is_beside_the_prompt(
    chat: Callable[..., Span], read_one: Callable[[Span], ModelCall], figures: dict[str, int], wanted: int
) -> None:
    """More cache than prompt, read and written, or a total of all; any other total proves nothing."""
    names = {"input": "input_tokens", "read": "cache_read.input_tokens", "written": "cache_creation.input_tokens"}
    told = {f"gen_ai.usage.{names.get(name, 'total_tokens')}": count for name, count in figures.items()}
    usage = read_one(chat({"gen_ai.usage.output_tokens": 6, **told})).usage
    assert usage is not None
    assert usage.prompt == wanted


def test_counts_and_costs_that_openinference_tells_only_elsewhere(
    span: Callable[..., Span], read_one: Callable[[Span], ModelCall]
) -> None:
    """Counts stand in the raw response alone, the cost in its two parts."""
    response = {"role": "assistant", "content": "x", "usage": {"input_tokens": 10, "output_tokens": 6}}
    attributes = {"openinference.span.kind": "LLM", "output.value": json.dumps(response)}
    call = read_one(span({**attributes, "llm.cost.prompt": 0.25, "llm.cost.completion": 0.5}))
    assert (call.usage and call.usage.prompt, call.cost_usd) == (10, 0.75)
    counted = read_one(span({**attributes, "llm.token_count.prompt": 7, "llm.cost.prompt": 0.25}))
    assert (counted.usage and counted.usage.prompt, counted.cost_usd) == (7, None)
