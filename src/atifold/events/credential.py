"""Model how the secrets are found that a tool needs; no event holds one.

`tool_name`, `tool_call_id` and `iteration` are there where a tool call needed the credential.
"""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Number, Open, Payload, Structure, Whole


class CredentialEvent(Payload):
    """What all events about a credential have: the service, and the call that needs it."""

    service: Always[Structure[str]] = None
    """The service's id as the tool declares it."""
    tool_name: Structure[str] = None
    tool_call_id: Structure[str] = None
    iteration: Structure[Whole] = None


class CredentialRequested(CredentialEvent):
    """A credential is looked for, before the tool runs."""

    mode: Structure[Open[Literal["machine", "user"]]] = None
    """Whether the program acts for itself or for its user."""


class CredentialAcquired(CredentialEvent):
    """A credential was found."""

    kind: Always[Structure[str]] = None
    """What sort of credential it is."""
    expires_at: Structure[Number] = None
    """Milliseconds since the epoch; None: not told."""


class CredentialAuthorizationRequired(CredentialEvent):
    """The user has to consent first; the tool does not run until then."""

    session_id: Always[Structure[str]] = None
    """The consent's own session, which is no conversation."""


class CredentialFailed(CredentialEvent):
    """No credential could be had, so the tool does not run."""

    reason: Always[Content[str]] = None
    """The credential provider's own error text."""
    tool: Structure[str] = None
    """The tool that cannot run; None where it was not for a tool."""
    error_class: Structure[str] = None
    """The exception's class; None where what was thrown was none."""
