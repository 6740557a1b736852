"""Model what goes into a model's context, what falls out of it, and why."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from atifold.events.payload import Always, Content, Flag, Nested, Number, Open, Payload, Structure, Whole
from atifold.events.shapes import ContextRole, ContextSource, GuardEvaluation

ContextSlot = Open[Literal["system-prompt", "messages", "tools"]]
"""The three parts of a request that context goes into."""


class BudgetSpent(Nested):
    """What one injection costs of its slot's budget."""

    tokens: Always[Structure[Whole]] = None
    fraction_of_cap: Always[Structure[Number]] = None
    """From 0 to 1."""


class ContextInjected(Payload):
    """Something was put into the context.

    For the slot `system-prompt` these are the fragments of the prompt, joined by an empty line; for
    `messages` one event a message that the request holds.
    """

    content_summary: Always[Content[str]] = None
    content_hash: Always[Structure[str]] = None
    raw_content: Content[str] = None
    """The whole text, where the summary is not."""
    slot: Always[Structure[ContextSlot]] = None
    as_role: Structure[ContextRole] = None
    as_recency: Structure[Open[Literal["latest", "earlier"]]] = None
    position: Structure[Whole] = None
    """In the slot, from 0."""
    section_tag: Structure[str] = None
    source: Always[Structure[ContextSource]] = None
    source_id: Structure[str] = None
    upstream_ref: Structure[str] = None
    reason: Always[Content[str]] = None
    retrieval_score: Structure[Number] = None
    rank_position: Structure[Whole] = None
    threshold: Structure[Number] = None
    budget_spent: Structure[BudgetSpent] = None
    expires_after: Structure[Open[Literal["iteration", "turn", "run", "persistent"]]] = None


class ContextEvicted(Payload):
    """Something was taken out of the context."""

    slot: Always[Structure[ContextSlot]] = None
    content_hash: Always[Structure[str]] = None
    reason: Always[Structure[Open[Literal["budget", "stale", "low_score", "policy", "user_revoked"]]]] = None
    survival_ms: Always[Structure[Number]] = None
    """Milliseconds that it was in."""


class SlotBudget(Nested):
    """A slot's room, in characters."""

    cap: Always[Structure[Whole]] = None
    used: Always[Structure[Whole]] = None
    headroom_chars: Always[Structure[Whole]] = None


class SourceShare(Nested):
    """What one source put into a slot."""

    chars: Always[Structure[Whole]] = None
    count: Always[Structure[Whole]] = None


class ContextSlotComposed(Payload):
    """One slot of the next request is complete."""

    slot: Always[Structure[ContextSlot]] = None
    iteration: Always[Structure[Whole]] = None
    budget: Always[Structure[SlotBudget]] = None
    source_breakdown: Always[Structure[dict[str, SourceShare]]] = None
    """By source (`ContextSource`); sources without a share are not in it."""
    ordering_strategy: Structure[str] = None
    dropped_count: Always[Structure[Whole]] = None
    dropped_summaries: Always[Content[list[str]]] = None


class ContextBudgetPressure(Payload):
    """The context is larger than its budget. All figures are in `unit`."""

    slot: Always[Structure[ContextSlot]] = None
    overflow_by: Always[Structure[Number]] = None
    plan_action: Always[Structure[Open[Literal["evict", "summarize", "abort", "none"]]]] = None
    unit: Always[Structure[Open[Literal["chars", "tokens"]]]] = None
    """Characters where a slot was too full, tokens where the whole window was."""
    cap: Always[Structure[Number]] = None
    projected: Always[Structure[Number]] = None


class SkippedInjection(Nested):
    """An injection that was not considered, and why."""

    id: Always[Structure[str]] = None
    reason: Always[
        Structure[Open[Literal["predicate-threw", "unknown-trigger-kind", "unknown-fact", "parked", "hidden"]]]
    ] = None
    error: Content[str] = None


class CatalogSkill(Nested):
    """One skill that the model could read."""

    id: Always[Structure[str]] = None
    description: Always[Content[str]] = None


class RoutingStep(Nested):
    """One decision on the way down a decision tree."""

    label: Always[Content[str]] = None
    branch: Always[Structure[str]] = None


class RoutingReason(Nested):
    """Why one injection of a skill graph is active."""

    injection_id: Always[Structure[str]] = None
    flavor: Always[Structure[str]] = None
    via: Always[Structure[str]] = None
    """`tree`, `entry`, `route` or `model`."""
    path: Structure[list[RoutingStep]] = None
    """For `tree`: from the root down."""
    label: Content[str] = None
    from_: Structure[str] = Field(None, alias="from")
    """For `route`: the skill that it comes from."""
    trigger_kind: Structure[str] = None
    tools: Structure[list[str]] = None


class MoveWitness(Nested):
    """The words of the user's message that decided a move."""

    text: Always[Content[str]] = None
    keyword: Content[str] = None


class CursorMove(Nested):
    """How the position in the skill graph changed in this iteration, and what was considered."""

    from_: Structure[str] = Field(None, alias="from")
    to: Structure[str] = None
    by: Always[Structure[str]] = None
    """`entry`, `route`, `model-pick`, `intent`, `continuity`, `stay` or `none`."""
    offered: Structure[list[str]] = None
    declined_offer: Structure[Flag] = None
    """True where the model picked a skill that could be reached but was not offered."""
    witness: Content[MoveWitness] = None
    guard: Structure[GuardEvaluation] = None
    """The guard that let the move through. Since 9.51."""
    guards_closed: Structure[list[GuardEvaluation]] = None
    """The guards that did not."""
    reachable: Structure[list[str]] = None
    """The skills that can be read from the new position. Since 9.50."""


class ContextEvaluated(Payload):
    """All injections were asked whether they apply to this iteration."""

    iteration: Always[Structure[Whole]] = None
    active_count: Always[Structure[Whole]] = None
    skipped_count: Always[Structure[Whole]] = None
    """Those that could not be asked; one that said no is in neither count."""
    evaluated_total: Always[Structure[Whole]] = None
    active_ids: Always[Structure[list[str]]] = None
    skipped_details: Always[Structure[list[SkippedInjection]]] = None
    trigger_kind_counts: Always[Structure[dict[str, Whole]]] = None
    """Active injections by what triggers them."""
    skill_catalog: Always[Structure[list[CatalogSkill]]] = None
    routing: Structure[list[RoutingReason]] = None
    cursor_move: Structure[CursorMove] = None
    superseded_ids: Structure[list[str]] = None
    """Entries that matched but stay out, since the graph's position is elsewhere. Since 8.15."""
