"""Model a run that stops to wait for somebody, and goes on later under a new run id."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Body, Content, Nested, Number, Open, Payload, Structure


class PauseQuestion(Nested):
    """What is asked; beyond the call's id its fields are the app's own and are kept as extra."""

    tool_call_id: Structure[str] = None
    """The call that waits: what joins both legs, since `pause.resume` has no id."""


class PauseRequest(Payload):
    """The run pauses; the tool call that asked stays open."""

    reason: Always[Content[Open[Literal["stage requested pause"]]]] = None
    question_payload: Always[Content[PauseQuestion]] = None


class PauseResume(Payload):
    """A paused run goes on."""

    resume_input: Always[Content[Body]] = None
    """The reply, as a rule an object; single values in it may read `REDACTED`."""
    paused_duration_ms: Always[Structure[Number]] = None
    component_id: Structure[str] = None
    """The app's component that collected the reply; None where it was asked for in words. Since 9.24."""
