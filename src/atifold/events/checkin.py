"""Model a tool call that a person has to approve before it runs."""

from __future__ import annotations

from atifold.events.payload import Always, Body, Content, Flag, Payload, Structure, Whole


class CheckInRequest(Payload):
    """The run pauses before a tool runs, to ask."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    request: Always[Content[Body]] = None
    """The question and the evidence for it, an object of the app."""


class CheckInDecision(Payload):
    """Somebody answered, on the run's next leg; the tool runs or its refusal follows."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    request_id: Always[Content[str]] = None
    """The request that this answers; 9.62.0 does not send it."""
    approved: Always[Structure[Flag]] = None
    by: Always[Content[str]] = None
    """Who decided."""
    note: Content[str] = None
    component_id: Structure[str] = None
    """The app's component that collected the answer; None where it was asked for in words. Since 9.24."""
