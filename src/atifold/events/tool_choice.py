"""Model a classifier that guesses, before a model call, which tool the model will want."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Flag, Number, Open, Payload, Structure, Whole


class ToolChoicePicked(Payload):
    """The classifier answered. Its tokens are its own, not the model call's."""

    iteration: Always[Structure[Whole]] = None
    chosen: Structure[str] = None
    """The tool; None: no tool."""
    confidence: Always[Structure[Number]] = None
    offered: Always[Structure[Whole]] = None
    """How many tools it chose among."""
    served: Always[Structure[Whole]] = None
    """How many tools the model was then shown."""
    narrowed: Always[Structure[Flag]] = None
    """Whether the model was shown fewer than it would have been."""
    narrowed_skipped: Structure[
        Open[Literal["unavailable", "too-few", "after-miss", "wrap-up", "evidence-revision"]]
    ] = None
    """Why the tools were not narrowed, where that was wanted."""
    latency_ms: Always[Structure[Number]] = None
    input_tokens: Structure[Whole] = None
    output_tokens: Structure[Whole] = None


class ToolChoiceOutcome(Payload):
    """What the model asked for after the guess."""

    iteration: Always[Structure[Whole]] = None
    called: Always[Structure[list[str]]] = None
    """The tools that it asked for, in order; empty where it answered."""
    first_agrees: Structure[Flag] = None
    """Whether the first of them is the guess; None where one of the two does not exist."""
    missed: Structure[list[str]] = None
    """Tools that it asked for although they were not shown to it."""


class ToolChoiceFailed(Payload):
    """The classifier gave no answer; the model is shown all tools."""

    iteration: Always[Structure[Whole]] = None
    status: Structure[Whole] = None
    """The HTTP status; None: there was no response."""
    latency_ms: Always[Structure[Number]] = None
