"""Model what tools hold open between calls, and the programs that they run."""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Flag, Number, Open, Payload, Structure, Whole

CloseReason = Open[Literal["call-end", "run-end", "session-end", "shutdown", "idle", "evicted"]]


class ToolSessionEvent(Payload):
    """What all events about a tool's session have."""

    tool: Always[Structure[str]] = None
    scope: Always[Structure[Open[Literal["call", "run", "session", "shutdown"]]]] = None
    """How long the session is to live; `shutdown`: as long as the process."""
    key_hash: Always[Structure[str]] = None
    """Tells sessions apart; the key itself is never told."""
    runner_id: Structure[str] = None
    """What holds the session open."""
    label: Content[str] = None
    """One fact that the tool tells about it, such as a language."""


class ToolsSessionStarted(ToolSessionEvent):
    """A tool opened something and will have to close it."""


class ToolsSessionReused(ToolSessionEvent):
    """A later call goes on with what is open."""

    calls: Always[Structure[Whole]] = None
    """How many calls have shared it so far, this one included."""


class ToolsSessionClosed(ToolSessionEvent):
    """What a tool had opened is closed."""

    reason: Always[Structure[CloseReason]] = None
    duration_ms: Always[Structure[Number]] = None
    """Milliseconds that it was open."""


class ToolsSessionCloseFailed(ToolSessionEvent):
    """What a tool had opened could not be closed, and may still cost something."""

    reason: Always[Structure[CloseReason]] = None
    duration_ms: Always[Structure[Number]] = None
    """Milliseconds that it was open."""
    error: Always[Content[str]] = None
    error_class: Structure[str] = None
    """The exception's class."""


class ToolsCodeRun(Payload):
    """A program that the model wrote was run. Neither the program nor its output is here."""

    tool: Always[Structure[str]] = None
    """The name that the model called."""
    language: Always[Structure[str]] = None
    staged_inputs: Always[Structure[Whole]] = None
    """How many stored results the program was given as files."""
    output_chars: Always[Structure[Whole]] = None
    """Characters of its output, after cutting."""
    truncated: Always[Structure[Flag]] = None
    """Whether the output was cut."""
    ok: Structure[Flag] = None
    """Whether it ran to its end; None is unknown, not success."""
    exit_code: Structure[Whole] = None
    """None: the runner told none."""
    service_error: Structure[Flag] = None
    """True where the runner itself failed, so that the program may not have run at all."""
    terminated_by: Structure[str] = None
    """The signal that ended it (`SIGKILL`)."""
    shape_hash: Always[Structure[str]] = None
    """Programs that differ in names and literals alone have the same hash."""
