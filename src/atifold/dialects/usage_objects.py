"""Read token counts that stand together in one object, as providers and frameworks write it.

Which counts include which is told by the spelling: OpenAI's and LangChain's sums are inclusive,
Anthropic's own input leaves its cache out, Gemini's candidates their thoughts, Langfuse's buckets add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from atifold.dialects.table import Fields
from atifold.dialects.values import number
from atifold.kinds import is_object

_PATHS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("usage.prompt", ("prompt_tokens", "input_tokens", "prompt_token_count", "promptTokenCount", "promptTokens")),
    (
        "usage.completion",
        ("completion_tokens", "output_tokens", "candidates_token_count", "candidatesTokenCount", "completionTokens"),
    ),
    (
        "usage.cached",
        (
            "prompt_tokens_details.cached_tokens",
            "input_tokens_details.cached_tokens",
            "input_token_details.cache_read",
            "cache_read_input_tokens",
            "cached_content_token_count",
            "cachedContentTokenCount",
            "prompt_cache_hit_tokens",
        ),
    ),
    (
        "usage.cache_write",
        (
            "prompt_tokens_details.cache_creation_tokens",
            "input_token_details.cache_creation",
            "cache_creation_input_tokens",
        ),
    ),
    (
        "usage.reasoning",
        (
            "completion_tokens_details.reasoning_tokens",
            "output_tokens_details.reasoning_tokens",
            "output_token_details.reasoning",
            "thoughts_token_count",
            "thoughtsTokenCount",
        ),
    ),
)
_ANTHROPIC: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
_INCLUSIVE: Final = ("total_tokens", "input_token_details", "input_tokens_details", "prompt_tokens")
"""Keys that only those write whose input is a sum with the cache."""

_GEMINI: Final = ("candidates_token_count", "candidatesTokenCount")


def put_usage(value: Any, fields: Fields) -> None:
    """Fill in the counts of a usage object, of whatever spelling; a field that is there already stays."""
    if not is_object(value):
        return
    found = _buckets(value) if "input" in value or "output" in value else _counts(value)
    for field, count in found.items():
        fields.setdefault(field, count)


def _counts(value: Mapping[str, Any]) -> dict[str, int]:
    flat = {**value, **_inner(value)}
    found: dict[str, int] = {}
    for field, names in _PATHS:
        counts = (_count(flat.get(name)) for name in names)
        count = next((count for count in counts if count is not None), None)
        if count is not None:
            found[field] = count
    is_raw = any(name in value for name in _ANTHROPIC) and not any(name in value for name in _INCLUSIVE)
    aside = found.get("usage.cached", 0) + found.get("usage.cache_write", 0)
    whole = found.get("usage.prompt", 0) + found.get("usage.completion", 0) + aside
    if (is_raw or _count(value.get("total_tokens")) == whole) and "usage.prompt" in found:
        found["usage.prompt"] += aside
    if any(name in value for name in _GEMINI):
        found["usage.completion"] = found.get("usage.completion", 0) + found.get("usage.reasoning", 0)
    return found


def _inner(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of the objects inside a usage object, under their path."""
    objects = ((name, inner) for name, inner in value.items() if is_object(inner))
    return {f"{name}.{key}": count for name, inner in objects for key, count in inner.items()}


def _count(value: Any) -> int | None:
    found = number(value)
    return found if isinstance(found, int) and found >= 0 else None


# ---- Langfuse's buckets ----------------------------------------------------------------------------

_CACHED: Final = ("input_cache_read", "input_cached_tokens", "input_cache_read_input_tokens", "cache_read_input_tokens")
_WRITTEN: Final = ("input_cache_creation", "input_cache_creation_input_tokens", "cache_creation_input_tokens")
_THOUGHT: Final = ("output_reasoning", "output_reasoning_tokens")


def _buckets(value: Mapping[str, Any]) -> dict[str, int]:
    """Read `{input, output, input_…, output_…, total}`: parts are beside the sums unless the total is theirs alone."""
    counts = {name: count for name, each in value.items() if (count := _count(each)) is not None}
    parts = {"usage.cached": _CACHED, "usage.cache_write": _WRITTEN, "usage.reasoning": _THOUGHT}
    sums = {field: sum(counts.get(name, 0) for name in names) for field, names in parts.items()}
    found = {field: sums[field] for field, names in parts.items() if any(name in counts for name in names)}
    prompt, completion = counts.get("input"), counts.get("output")
    apart = counts.get("total") != (prompt or 0) + (completion or 0)
    cache = sums["usage.cached"] + sums["usage.cache_write"]
    if prompt is not None:
        found["usage.prompt"] = prompt + (cache if apart else 0)
    if completion is not None:
        found["usage.completion"] = completion + (sums["usage.reasoning"] if apart else 0)
    return found
