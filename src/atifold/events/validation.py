"""Model arguments that do not fit the schema of their tool."""

from __future__ import annotations

from atifold.events.payload import Always, Content, Flag, Nested, Payload, Structure, Whole


class ArgumentIssue(Nested):
    """One thing that is wrong with the arguments."""

    path: Always[Structure[str]] = None
    """Where in the arguments, keys joined by dots."""
    expected: Always[Structure[str]] = None
    got: Always[Content[str]] = None
    """The type that was found."""
    value: Content[str] = None
    hint: Content[str] = None


class ValidationArgsInvalid(Payload):
    """The model's arguments for a call do not fit."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    issues: Always[Structure[list[ArgumentIssue]]] = None
    enforced: Always[Structure[Flag]] = None
    """True where the tool was kept from running and the model told why; else it ran all the same."""
