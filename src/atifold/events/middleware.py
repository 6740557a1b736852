"""Model the app's own rules around tools and messages."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Flag, Open, Payload, Structure, Whole


class MiddlewareDecision(Payload):
    """One rule of a chain decided. What it changed is not told."""

    middleware: Always[Structure[str]] = None
    """The rule's name."""
    moment: Always[Structure[Open[Literal["input", "before-tool", "after-tool", "window", "output"]]]] = None
    """Where in the agent's loop it was asked."""
    at: Always[Structure[Open[Literal["tool", "message"]]]] = None
    """The same in the producer's older words."""
    phase: Structure[Open[Literal["input", "output"]]] = None
    tool_name: Structure[str] = None
    tool_call_id: Structure[str] = None
    iteration: Always[Structure[Whole]] = None
    outcome: Always[Structure[Open[Literal["allow", "deny", "ask"]]]] = None
    changed: Always[Structure[Flag]] = None
    """Whether the rest of the chain sees another value than this rule did."""
    why: Content[str] = None
    """The reason for a change or a refusal, or the question that is asked."""
    component_id: Structure[str] = None
    """The app's component that collected the answer to a question. Since 9.24."""
