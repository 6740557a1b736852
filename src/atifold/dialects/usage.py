"""Normalise token counts: ATIF's prompt includes cached tokens, its completion includes reasoning."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from atifold.calls import Usage
from atifold.dialects.values import Note

_TOTALS: Final = ("usage.total_tokens", "token_count.total")
"""How the names of attributes end that hold a total."""


def normalise(usage: Usage, note: Note, *, has_content: bool) -> Usage | None:
    """Return the usage with inclusive sums, None when it says nothing.

    More cached and written than prompt tokens prove that the prompt was counted without its cache, as does
    a total that is the sum of all; more reasoning than completion tokens the same of reasoning. Zeros all
    over, beside content, are an instrumentation that knew nothing.
    """
    if usage.prompt is None and usage.completion is None and usage.cached is None and usage.reasoning is None:
        return None
    if has_content and not any((usage.prompt, usage.completion, usage.cached, usage.cache_write, usage.reasoning)):
        note("token counts that are all 0 beside content: taken as unknown")
        return None
    cache = (usage.cached or 0) + (usage.cache_write or 0)
    if usage.prompt is not None and (cache > usage.prompt or (cache and _is_total(usage, usage.prompt + cache))):
        note("the prompt was counted without its cache, as the figures prove: added")
        usage = replace(usage, prompt=usage.prompt + cache)
    if usage.completion is not None and usage.reasoning is not None and usage.reasoning > usage.completion:
        note("more reasoning than completion tokens: reasoning was counted apart, added")
        usage = replace(usage, completion=usage.completion + usage.reasoning)
    return usage


def _is_total(usage: Usage, prompt: int) -> bool:
    """Tell whether the trace states a total that is a prompt and the completion together."""
    total = next((figure for name, figure in usage.raw.items() if name.endswith(_TOTALS)), None)
    return total is not None and usage.completion is not None and total == prompt + usage.completion
