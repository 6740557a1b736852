"""Model tools behind a server: connections to it, and the attempts of one request.

All of it is structure: ids, digests and enumerations, no text of a server. The names of both events are
inferred: no registry has them yet.
"""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Flag, Nested, Number, Open, Payload, Structure, Whole


class ToolsMcpClient(Payload):
    """A pool of MCP connections was used, to list tools or to call one."""

    server: Always[Structure[str]] = None
    """What the app calls the pool."""
    at: Always[Structure[Open[Literal["list", "call"]]]] = None
    tool_call_id: Structure[str] = None
    """Given for `call`."""
    key_hash: Structure[str] = None
    """Tells whom the connection is for, without naming anybody; None: for nobody in particular."""
    client_id: Structure[str] = None
    """The pool's own id of the connection; None: none was used."""
    generation: Structure[Whole] = None
    """1 for the first connection of a key, 2 for the one after it, and so on."""
    client: Always[
        Structure[Open[Literal["opened", "joined", "reused", "not-needed", "refused", "expired", "handle-lost"]]]
    ] = None
    """What became of the connection."""
    previous: Structure[Open[Literal["idle", "evicted", "expired", "handle-lost", "terminated"]]] = None
    """Why the connection before it is gone."""
    evidence: Structure[Open[Literal["server-404", "transport-forgot-handle"]]] = None
    """How it is known that the connection is lost."""
    refusal: Structure[
        Open[
            Literal[
                "pool-full",
                "principal-full",
                "ending-full",
                "init-timeout",
                "init-failed",
                "no-identity",
                "incomplete-identity",
                "identity-mismatch",
                "stale-tools",
                "binding-changed",
                "request-unmatched",
                "lease-expired",
                "operations-full",
                "closed",
            ]
        ]
    ] = None
    init_ms: Structure[Number] = None
    """Milliseconds that opening took; None: nothing was opened."""
    definitions: Structure[Open[Literal["shared", "listed"]]] = None
    """For `list`: whether the tools were known already, or asked for."""
    definitions_age_ms: Structure[Number] = None
    """Milliseconds since they were asked for, where `shared`."""
    revalidated: Structure[Open[Literal["kept", "refused"]]] = None
    """For `call`, on a new connection: whether the tool is still the one that was offered."""


# ---- attempts ------------------------------------------------------------------------------------

AttemptOutcome = Literal["answered", "refused", "failed", "timed-out", "cut"]
"""`answered` says that a response came, whatever it says; `cut`: the request was cancelled on its way."""

AttemptReason = Open[
    Literal[
        "retryable",
        "answered",
        "exhausted",
        "wait-limit",
        "no-time-left",
        "not-replayable",
        "not-retryable",
        "not-permitted",
        "changes-without-key",
        "cancelled",
    ]
]
"""`retryable`: another attempt follows; all others end the request."""

RefusalKind = Open[Literal["throttle", "session-busy"]]
FailureCategory = Open[Literal["timeout", "rate-limited", "server", "network", "auth", "permanent", "unknown"]]
AttemptEffect = Open[Literal["none", "unknown", "applied"]]
"""Whether the server did what was asked, as far as that is known."""

Remote = Open[Literal["unknown"]]
"""`unknown`: nothing came back, so the server may have done it or not."""


class AttemptError(Nested):
    """A failure in words of the producer; the exception's own are not kept."""

    message: Always[
        Structure[
            Open[
                Literal[
                    "The request failed before an answer arrived. Its error is not kept.",
                    "The call ran out of time before an answer arrived.",
                ]
            ]
        ]
    ] = None
    code: Always[Structure[FailureCategory]] = None


class AttemptPermission(Nested):
    """What allowed to try again."""

    by: Always[Structure[Open[Literal["declaration", "adapter", "compatibility"]]]] = None
    """The app's word about this tool, the adapter that the app chose, or the producer's older habit."""
    on: Structure[Open[Literal["throttle", "network"]]] = None
    """The failure that the app's word is about."""
    assumes: Structure[Open[Literal["refused-before-execution"]]] = None
    deduplicated: Structure[Flag] = None
    """True where the server is said to do the same request once only."""


class RequestAttempt(Nested):
    """One attempt of a request."""

    attempt: Always[Structure[Whole]] = None
    """From 1."""
    outcome: Always[Structure[Open[AttemptOutcome]]] = None
    reason: Always[Structure[AttemptReason]] = None
    """Why it went on or ended here."""
    status: Structure[Whole] = None
    """The HTTP status; None: there was no response."""
    kind: Structure[RefusalKind] = None
    failure: Structure[FailureCategory] = None
    wait_ms: Structure[Number] = None
    """Milliseconds until the next attempt."""
    retry_after_ms: Structure[Number] = None
    """Milliseconds that the server asked to wait; None: it asked nothing."""
    error: Structure[AttemptError] = None
    remote: Structure[Remote] = None
    effect: Structure[AttemptEffect] = None
    permission: Structure[AttemptPermission] = None
    """Given where another attempt follows."""
    duration_ms: Structure[Number] = None


class RequestEnd(Nested):
    """How a request came out, all attempts together."""

    outcome: Always[Structure[Open[Literal[AttemptOutcome, "cancelled"]]]] = None
    """That of the last attempt; `cancelled` where none was on its way."""
    reason: Always[Structure[AttemptReason]] = None
    status: Structure[Whole] = None
    """The HTTP status; None: there was no response."""
    kind: Structure[RefusalKind] = None
    failure: Structure[FailureCategory] = None
    during: Structure[Open[Literal["request", "wait"]]] = None
    """Where it was cut; None: it was not."""
    error: Structure[AttemptError] = None
    remote: Structure[Remote] = None
    attempts: Structure[Whole] = None
    """How many requests were sent, those that are not listed included."""
    effect: Structure[AttemptEffect] = None
    """Of all attempts: once one is `unknown`, so is this."""
    may_have_run: Structure[Flag] = None
    """True where the call failed although the server may have done what was asked."""


class ToolsRequestAttempts(Payload):
    """All attempts of one request to a tool's server, told once, when the request is over."""

    tool_call_id: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    endpoint: Structure[str] = None
    """The app's name of the server."""
    origin: Structure[str] = None
    """Where it has none: its address without a path."""
    attempts: Always[Structure[list[RequestAttempt]]] = None
    """In order, at most 100."""
    omitted: Always[Structure[Whole]] = None
    """How many more there were."""
    end: Always[Structure[RequestEnd]] = None
