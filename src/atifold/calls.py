"""Hold the neutral record of one model, tool or agent invocation, whatever dialect it came in.

A dialect reads a span into a call; the fold reads calls into trajectories and knows no dialect.
`MISSING` stands where a trace says nothing: it is not None (a tool may well return null), not an
empty text and never a zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Any, Final, Literal, Union

from atifold.records import record
from atifold.spans import Attributes, Link, SpanKey


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "missing"

    def __bool__(self) -> bool:
        """Return False, so that `value or default` works."""
        return False


MISSING: Final = Missing.MISSING

PLACEHOLDERS: Final = frozenset({"", "<not serializable>", "<not specified>", "non-serializable result"})
"""Texts that writers of traces put where they lost a value, in lower case."""


# ---- messages ------------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class Text:
    """Plain text of a message."""

    text: str


@record(frozen=True, slots=True)
class Reasoning:
    """What the model thought; `extra` keeps what belongs to it (a signature)."""

    text: str
    extra: Attributes = field(default_factory=dict)


@record(frozen=True, slots=True)
class ToolRequest:
    """A tool call that a model asked for.

    `id` is None where the trace has none (empty and placeholder ids count as none). `arguments` is
    the parsed value, an object for every well-behaved model; a text that is no JSON stays a text.
    """

    id: str | None
    name: str
    arguments: Any = MISSING
    extra: Attributes = field(default_factory=dict)


@record(frozen=True, slots=True)
class ToolResponse:
    """A tool's result as the next request shows it to the model; `result` is any JSON value.

    `shown` are its texts and media in their order, where it holds an image; empty for any other.
    """

    id: str | None
    result: Any = MISSING
    name: str | None = None
    failed: bool = False
    shown: tuple[Text | Media, ...] = ()


@record(frozen=True, slots=True)
class Media:
    """An image, a sound or another file: by `uri`, by `data` (base64 text) or by neither (dropped)."""

    modality: str
    mime_type: str | None = None
    uri: str | None = None
    data: str | None = None


@record(frozen=True, slots=True)
class OtherPart:
    """A part of a kind that no reader knows, kept as it was."""

    value: Any


Part = Union[Text, Reasoning, ToolRequest, ToolResponse, Media, OtherPart]


@record(frozen=True, slots=True)
class Message:
    """One message of a history.

    `role` is system, user, assistant or tool (a dialect maps its own words onto these and keeps a
    word that it cannot map). `origin` says who put a user-role message there when it was not the
    user: `framework` or `copied`; None means that nothing is known of it.
    """

    role: str
    parts: tuple[Part, ...] = ()
    name: str | None = None
    origin: str | None = None


# ---- figures -------------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class Usage:
    """Token counts of one inference, normalised as ATIF and the conventions count them.

    `prompt` includes `cached` (hits) and `cache_write`; `completion` includes `reasoning`. None is
    unknown. `raw` holds the figures as the trace had them, by its own names. `surplus` says that
    they may be too many, for their writer is known to estimate them or to count some twice.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    raw: Attributes = field(default_factory=dict)
    surplus: bool = False


@record(frozen=True, slots=True)
class Failure:
    """Why a call failed: the low-cardinality type, and the text where it was captured."""

    type: str | None = None
    message: str | None = None


@record(frozen=True, slots=True)
class Attempt:
    """One failed try inside a call that went on (a retry or a fail-over)."""

    time_ns: int | None
    number: int | None
    extra: Attributes = field(default_factory=dict)


@record(frozen=True, slots=True)
class Lookup:
    """One search for documents or memories, or one write of a memory, beside the calls.

    `kind` is `retrieval` or `memory`; `facts` are what it asked for and found, JSON values by name.
    """

    kind: Literal["retrieval", "memory"]
    facts: Attributes = field(default_factory=dict)


# ---- calls ---------------------------------------------------------------------------------------


@record(frozen=True, slots=True)
class Call:
    """What all three kinds of call have in common.

    `parent` is the nearest enclosing **call** (spans that are no call, such as HTTP or graph nodes,
    are stepped over), None for a root. `orphan` says that the chain of parents broke off: a parent
    was named and is not among the spans.
    `start_ns`/`end_ns` are the span's own (`end_ns` may lie before the start, None = never ended);
    `sequence` orders calls that start at the same time where the emitter counted.
    `conversation` is the id of the session that the trace names, `service`/`service_version` are
    the resource's.
    `links` are the span's links; `resumes` is the paused agent span that this one carries on.
    `incomplete` holds reasons for which this record is unfinished, in words for the report.
    `lookups` came before it, of an agent also after its last inference; `scores` are evaluations of it.
    `extra` is what the trajectory keeps as it is (JSON values by name) under `extra`.
    """

    key: SpanKey
    parent: SpanKey | None
    name: str
    start_ns: int
    end_ns: int | None
    dialect: str
    orphan: bool = False
    sequence: int | None = None
    conversation: str | None = None
    service: str | None = None
    service_version: str | None = None
    failure: Failure | None = None
    paused: bool = False
    resumes: SpanKey | None = None
    incomplete: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    scores: tuple[Attributes, ...] = ()
    extra: Attributes = field(default_factory=dict)


@record(frozen=True, slots=True)
class ModelCall(Call):
    """One inference.

    `input` is the history that was sent, without `system` where that travels apart; None where
    content was not captured. `input_base` counts messages of the same owner's history that precede
    `input` and are not repeated in it (0: `input` is the whole history).
    `output` is what the model produced (one entry a choice or message); None where not captured.
    `content_unread` says that the span seems to hold content under names that no dialect reads.
    `system` is the text of the system instructions given apart from the history.
    `tools` are the definitions offered, as the trace has them.
    `agent_name` is the agent that the span itself names. `event_id` is the framework's own id of the
    answer: spans of one call share it, and those of two calls never do.
    `attempts` failed before it went on; `served` says who answered in the end, where that is known.
    `compacted` says that the history was shortened to fit before this call.
    """

    model: str | None = None
    provider: str | None = None
    input: tuple[Message, ...] | None = None
    input_base: int = 0
    output: tuple[Message, ...] | None = None
    content_unread: bool = False
    system: str | None = None
    tools: tuple[Any, ...] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    cost_source: str | None = None
    response_id: str | None = None
    event_id: str | None = None
    finish_reasons: tuple[str, ...] = ()
    reasoning_effort: str | float | None = None
    attempts: tuple[Attempt, ...] = ()
    served: Attributes = field(default_factory=dict)
    compacted: bool = False
    agent_name: str | None = None


@record(frozen=True, slots=True)
class ToolCall(Call):
    """One execution of a tool.

    `id` is the id of the model's request where the span has it. `dispatch` says that the tool did
    not run though the span exists: `refused` or `not_dispatched`; None means that it ran. `shown` is as in
    `ToolResponse`.
    """

    id: str | None = None
    tool: str = ""
    arguments: Any = MISSING
    result: Any = MISSING
    shown: tuple[Text | Media, ...] = ()
    description: str | None = None
    dispatch: Literal["refused", "not_dispatched"] | None = None
    agent_name: str | None = None


@record(frozen=True, slots=True)
class AgentCall(Call):
    """One turn of an agent, or one run of a workflow (`workflow` True).

    `input` and `output` are what went in and came out, None where not captured; `system` as in
    `ModelCall`. `run_id` is the emitter's own id of the run. `handoff` says that control passed
    here from a sibling and does not return, `delegated` that it returns to whoever called it.
    `usage`/`cost_usd` are the container's own claim: they count only where no model call below has
    any.
    """

    agent: str | None = None
    agent_id: str | None = None
    agent_version: str | None = None
    description: str | None = None
    workflow: bool = False
    handoff: bool = False
    delegated: bool = False
    run_id: str | None = None
    model: str | None = None
    input: tuple[Message, ...] | None = None
    output: tuple[Message, ...] | None = None
    system: str | None = None
    tools: tuple[Any, ...] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None


@record(frozen=True, slots=True)
class Reading:
    """What the dialects made of a set of spans.

    `calls` are in no particular order. `ignored` counts spans that are no calls, by reason.
    `dialects` counts spans by dialect. `notes` are one-line remarks for the report (a broken JSON,
    a key that was not understood), each with the span's name. `unknown_keys` counts attribute names
    of recognised spans that no row reads. `merged` gives, by the key of a call that another one also
    told of, the key of that one. `passed_over` counts the spans that are no calls, by reason, by the key
    of the nearest call around them, or (trace id, "") where there is none. `linked` gives, by the key of
    the outermost call of a trace, that of the call in another trace that a span link names.
    """

    calls: tuple[Call, ...] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    dialects: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unknown_keys: Mapping[str, int] = field(default_factory=dict)
    merged: Mapping[SpanKey, SpanKey] = field(default_factory=dict)
    passed_over: Mapping[SpanKey, Mapping[str, int]] = field(default_factory=dict)
    linked: Mapping[SpanKey, SpanKey] = field(default_factory=dict)
