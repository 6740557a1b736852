"""Model what a policy allows, refuses or stops."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from atifold.events.payload import Always, Content, Number, Open, Payload, Structure, Whole


class PermissionCheck(Payload):
    """A policy was asked.

    `tool_name`, `tool_call_id` and `iteration` are there where the question was about a tool call.
    """

    capability: Always[
        Structure[Open[Literal["memory_read", "memory_write", "external_net", "user_data", "tool_call", "skill_read"]]]
    ] = None
    """What was wanted; `tool_call` is the framework's own question before every tool runs."""
    actor: Always[Content[str]] = None
    target: Structure[str] = None
    result: Always[Structure[Open[Literal["allow", "deny", "halt", "gate_open"]]]] = None
    policy_engine: Structure[Open[Literal["opa", "cerbos", "custom"]]] = None
    policy_rule_id: Structure[str] = None
    rationale: Content[str] = None
    reason: Content[str] = None
    tool_name: Structure[str] = None
    tool_call_id: Structure[str] = None
    iteration: Structure[Whole] = None


class PermissionGateOpened(Payload):
    """Somebody opened a gate."""

    gate_id: Always[Structure[str]] = None
    opened_by: Always[Content[str]] = None
    expires_at: Structure[Number] = None
    """Milliseconds since the epoch; None: it stays open."""


class PermissionGateClosed(Payload):
    """A gate is closed again."""

    gate_id: Always[Structure[str]] = None
    reason: Always[Content[str]] = None


class PermissionHalt(Payload):
    """A policy stopped the whole run: neither `error.fatal` nor `turn_end` follows."""

    checker_id: Structure[str] = None
    target: Always[Structure[str]] = None
    reason: Always[Content[str]] = None
    tell_llm: Content[str] = Field(None, alias="tellLLM")
    """What the policy wants the model to read, if it is to go on."""
    iteration: Always[Structure[Whole]] = None
    sequence_length: Always[Structure[Whole]] = None
    """How many calls the policy looked at together."""
    tool_name: Structure[str] = None
    tool_call_id: Structure[str] = None
