"""Token counts that stand together in one object, in the spelling of whoever wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from atifold.dialects.usage_objects import put_usage


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
