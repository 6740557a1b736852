"""Model what the rules loop around a model call decides after failures."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Open, Payload, Structure, Whole


class ReliabilityFailFast(Payload):
    """The rules gave up: the run ends here, without an `error.fatal` and without a `turn_end`."""

    phase: Always[Structure[Open[Literal["pre-check", "post-decide"]]]] = None
    kind: Always[Structure[str]] = None
    """The rule that matched, in a word for machines."""
    attempt: Always[Structure[Whole]] = None
    """The attempt at which they gave up, from 1."""
    label: Content[str] = None
    reason: Content[str] = None
    provider_used: Structure[str] = None
    error_kind: Structure[str] = None
    error_message: Content[str] = None
    """None also where a policy keeps it back, since it could quote a draft."""


class ReliabilityRetried(Payload):
    """The rules try again, with the same provider or with another."""

    attempt: Always[Structure[Whole]] = None
    """The attempt that failed, from 1."""
    action: Always[Structure[Open[Literal["retry", "retry-other"]]]] = None
    error_kind: Always[Structure[str]] = None
    error_message: Content[str] = None
    from_provider: Always[Structure[str]] = None
    to_provider: Always[Structure[str]] = None
    """The same as `from_provider` for `retry`."""


class ReliabilityRecovered(Payload):
    """The rules loop has an answer after at least one failure."""

    attempt: Always[Structure[Whole]] = None
    """The attempt that succeeded, from 1."""
    recovered_via: Always[Structure[Open[Literal["retry", "retry-other", "fallback"]]]] = None
    prior_failures: Always[Structure[Whole]] = None
    error_kind: Always[Structure[str]] = None
    """The kind of the last failure."""
