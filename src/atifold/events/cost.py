"""Model what a run spends, in US dollars by the producer's own price table."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Nested, Number, Open, Payload, Structure, Whole


class CostCumulative(Nested):
    """What the run has spent so far; it starts again with each run of a session."""

    tokens_input: Always[Structure[Whole]] = None
    tokens_output: Always[Structure[Whole]] = None
    estimated_usd: Always[Structure[Number]] = None


class CostTick(Payload):
    """One priced model call was paid for. It follows the call's `llm_end`, under the same stage id."""

    scope: Always[Structure[Open[Literal["iteration", "turn", "run"]]]] = None
    model: Always[Structure[str]] = None
    """The model that the price was looked up for."""
    provider: Structure[str] = None
    tokens_input: Always[Structure[Whole]] = None
    """Without the cache's tokens, although the price includes them."""
    tokens_output: Always[Structure[Whole]] = None
    estimated_usd: Always[Structure[Number]] = None
    cumulative: Always[Structure[CostCumulative]] = None


class CostLimitHit(Payload):
    """A budget is used up. `limit` and `actual` are in the unit of `kind` (tokens, USD, rounds, ms)."""

    kind: Always[Structure[Open[Literal["max_tokens", "max_cost", "max_iterations", "max_wallclock"]]]] = None
    limit: Always[Structure[Number]] = None
    actual: Always[Structure[Number]] = None
    action: Always[Structure[Open[Literal["abort", "warn", "degrade"]]]] = None
