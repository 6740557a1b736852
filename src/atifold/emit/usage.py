"""Normalise token counts as the conventions count them, and keep the raw figures."""

from __future__ import annotations

from collections import Counter
from typing import Any

from atifold import semconv
from atifold.events.stream import LLMUsage
from atifold.semconv import Provider

_MOST = 2**63 - 1  # what an attribute holds as a whole number
RAW = "agentfootprint.stream.usage."
"""Prefix of the figures as the provider's adapter reported them."""


def sound_usage(usage: LLMUsage, counts: Counter[str]) -> LLMUsage:
    """Return a usage without counts that are none, below 0 or beyond 64 bits; each is counted."""
    if usage.__pydantic_extra__ and "atifold.inclusive" in usage.__pydantic_extra__:
        return usage  # `bus.run` counted them
    odd = [name for name in _COUNTS if (count := getattr(usage, name)) is not None and not 0 <= count <= _MOST]
    if not odd:
        return usage
    counts["figures_unknown"] += len(odd)
    return usage.model_copy(update=dict.fromkeys(odd))


def usage_attributes(provider: Provider, usage: LLMUsage) -> dict[str, Any]:
    """Return the usage attributes of one inference; what was not reported is absent, never zero.

    Input includes cache reads and writes, output includes reasoning (conventions, notes on
    `gen_ai.usage.*`). Figures of `bus.run` are counted so already, and marked. More cached tokens
    than input tokens prove that the cache is counted apart, whatever the provider's row or the mark says.
    The figures as reported are kept where they are others.
    """
    reported, produced = usage.input, usage.output
    cached = (usage.cache_read or 0) + (usage.cache_write or 0)
    inclusive = bool(usage.__pydantic_extra__ and usage.__pydantic_extra__.get("atifold.inclusive"))
    total_in, total_out = reported, produced
    if reported is not None and (cached > reported or not (inclusive or provider.cache_in_input)):
        total_in = reported + cached
    if produced is not None and usage.thinking and not inclusive:
        total_out = produced + usage.thinking
    values = (total_in, total_out, usage.cache_read, usage.cache_write, usage.thinking)
    figures = {
        name: value for name, value in zip(_NAMES, values, strict=True) if value is not None and 0 <= value <= _MOST
    }
    if total_in != reported or total_out != produced:
        raw = usage.model_dump(exclude_none=True, include=_RAW_FIELDS)
        figures.update((RAW + name, value) for name, value in raw.items())
    return figures


_NAMES = (
    semconv.USAGE_INPUT,
    semconv.USAGE_OUTPUT,
    semconv.USAGE_CACHE_READ,
    semconv.USAGE_CACHE_WRITE,
    semconv.USAGE_REASONING,
)
_COUNTS = ("input", "output", "cache_read", "cache_write", "thinking")
_RAW_FIELDS = {"input", "output", "cache_read", "cache_write", "thinking"}
