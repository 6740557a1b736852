"""Model what is said of a tool's result: its effects, its size, and the ground that it covers."""

from __future__ import annotations

from typing import Literal, Union

from pydantic import Field

from atifold.events.exchange import ToolStatus
from atifold.events.payload import Always, Content, Flag, Nested, Number, Open, Payload, Structure, Whole
from atifold.events.shapes import CoverageItem, InProgressItem


class ToolEffect(Payload):
    """A result asked for something beyond itself, and was judged. Since 9.19."""

    kind: Always[Structure[Open[Literal["propose-transition", "require-instruction"]]]] = None
    """A move in the skill graph, or an instruction for the model."""
    outcome: Always[Structure[Open[Literal["accepted", "refused", "superseded"]]]] = None
    stay: Structure[Flag] = None
    """True where the move leads to the skill that the run is in."""
    tool_name: Always[Structure[str]] = None
    tool_call_id: Structure[str] = None
    iteration: Always[Structure[Whole]] = None
    target_skill_id: Structure[str] = None
    reason: Content[str] = None
    """Why the tool wants the move."""
    instruction_id: Structure[str] = None
    delivery_lease: Structure[Open[Literal["next-call", "until-skill-exit"]]] = None
    """How long the instruction stays."""
    refusal_reason: Content[str] = None
    superseded_by: Structure[Open[Literal["earlier-proposal"]]] = None


class ToolResultRefused(Payload):
    """A result is longer than its tool allows, and no part of it was kept. Since 9.20."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    size_chars: Always[Structure[Whole]] = None
    """The result's length, as text."""
    max_chars: Always[Structure[Whole]] = None
    narrow_by: Structure[list[str]] = None
    """Arguments by which the model could ask for less."""
    declared_status: Structure[ToolStatus] = None


class ToolRepeatedCall(Payload):
    """A call gave what it had given before; the model is told so. Since 9.26."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    occurrences: Always[Structure[Whole]] = None
    """How often in this turn, this time included."""
    args_fingerprint: Always[Structure[str]] = None
    """The same arguments have the same one."""
    result_fingerprint: Always[Structure[str]] = None
    mode: Structure[Open[Literal["arguments"]]] = None
    """`arguments`: the result did not count; None: both had to be the same."""


# ---- coverage ------------------------------------------------------------------------------------


class DeclaredInstants(Nested):
    """A stretch of time, both ends as the tool wrote them."""

    from_: Always[Structure[str]] = Field(None, alias="from")
    to: Always[Structure[str]] = None


class DeclaredPeriod(Nested):
    """The time that a result is about, as its tool declared it."""

    queried: Always[Structure[DeclaredInstants]] = None
    held: Always[Structure[Union[DeclaredInstants, Open[Literal["unknown"]]]]] = None
    """What the store behind the tool has; the text `unknown` where the tool cannot say."""
    read_at: Structure[str] = None


class DeclaredProvenance(Nested):
    """Where a tool looked, and how old that is."""

    measured_at: Always[Structure[str]] = None
    """When the world was measured, in the tool's own way of writing time."""
    source: Always[Structure[str]] = None
    age_seconds: Structure[Number] = None
    source_export_date: Structure[str] = None


class SuggestedTool(Nested):
    """Another tool that may know."""

    tool: Always[Structure[str]] = None
    """As the first one names it; it need not exist."""
    why: Content[str] = None


class FacetReference(Nested):
    """Where the value of one facet stands, in the run's own record."""

    result_id: Always[Content[str]] = None
    argument: Content[str] = None


class CoverageFacet(Nested):
    """One side of what a search was about, by reference."""

    facet: Always[Structure[Open[Literal["source", "subject", "population", "filter", "period", "names"]]]] = None
    from_: Always[Structure[Open[Literal["call", "default", "host", "result"]]]] = Field(None, alias="from")
    """Who set it."""
    ref: Always[Content[FacetReference]] = None
    any: Structure[Flag] = None
    """True where it was left open, so that nothing was left out by it."""


class GapFilter(Nested):
    """A filter that a gap bears on."""

    filter: Always[Content[str]] = None
    values: Content[list[Union[str, Number, Flag]]] = None


class CoverageGap(Nested):
    """One thing that a search did not cover."""

    kind: Always[
        Structure[
            Open[
                Literal[
                    "argument-unsent",
                    "cap-reached",
                    "paged",
                    "period",
                    "partial",
                    "credential-limited",
                    "match",
                    "ranking",
                    "scope",
                    "prose",
                ]
            ]
        ]
    ] = None
    what: Always[Content[str]] = None
    why: Content[str] = None
    bears: Content[Union[GapFilter, Open[Literal["source", "population", "period", "completeness"]]]] = None
    """What it makes doubtful."""
    argument: Content[str] = None


class CoverageComposition(Nested):
    """What the producer itself put together about a search."""

    origin: Always[Structure[Open[Literal["local", "remote"]]]] = None
    """`remote`: the tool is not the app's own, so that its word proves nothing."""
    result_id: Always[Content[str]] = None
    complete: Always[Structure[Flag]] = None
    facets: Always[Content[list[CoverageFacet]]] = None
    gaps: Always[Content[list[CoverageGap]]] = None


class FieldReference(Nested):
    """Where a text stands that is not told here, in the run's own record."""

    result_id: Always[Content[str]] = None
    field: Always[Structure[Open[Literal["lookedFor"]]]] = None


class ToolAbsent(Payload):
    """A tool looked and says that nothing is there."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    looked_for: Content[str] = None
    checked: Always[Structure[list[CoverageItem]]] = None
    """Where it looked; never empty."""
    not_checked: Structure[list[CoverageItem]] = None
    """Where it did not look this time."""
    cannot_cover: Structure[list[CoverageItem]] = None
    """Where it can never look."""
    try_instead: Content[str] = None
    try_instead_tool: Structure[SuggestedTool] = None
    provenance: Structure[DeclaredProvenance] = None
    period: Structure[DeclaredPeriod] = None
    composition: Content[CoverageComposition] = None
    """Given for tools that declare what a search of theirs is."""
    looked_for_ref: Content[FieldReference] = None
    """Given in place of `looked_for`."""


class ToolCoverageDeclared(Payload):
    """A tool says what its result covers and what it does not."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    checked: Structure[list[CoverageItem]] = None
    not_checked: Structure[list[CoverageItem]] = None
    """What it left out this time."""
    cannot_cover: Structure[list[CoverageItem]] = None
    """What it always leaves out."""
    period: Structure[DeclaredPeriod] = None
    in_progress: Structure[list[InProgressItem]] = None
    composition: Content[CoverageComposition] = None
    """Given for tools that declare what a search of theirs is."""
