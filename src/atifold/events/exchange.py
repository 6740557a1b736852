"""Hold what an exchange with a model or a tool has in it: thoughts, outcomes, calls that never ran.

Apart from the other shapes, so that the first model call of a program loads no more than this.
"""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Body, Content, Flag, Nested, Open, Structure

ToolStatus = Open[Literal["success", "failure", "denied", "invalid", "partial", "pending", "absent"]]
"""How a call came out, by the tool's own word."""


class ThinkingBlock(Nested):
    """One piece of what the model thought, in a form that is the same for all providers."""

    type: Always[Structure[Open[Literal["thinking", "redacted_thinking"]]]] = None
    content: Always[Content[str]] = None
    """The thought as text; empty where the provider withheld it (`redacted_thinking`)."""
    signature: Content[str] = None
    """What the provider wants back, byte for byte, to believe the block in a later request."""
    summary: Structure[Flag] = None
    """True for a provider's summary of the thinking, which is not the thinking itself."""
    provider_meta: Content[Body] = None


class PausedCall(Nested):
    """The tool call at which a batch stopped to wait for somebody."""

    tool_call_id: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None


class NotDispatched(Nested):
    """Why a tool call never ran: a call before it in the same batch paused the run. Since 9.113."""

    paused_call: Always[Structure[PausedCall]] = None
