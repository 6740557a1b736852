"""Normalise token counts: ATIF's prompt includes cached tokens, its completion includes reasoning."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from atifold.calls import Usage
from atifold.dialects.values import Note, number
from atifold.spans import Attributes

_TOTALS: Final = (
    "gen_ai.usage.total_tokens",
    "llm.usage.total_tokens",
    "llm.token_count.total",
    "ai.usage.totalTokens",
)


def normalise(usage: Usage, note: Note, *, has_content: bool, total: float | None = None) -> Usage | None:
    """Return the usage with inclusive sums, None when it says nothing.

    More tokens read from a cache or written to it than prompt tokens, or a `total` (as the span states it) in
    which they come on top, prove that the prompt was counted without its cache, and more reasoning than
    completion tokens the same of reasoning. Zeros all over, beside content, are an instrumentation that
    knew nothing.
    """
    if usage.prompt is None and usage.completion is None and usage.cached is None and usage.reasoning is None:
        return None
    if has_content and not any((usage.prompt, usage.completion, usage.cached, usage.cache_write, usage.reasoning)):
        note("token counts that are all 0 beside content: taken as unknown")
        return None
    aside = (usage.cached or 0) + (usage.cache_write or 0)
    if usage.prompt is not None and (aside > usage.prompt or _is_total(usage, aside, total)):
        note("more cached than prompt tokens, or a total of both: the prompt was counted without its cache, added")
        usage = replace(usage, prompt=usage.prompt + aside)
    if usage.completion is not None and usage.reasoning is not None and usage.reasoning > usage.completion:
        note("more reasoning than completion tokens: reasoning was counted apart, added")
        usage = replace(usage, completion=usage.completion + usage.reasoning)
    return usage


def total_of(attributes: Attributes) -> float | int | None:
    """Return the sum of tokens that a span states itself, None where it states none."""
    return next((number(attributes[name]) for name in _TOTALS if name in attributes), None)


def _is_total(usage: Usage, aside: int, total: float | None) -> bool:
    """Tell whether a span's own total is the sum of prompt, completion and what a cache took part in."""
    return bool(aside) and total == (usage.prompt or 0) + (usage.completion or 0) + aside
