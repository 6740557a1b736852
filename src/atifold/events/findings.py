"""Model what the model says of its own evidence, and what the producer checks of it.

Names, enumerations and counts alone: what was said or found stays in the run's own record.
"""

from __future__ import annotations

from typing import Literal

from atifold.events.payload import Always, Content, Flag, Nested, Number, Open, Payload, Structure, Whole

Standing = Open[Literal["fact", "open", "noise", "ruled-out"]]
"""What a tool's result is worth."""

DeclaredOn = Open[Literal["tool-call", "answer"]]
"""Where the model said it: on a call for a tool, or in its answer."""


class FindingsDeclared(Payload):
    """The model said why it makes a tool call."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    """It is told before the call's `tool_start`."""
    iteration: Always[Structure[Whole]] = None
    basis: Always[Structure[Open[Literal["direct", "exploratory"]]]] = None
    expect: Structure[Open[Literal["low", "medium", "high"]]] = None
    """How likely the model thinks that the call settles something."""
    has_proposition: Structure[Flag] = None
    """True where it said what the call tests."""
    malformed: Structure[Whole] = None
    """Entries that could not be read and were left out; None: all could."""


class FindingsStanding(Payload):
    """The model said what an earlier result is worth."""

    tool_call_id: Always[Structure[str]] = None
    """The call whose result is meant, not the one it was said on."""
    tool_name: Structure[str] = None
    """None where `unknown_id`."""
    iteration: Always[Structure[Whole]] = None
    """The round in which it was said."""
    standing: Always[Structure[Standing]] = None
    declared_on: Always[Structure[DeclaredOn]] = None
    assertion_count: Always[Structure[Whole]] = None
    conflict_keys: Content[list[str]] = None
    """What the new assertions contradict, by their keys."""
    unknown_id: Structure[Flag] = None
    """True where no recent call has that id."""
    agrees: Structure[Flag] = None
    """Whether the judge says the same; None: it said nothing."""


class FindingsJudged(Payload):
    """A second model judged what a result is worth. Its tokens are its own."""

    tool_call_id: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    against: Always[Structure[Open[Literal["proposition", "question"]]]] = None
    """What the result was held against: the call's own claim, or the user's question."""
    standing: Always[Structure[Standing]] = None
    confidence: Always[Structure[Number]] = None
    latency_ms: Always[Structure[Number]] = None
    input_tokens: Structure[Whole] = None
    output_tokens: Structure[Whole] = None


class FindingsJudgeFailed(Payload):
    """The second model gave no judgement; the run goes on."""

    tool_call_id: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    status: Structure[Whole] = None
    """The HTTP status; None: there was no response."""
    latency_ms: Always[Structure[Number]] = None


class FindingsContingent(Payload):
    """The model used a value that only results have which it had not called facts."""

    iteration: Always[Structure[Whole]] = None
    declared_on: Always[Structure[DeclaredOn]] = None
    tool_call_id: Structure[str] = None
    """The call that has the value in its arguments; None for an answer."""
    carriers: Always[Structure[Whole]] = None
    """How many results have the value."""
    standings: Always[Structure[list[Standing]]] = None
    value_chars: Always[Structure[Whole]] = None


class FindingsArgument(Payload):
    """Where the value of one argument comes from, for arguments that a rule watches.

    The value itself is not here. Of the fields that may lack None means: it is not so, or the rule
    did not ask.
    """

    tool_call_id: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    turn: Always[Structure[Whole]] = None
    """Which turn of the conversation."""
    argument: Always[Structure[str]] = None
    """The argument's name."""
    rule: Structure[Open[Literal["ask", "assume"]]] = None
    """What the rule does where nobody gave a value: ask for one, or take the declared one."""
    period: Structure[Flag] = None
    """True for an argument that is a stretch of time."""
    source: Structure[Open[Literal["said", "answered", "result", "app", "default", "model"]]] = None
    """Who gave the value: the user, the user when asked, a result, the app, the rule, or the model alone."""
    asked: Structure[Open[Literal["missing", "unverified", "invalid-answer"]]] = None
    """Why the user is asked."""
    claimed: Structure[Open[Literal["user", "result", "turn", "app", "assumed", "none"]]] = None
    """Where the model says it has the value from."""
    matched: Structure[Open[Literal["quote", "phrase", "spelling", "mention"]]] = None
    """How the value was found there."""
    reading: Structure[Flag] = None
    earlier: Structure[Flag] = None
    set_aside: Structure[Open[Literal["open", "noise", "ruled-out"]]] = None
    """What the model had called the result that has the value."""
    arguments_from: Structure[Open[Literal["listed", "unlisted"]]] = None
    coincides: Structure[Open[Literal["person", "result", "app"]]] = None
    free: Structure[Flag] = None
    failed: Structure[
        Open[
            Literal[
                "quote-not-found",
                "composed-message",
                "unknown-result",
                "placed-result",
                "not-in-result",
                "no-earlier-turn",
                "not-in-earlier-turns",
                "only-in-model-answer",
                "not-in-app-text",
                "uncheckable",
            ]
        ]
    ] = None
    """Why the model's claim does not hold."""
    malformed: Structure[Whole] = None
    value_chars: Structure[Whole] = None
    """Characters of the value; None where the tool hides it."""


class FindingsPeriod(Payload):
    """Whether a result covers the time that was asked for. No times are here."""

    tool_call_id: Always[Structure[str]] = None
    tool_name: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    turn: Always[Structure[Whole]] = None
    """Which turn of the conversation."""
    verdict: Always[Structure[Open[Literal["covered", "partly-held", "not-held", "unknown", "undeclared"]]]] = None
    """`undeclared`: the tool takes a stretch of time and does not say which one its result is about."""
    time_checks: Structure[
        list[
            Open[
                Literal[
                    "period-differs-from-asked",
                    "period-shifted",
                    "period-beyond-retention",
                    "partly-beyond-retention",
                ]
            ]
        ]
    ] = None
    """What does not fit; None: nothing, or nobody looked."""


class TextSpan(Nested):
    """A stretch of a text: from `start`, up to and without `end`."""

    start: Always[Structure[Whole]] = None
    end: Always[Structure[Whole]] = None


class FindingsNegativeClaim(Payload):
    """A sentence of the answer says, or may say, that something is not there.

    Two kinds share the event: a claim has `claim`, `notes` and `results`, a note has `code`. Where the
    sentence stands is told, never the sentence. The name is inferred: no registry has it yet.
    """

    kind: Always[Structure[Open[Literal["negative-claim", "negative-claim-note"]]]] = None
    claim: Structure[Open[Literal["none", "complete"]]] = None
    """Whether it denies that there is anything, or that there is anything more."""
    notes: Structure[list[str]] = None
    results: Structure[list[str]] = None
    """The results that it rests on, by reference."""
    code: Structure[str] = None
    """Why the sentence could not be judged."""
    iteration: Always[Structure[Whole]] = None
    turn: Structure[Whole] = None
    field: Always[Structure[str]] = None
    """Where in the answer, a JSON pointer."""
    span: Always[Structure[TextSpan]] = None
    """Where in that field, in UTF-16 code units."""
    pack_version: Always[Structure[str]] = None
    """The phrases that were looked for."""
    phrase_id: Structure[str] = None
    truncated: Structure[Flag] = None
    """True where something of this was cut or left out."""
