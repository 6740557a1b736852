"""Model results that say what their figures mean.

All of it is content: it is the result itself, in another form. Its names are in snake_case on the
wire too, since a model reads them.
"""

from __future__ import annotations

from typing import Any, Literal, Union

from pydantic import ConfigDict, Field

from atifold.events.payload import Always, Content, Flag, Nested, Nullable, Number, Open, Payload, Structure, Whole


class SemanticNested(Nested):
    """An object inside a described result; its names on the wire are the Python names."""

    model_config = ConfigDict(alias_generator=None)


class SemanticPoint(SemanticNested):
    """One measured value."""

    t: Always[Content[Union[str, Number]]] = None
    """When, in the tool's own way of writing time."""
    entity: Always[Content[str]] = None
    """What the value is a value of."""
    metric: Always[Content[str]] = None
    value: Always[Content[Nullable[Union[Number, str, Flag]]]] = None


class SemanticFact(SemanticNested):
    """One row of facts about one thing; beyond its name the columns are the tool's own and are kept as extra."""

    entity: Always[Content[str]] = None


class SemanticEdge(SemanticNested):
    """One relation between two things."""

    from_: Always[Content[str]] = Field(None, alias="from")
    to: Always[Content[str]] = None
    kind: Always[Content[str]] = None
    """The relation, in the tool's words."""


class SemanticGrain(SemanticNested):
    """What one value stands for."""

    interval: Content[str] = None
    """The stretch of time between values (`30m`)."""
    aggregation: Content[str] = None
    """How values were put together (`avg`)."""
    is_counter: Content[Flag] = None
    """Whether the values only ever grow, so that they cannot be added up."""
    collapsed: Content[str] = None
    """What was put together, in words."""


class SemanticProvenance(SemanticNested):
    """Where the values come from, and how old they are."""

    measured_at: Always[Content[str]] = None
    """When the world was measured, which may be long before the tool ran."""
    age_seconds: Content[Number] = None
    source: Always[Content[str]] = None
    source_export_date: Content[str] = None


class SemanticCoverageItem(SemanticNested):
    """One piece of ground that the result covers or does not."""

    what: Always[Content[str]] = None
    why: Content[str] = None
    short: Content[str] = None
    kind: Content[Open[Literal["existence", "scope"]]] = None


class SemanticCoverage(SemanticNested):
    """What the result covers and what it does not."""

    checked: Content[list[SemanticCoverageItem]] = None
    not_checked: Content[list[SemanticCoverageItem]] = None
    cannot_cover: Content[list[SemanticCoverageItem]] = None


class SemanticClarify(SemanticNested):
    """A question back, where the tool found several things that may be meant."""

    question: Always[Content[str]] = None
    candidates: Always[Content[list[Any]]] = None
    """What may be meant, of any shape; nothing is a possible answer."""


class SemanticRender(SemanticNested):
    """Hints for a screen; the model does not read them."""

    default: Always[Content[str]] = None
    """The form to show it in (`table`)."""
    columns: Content[list[str]] = None
    sort: Content[str] = None
    filter_note: Content[str] = None
    chart_hint: Content[str] = None


class ToolSemantics(SemanticNested):
    """The described result, whole."""

    af_semantics: Always[Content[Flag]] = None
    """Always true: it marks the object as a described result."""
    series: Content[list[SemanticPoint]] = None
    facts: Content[list[SemanticFact]] = None
    edges: Content[list[SemanticEdge]] = None
    grain: Content[SemanticGrain] = None
    provenance: Content[SemanticProvenance] = None
    coverage: Content[SemanticCoverage] = None
    not_covered: Content[list[str]] = None
    """What `coverage` says is not covered, a line each."""
    clarify: Content[Nullable[SemanticClarify]] = None
    """Null: there is nothing to ask."""
    render: Content[SemanticRender] = None
    note: Always[Content[str]] = None
    """A fixed sentence of the producer."""


class ToolSemanticsDeclared(Payload):
    """A tool gave a described result; the model read a shorter form of it."""

    tool_name: Always[Structure[str]] = None
    tool_call_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    semantics: Always[Content[ToolSemantics]] = None
