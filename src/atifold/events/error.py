"""Model failures below the agent's own reasoning: retries, recoveries, the end of a run."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Number, Open, Payload, Structure, Whole


class ErrorRetried(Payload):
    """A model request failed and is about to be sent again, inside the same `llm_start` and `llm_end`."""

    attempt: Always[Structure[Whole]] = None
    """The attempt that is about to start, from 2."""
    max_attempts: Always[Structure[Whole]] = None
    last_error: Always[Content[str]] = None
    backoff_ms: Always[Structure[Number]] = None
    """Milliseconds waited before this attempt."""
    reason: Always[Content[str]] = None
    stated_wait_ms: Structure[Number] = None
    """Milliseconds that the failure itself asked to wait; None: it asked nothing."""


class ErrorRecovered(Payload):
    """A retried model request succeeded."""

    attempt: Always[Structure[Whole]] = None
    """The attempt that succeeded."""
    total_duration_ms: Always[Structure[Number]] = None


class ErrorFatal(Payload):
    """The run failed. Nothing that is open gets an end event of its own."""

    error: Always[Content[str]] = None
    """A sentence made for people, not the exception's text."""
    stage: Always[Structure[str]] = None
    scope: Always[Structure[str]] = None


class ErrorCircuitChanged(Payload):
    """A circuit breaker around a provider opened, closed or lets one request try. Since 9.32."""

    state: Always[Structure[Open[Literal["closed", "open", "half-open"]]]] = None
    """The state that it is in now."""
    reason: Always[Content[str]] = None
    """The breaker's own words; never the text of the failure."""
    provider_name: Always[Structure[str]] = None
    """The provider inside the breaker, not the chain it stands in."""
