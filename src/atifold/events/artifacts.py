"""Model large results that are stored, and named by a reference instead of repeated."""

from __future__ import annotations

from typing import Any, Literal, Union

from pydantic import Field

from atifold.events.payload import Always, Content, Nested, Number, Open, Payload, Structure, Whole

ArtifactOperation = Open[Literal["put", "head", "get", "delete", "list", "dispatch"]]
"""A verb of the store; `dispatch` is the framework's own look-up of what a tool wants, before it runs."""

Aggregate = Open[Literal["raw", "avg", "min", "max", "sum", "count", "last"]]
"""What one row stands for in its stretch of time."""


class ArtifactOrigin(Nested):
    """What made an artifact; None in a field: not known."""

    run_id: Structure[str] = None
    tool_call_id: Structure[str] = None


class TimeAxis(Nested):
    """How the rows of a stored table are ordered in time."""

    column: Always[Structure[str]] = None
    unit: Always[Structure[Open[Literal["iso", "epoch-s", "epoch-ms"]]]] = None
    zone: Structure[str] = None
    """A name of the IANA database; only with the unit `iso`."""
    interval: Structure[str] = None
    """A whole number and one of s, m, h, d, w."""
    aggregate: Structure[Union[Aggregate, dict[str, Any]]] = None
    """One for all columns, or by column."""


class ArtifactMinted(Payload):
    """Something was put into the store and has a reference now."""

    ref: Always[Structure[str]] = None
    kind: Always[Structure[str]] = None
    """What it is, in the app's words (`dataset/rows`)."""
    media_type: Always[Structure[str]] = None
    bytes: Always[Structure[Whole]] = None
    label: Content[str] = None
    digest: Structure[str] = None
    """`sha-256:` and hexadecimal digits; None: none was asked for."""
    expires_at: Structure[Number] = None
    """Milliseconds since the epoch; None: it stays."""
    origin: Structure[ArtifactOrigin] = None
    parent_refs: Structure[list[str]] = None
    """What it was made from."""
    time_axis: Structure[TimeAxis] = None
    """Given for a table with a declared time column."""
    tool: Structure[str] = None
    """The tool that stored it; None where the run or its host did."""


class ArtifactResolved(Payload):
    """A reference was followed."""

    ref: Always[Structure[str]] = None
    via: Always[Structure[Open[Literal["head", "get"]]]] = None
    """Whether only the description was read, or all of it."""
    kind: Always[Structure[str]] = None
    bytes: Always[Structure[Whole]] = None
    tool: Structure[str] = None
    """The tool that followed it; None where a screen did, through the host."""


class ArtifactExpired(Payload):
    """Something left the store by age or for room. The next `put` finds it out and reports it."""

    ref: Always[Structure[str]] = None
    reason: Always[Structure[Open[Literal["ttl", "max-bytes", "max-count"]]]] = None
    kind: Always[Structure[str]] = None
    bytes: Always[Structure[Whole]] = None
    tool: Structure[str] = None
    """The tool whose `put` it was; None where the run or its host did."""


class ArtifactRefused(Payload):
    """The store refused, or has nothing under the reference."""

    op: Always[Structure[ArtifactOperation]] = None
    reason: Always[
        Structure[
            Open[
                Literal[
                    "no-store",
                    "missing-or-expired",
                    "unknown-parent",
                    "digest-mismatch",
                    "invalid-input",
                    "kind-mismatch",
                ]
            ]
        ]
    ] = None
    ref: Content[str] = None
    """As it was asked for, which may be no reference at all."""
    detail: Content[str] = None
    tool: Structure[str] = None
    """The tool that asked; None where it was the host."""


class ArtifactSnapshot(Nested):
    """The description of an artifact at the moment it was shown."""

    kind: Always[Structure[str]] = None
    media_type: Always[Structure[str]] = None
    bytes: Always[Structure[Whole]] = None
    label: Content[str] = None


class ArtifactPresented(Payload):
    """The model put an artifact on the user's screen."""

    ref: Always[Structure[str]] = None
    as_: Always[Structure[str]] = Field(None, alias="as")
    """How it is to be shown, in the app's words (`bar-chart`)."""
    snapshot: Always[Structure[ArtifactSnapshot]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None


class ArtifactHandOverFailed(Payload):
    """The host could not store what belongs to a turn; the reply was delivered all the same."""

    cause: Always[Structure[Open[Literal["hook", "operation", "timeout", "abort", "expired"]]]] = None
    op: Structure[ArtifactOperation] = None
    """The verb that failed, where the cause is `operation` or `expired`."""
    error_class: Structure[str] = None
    """The exception's class; None where there was none."""
    error_code: Structure[str] = None
