"""Normalise token counts: ATIF's prompt includes cached tokens, its completion includes reasoning."""

from __future__ import annotations

from dataclasses import replace

from atifold.calls import Usage
from atifold.dialects.values import Note


def normalise(usage: Usage, note: Note, *, has_content: bool) -> Usage | None:
    """Return the usage with inclusive sums, None when it says nothing.

    More cached than prompt tokens prove that the prompt was counted without its cache, and more
    reasoning than completion tokens the same of reasoning. Zeros all over, beside content, are an
    instrumentation that knew nothing.
    """
    if usage.prompt is None and usage.completion is None and usage.cached is None and usage.reasoning is None:
        return None
    if has_content and not any((usage.prompt, usage.completion, usage.cached, usage.cache_write, usage.reasoning)):
        note("token counts that are all 0 beside content: taken as unknown")
        return None
    if usage.prompt is not None and usage.cached is not None and usage.cached > usage.prompt:
        note("more cached than prompt tokens: the prompt was counted without its cache, added")
        usage = replace(usage, prompt=usage.prompt + usage.cached + (usage.cache_write or 0))
    if usage.completion is not None and usage.reasoning is not None and usage.reasoning > usage.completion:
        note("more reasoning than completion tokens: reasoning was counted apart, added")
        usage = replace(usage, completion=usage.completion + usage.reasoning)
    return usage
