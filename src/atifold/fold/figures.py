"""Give the figures of steps and documents: tokens, cost, times. What is unknown stays absent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from atifold.calls import ModelCall, Usage
from atifold.times import microseconds, timestamp

_TOTALS: Final = (
    ("total_prompt_tokens", "prompt_tokens"),
    ("total_completion_tokens", "completion_tokens"),
    ("total_cached_tokens", "cached_tokens"),
)


def metrics_of(call: ModelCall) -> dict[str, Any]:
    """Return the metrics of one inference; empty where nothing is known."""
    return metrics(call.usage, call.cost_usd, call.cost_source)


def metrics(usage: Usage | None, cost_usd: float | None, cost_source: str | None = None) -> dict[str, Any]:
    """Return ATIF metrics of a usage and a cost.

    A usage of nothing but zeros is unknown, and so is a cost of 0 that nobody priced.
    """
    found: dict[str, Any] = {}
    if usage is not None and not _is_void(usage):
        counts = {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "cached_tokens": usage.cached}
        found = {name: count for name, count in counts.items() if count is not None}
    if cost_usd is not None and math.isfinite(cost_usd) and (cost_usd or cost_source):
        found["cost_usd"] = cost_usd
    extra = _factors(usage) if usage is not None and found else {}
    if cost_source and "cost_usd" in found:
        extra["cost_source"] = cost_source
    if extra:
        found["extra"] = extra
    return found


def _is_void(usage: Usage) -> bool:
    """Tell whether a usage holds no number but zeros."""
    return not any((usage.prompt, usage.completion, usage.cached, usage.cache_write, usage.reasoning))


def _factors(usage: Usage) -> dict[str, Any]:
    """Return the counts that ATIF keeps in `extra`, and the trace's own figures where they differ."""
    found: dict[str, Any] = {}
    if usage.reasoning is not None:
        found["reasoning_tokens"] = usage.reasoning
    if usage.cache_write is not None:
        found["cache_creation_input_tokens"] = usage.cache_write
    told = (usage.prompt, usage.completion, usage.cached, usage.cache_write, usage.reasoning)
    if any(figure not in told for figure in usage.raw.values()):
        found["raw"] = dict(usage.raw)
    return found


def final_metrics(steps: Sequence[Mapping[str, Any]], subagents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the totals of a document: tokens of its own steps, cost with its subagents.

    Copied steps do not count. The cost is absent where a step that has tokens has no cost, here or
    in a subagent: no partial sums.
    """
    told = [step.get("metrics", {}) for step in steps if not step.get("is_copied_context")]
    totals: dict[str, Any] = {}
    for total, name in _TOTALS:
        counts = [m[name] for m in told if name in m]
        if counts:
            totals[total] = sum(counts)
    cost = cost_of(told, subagents)
    if cost is not None:
        totals["total_cost_usd"] = cost
    totals["total_steps"] = len(steps)
    return totals


def cost_of(told: Sequence[Mapping[str, Any]], subagents: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the cost of steps and subagents, None where it is not known whole."""
    costs = [m["cost_usd"] for m in told if "cost_usd" in m]
    if any(bears_tokens(m) and "cost_usd" not in m for m in told):
        return None
    for subagent in subagents:
        below = subagent["final_metrics"].get("total_cost_usd")
        if below is None and holds_tokens(subagent):
            return None
        costs += [] if below is None else [below]
    return math.fsum(costs) if costs else None


def bears_tokens(told: Mapping[str, Any]) -> bool:
    """Tell whether a step's metrics count any tokens."""
    return any(name in told for _, name in _TOTALS)


def holds_tokens(document: Mapping[str, Any]) -> bool:
    """Tell whether a document or one embedded in it counts tokens."""
    own = any(total in document["final_metrics"] for total, _ in _TOTALS)
    return own or any(holds_tokens(below) for below in document.get("subagent_trajectories", ()))


def holds_cost(document: Mapping[str, Any]) -> bool:
    """Tell whether any step of a document, or of one embedded in it, has a cost."""
    own = any("cost_usd" in step.get("metrics", {}) for step in document["steps"])
    return own or any(holds_cost(below) for below in document.get("subagent_trajectories", ()))


class Clock:
    """Give each step its timestamp; a step never goes back behind the one before it."""

    def __init__(self) -> None:
        """Start before all times."""
        self._last = 0

    def stamp(self, time_ns: int) -> tuple[str | None, str | None]:
        """Return (the step's timestamp, its own time where that lies before the last step's)."""
        own = microseconds(time_ns)
        if own < self._last:
            return timestamp(self._last), timestamp(own)
        self._last = own
        return timestamp(own), None
