"""Model which tools a request offers, where they come from, and who answers to their names."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Number, Open, Payload, Structure, Whole

ToolOwner = Open[Literal["provider", "registry", "skill", "framework"]]
"""Who brings a tool: a tool provider, the agent's own list, a skill, or the framework."""


class ToolsOffered(Payload):
    """The tools of the next request were chosen."""

    available_ids: Always[Structure[list[str]]] = None
    withheld_ids: Always[Structure[list[str]]] = None
    withheld_reasons: Always[
        Structure[dict[str, Open[Literal["permission", "skill_inactive", "gated", "cost_guard"]]]]
    ] = None
    """By tool."""
    reason: Always[Content[str]] = None


class ToolsActivated(Payload):
    """A tool can be offered from now on."""

    tool_id: Always[Structure[str]] = None
    reason: Always[Structure[Open[Literal["skill_activated", "autoActivate", "permission_granted"]]]] = None
    source: Structure[str] = None


class ToolsDeactivated(Payload):
    """A tool can no longer be offered."""

    tool_id: Always[Structure[str]] = None
    reason: Always[Structure[Open[Literal["skill_deactivated", "permission_revoked"]]]] = None


# ---- discovery -----------------------------------------------------------------------------------


class ToolsDiscoveryStarted(Payload):
    """A tool provider is asked what it has. One of the two events below follows."""

    provider_id: Always[Structure[str]] = None
    """None also from the producer itself, for a provider without an id."""
    iteration: Always[Structure[Whole]] = None


class ToolsDiscoveryCompleted(Payload):
    """A tool provider told what it has."""

    provider_id: Always[Structure[str]] = None
    """None also from the producer itself, for a provider without an id."""
    iteration: Always[Structure[Whole]] = None
    duration_ms: Always[Structure[Number]] = None
    tool_count: Always[Structure[Whole]] = None


class ToolsDiscoveryFailed(Payload):
    """A tool provider failed to tell what it has; the round of the loop is over."""

    provider_id: Always[Structure[str]] = None
    """None also from the producer itself, for a provider without an id."""
    error: Always[Content[str]] = None
    error_name: Always[Structure[str]] = None
    """The exception's class."""
    iteration: Always[Structure[Whole]] = None
    duration_ms: Always[Structure[Number]] = None


# ---- one name, two tools -------------------------------------------------------------------------


class ToolsShadowed(Payload):
    """Two parties brought a tool of the same name into one request. Once a round and name."""

    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    schema_from: Always[Structure[ToolOwner]] = None
    """Whose description the model read."""
    schema_from_id: Structure[str] = None
    """The provider's or the skill's id."""
    dispatch_to: Always[Structure[ToolOwner]] = None
    """Whose code answers; since 9.92 the same party."""
    dispatch_to_id: Structure[str] = None


class ToolsClaimSwallowed(Payload):
    """A party's tool cannot be called, since another's has its name. Since 9.92."""

    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    lost_by: Always[Structure[ToolOwner]] = None
    lost_by_id: Structure[str] = None
    """The provider's or the skill's id."""
    won_by: Always[Structure[ToolOwner]] = None
    won_by_id: Structure[str] = None


class ToolsAnsweredOffWire(Payload):
    """A call is answered by a tool that this request did not offer. Since 9.92."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    answered_by: Always[Structure[ToolOwner]] = None
    answered_by_id: Structure[str] = None
    """The provider's or the skill's id."""
