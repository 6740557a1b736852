"""Hold the objects and enumerations that no one domain owns: messages, coverage, answers, references."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Union

from pydantic import Field

from atifold.events.exchange import ThinkingBlock
from atifold.events.payload import Always, Body, Content, Described, Flag, Nested, Number, Open, Structure, Whole

ContextRole = Open[Literal["system", "user", "assistant", "tool"]]
ContextSource = Open[
    Literal[
        "rag",
        "skill",
        "memory",
        "instructions",
        "evidence-recovery",
        "steering",
        "fact",
        "custom",
        "user",
        "tool-result",
        "assistant",
        "base",
        "registry",
    ]
]
Posture = Open[Literal["assist", "guard", "rails"]]
"""How much a mechanism may do about what it finds: note it, correct it once, refuse."""

NegativeKind = Open[Literal["none", "not-found", "complete", "unknown"]]


# ---- messages ------------------------------------------------------------------------------------


class MessageToolCall(Nested):
    """A tool call as an assistant's message asks for it."""

    id: Always[Content[str]] = None
    name: Always[Content[str]] = None
    args: Always[Content[Body]] = None
    """The arguments that the model proposed, an object."""
    provider_meta: Content[Body] = None


class InjectedBy(Nested):
    """Which injection put a message into the history that is no part of the conversation."""

    injection_id: Always[Content[str]] = None
    flavor: Always[Structure[ContextSource]] = None
    reason: Content[str] = None
    iteration: Always[Structure[Whole]] = None
    """The iteration at whose start the message was put in."""


class MessagePausedCall(Nested):
    """The tool call at which a batch stopped: content here, as all ids and names of the history."""

    tool_call_id: Always[Content[str]] = None
    tool_name: Always[Content[str]] = None


class MessageNotDispatched(Nested):
    """Why the call never ran whose result a message would be."""

    paused_call: Always[Content[MessagePausedCall]] = None


class LLMMessage(Nested):
    """One message of a run's history.

    All its text is content, its ids and tool names too: the history as a whole is.
    """

    role: Always[Structure[ContextRole]] = None
    content: Always[Content[str]] = None
    tool_call_id: Content[str] = None
    """With role `tool`: the call that this is the result of."""
    tool_name: Content[str] = None
    """With role `tool`: the tool that gave the result."""
    tool_calls: Content[list[MessageToolCall]] = None
    """With role `assistant`: the calls that the model asked for, run or not."""
    thinking_blocks: Content[list[ThinkingBlock]] = None
    ephemeral: Structure[Flag] = None
    """True where the message goes to the model but is not kept in memory."""
    injected_by: Content[InjectedBy] = None
    not_dispatched: Content[MessageNotDispatched] = None


# ---- what tools declare about their results ------------------------------------------------------


class CoverageItem(Nested):
    """One piece of ground that a tool says it covered or did not."""

    what: Always[Content[str]] = None
    why: Content[str] = None
    short: Content[str] = None
    """A shorter `what`, for the record alone: the model did not read it."""
    kind: Structure[Open[Literal["existence", "scope"]]] = None
    """What an uncovered item is about; None: the tool did not say."""


class Instants(Nested):
    """A stretch of time, both ends as the tool wrote them."""

    from_: Always[Content[str]] = Field(None, alias="from")
    to: Always[Content[str]] = None


class Period(Nested):
    """The time that a result is about, as its tool declared it."""

    queried: Always[Content[Instants]] = None
    held: Always[Content[Union[Instants, Open[Literal["unknown"]]]]] = None
    """What the store behind the tool has; the text `unknown` where the tool cannot say."""
    read_at: Content[str] = None


class InProgressItem(Nested):
    """One thing that a tool found still running, its outcome open."""

    what: Always[Content[str]] = None
    why: Content[str] = None
    short: Content[str] = None
    """A shorter `what`, for the record alone."""
    count: Structure[Whole] = None
    """How many things the entry stands for; None is one."""


class CallPeriod(Period):
    """A period with the call that declared it."""

    tool_name: Always[Content[str]] = None
    tool_call_id: Content[str] = None


class CallInProgress(Nested):
    """What one call found still running."""

    tool_name: Always[Content[str]] = None
    tool_call_id: Content[str] = None
    items: Always[Content[list[InProgressItem]]] = None


class AssumedArgument(Nested):
    """A value that a tool's own rule filled in."""

    tool_name: Always[Content[str]] = None
    argument: Always[Content[str]] = None
    value: Always[Content[str]] = None
    hidden: Always[Structure[Flag]] = None


class AnswerCoverage(Nested):
    """The limits of a typed answer, which cannot say them in its own text."""

    checked: Always[Content[list[CoverageItem]]] = None
    not_checked: Always[Content[list[CoverageItem]]] = None
    cannot_cover: Always[Content[list[CoverageItem]]] = None
    periods: Content[list[CallPeriod]] = None
    in_progress: Content[list[CallInProgress]] = None
    assumed: Content[list[AssumedArgument]] = None


# ---- what is known of an answer ------------------------------------------------------------------


class AssessmentRan(Nested):
    """How often one check of one honesty layer ran in a turn, of how many chances."""

    layer: Always[Structure[Whole]] = None
    """1 choice of tool, 2 inputs, 3 results, 4 answer."""
    check: Always[
        Structure[
            Open[Literal["argument-rules", "tool-coverage", "result-shape", "names-and-numbers", "answer-checks"]]
        ]
    ] = None
    ran: Always[Structure[Whole]] = None
    of: Always[Structure[Whole]] = None


class AnswerAssessment(Nested):
    """How far the run's own record supports the answer."""

    assessment: Always[Structure[Open[Literal["known", "unrefuted", "unknown", "not-applicable"]]]] = None
    standing: Always[Structure[Open[Literal["known", "consistent", "not-sure", "ask", "not-assessed"]]]] = None
    """The same value in the words that an app shows."""
    reasons: Always[
        Structure[
            list[
                Open[
                    Literal[
                        "asked",
                        "argument-assumed",
                        "argument-unverified",
                        "declared-absent",
                        "coverage-gap",
                        "empty-undeclared",
                        "sources-conflict",
                        "value-unsupported",
                        "value-survived-revision",
                        "stopped-early",
                        "answer-check-failed",
                        "check-unreachable",
                    ]
                ]
            ]
        ]
    ] = None
    checked: Always[Structure[list[AssessmentRan]]] = None


class DeliveredNegative(Nested):
    """One statement that something is not there, in the producer's own words."""

    kind: Always[Structure[NegativeKind]] = None
    about: Content[Union[str, Number]] = None
    """The one thing that the searches were about; None where there were several or none is known."""
    rests_on: Always[Content[list[str]]] = None
    """The calls whose results carry the statement."""
    statement: Always[Content[str]] = None
    delivery: Always[Structure[Open[Literal["record-composed"]]]] = None
    version: Always[Content[str]] = None


class StaleSince(Nested):
    """When a result that a later turn cites was read."""

    turn: Always[Structure[Whole]] = None
    read_at: Content[str] = None


class NegativeCheck(Nested):
    """One check of one negative statement."""

    id: Always[Content[str]] = None
    path: Always[Content[str]] = None
    index: Always[Structure[Whole]] = None
    kind: Always[Structure[NegativeKind]] = None
    notes: Structure[list[Open[Literal["absence-kind-normalized"]]]] = None
    code: Always[Content[str]] = None
    disposition: Always[Structure[Open[Literal["checked-fail", "not-applicable", "unreachable"]]]] = None
    tools: Always[Content[list[str]]] = None
    results: Always[Content[list[str]]] = None
    stale_since: Content[StaleSince] = None


class NegativeCoverage(Nested):
    """How many results of one tool the negatives were checked against."""

    tool: Always[Content[str]] = None
    checked: Always[Structure[Whole]] = None


class NegativeAction(Nested):
    """How one tool's calls went that a negative rests on."""

    tool: Always[Content[str]] = None
    outcome: Always[Structure[Open[Literal["ok", "error", "not-run"]]]] = None


class AnswerNegatives(Nested):
    """The statements of absence in an answer: what was checked and what was delivered."""

    field: Always[Content[str]] = None
    version: Always[Content[str]] = None
    delivery: Always[Structure[Open[Literal["as-checked", "recorded", "fallback"]]]] = None
    claims: Always[Content[list[DeliveredNegative]]] = None
    checks: Always[Content[list[NegativeCheck]]] = None
    coverage: Always[Content[list[NegativeCoverage]]] = None
    actions: Always[Content[list[NegativeAction]]] = None


# ---- references ----------------------------------------------------------------------------------


class ArtifactRef(Nested):
    """A stored result that is named instead of repeated."""

    ref: Always[Structure[str]] = None
    kind: Always[Structure[str]] = None


_SCALAR: Final = [{"type": kind} for kind in ("string", "number", "boolean", "null")]

GuardValue = Annotated[Any, Described({"anyOf": [*_SCALAR, {"type": "array", "items": {"anyOf": _SCALAR}}]})]
"""A guard's threshold: a scalar, null or a list of these."""


class GuardCondition(Nested):
    """One condition of a guard: what was compared with what, and how it came out."""

    key: Always[Structure[str]] = None
    op: Always[Structure[str]] = None
    value: Always[Content[GuardValue]] = None
    actual_summary: Always[Content[str]] = None
    """What the tool's result had there, shortened."""
    passed: Always[Structure[Flag]] = None


class GuardEvaluation(Nested):
    """How the guard on one edge of a skill graph judged one tool result."""

    from_: Always[Structure[str]] = Field(None, alias="from")
    to: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None
    tool_call_id: Structure[str] = None
    verdict: Always[Structure[Flag]] = None
    conditions: Always[Structure[list[GuardCondition]]] = None
