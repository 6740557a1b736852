"""Model how runners are put together: sequences, parallel branches, conditions and loops."""

from __future__ import annotations

from typing import Any, Literal

from atifold.events.payload import Always, Content, Nested, Number, Open, Payload, Structure, Whole

CompositionKind = Open[Literal["Sequence", "Parallel", "Conditional", "Loop"]]


class CompositionEnter(Payload):
    """A composition begins."""

    kind: Always[Structure[CompositionKind]] = None
    id: Always[Structure[str]] = None
    name: Always[Structure[str]] = None
    child_count: Always[Structure[Whole]] = None


class CompositionExit(Payload):
    """A composition ends."""

    kind: Always[Structure[CompositionKind]] = None
    id: Always[Structure[str]] = None
    name: Structure[str] = None
    status: Always[Structure[Open[Literal["ok", "err", "break", "budget_exhausted"]]]] = None
    """`ok` also where a branch failed: the merge's counts tell."""
    duration_ms: Always[Structure[Number]] = None
    """Milliseconds for the outermost composition. In nested ones 9.62.0 wrote the time of day here."""


class ForkBranch(Nested):
    """One branch of a parallel composition."""

    id: Always[Structure[str]] = None
    name: Always[Structure[str]] = None


class ParallelForkStart(Payload):
    """A parallel composition starts its branches."""

    parent_id: Always[Structure[str]] = None
    branches: Always[Structure[list[ForkBranch]]] = None


class ParallelBranchComplete(Payload):
    """A branch is done. Declared in the catalogue, never seen from 9.62.0."""

    parent_id: Always[Structure[str]] = None
    branch_id: Always[Structure[str]] = None
    status: Always[Structure[Open[Literal["ok", "err"]]]] = None
    duration_ms: Always[Structure[Number]] = None


class ParallelMergeEnd(Payload):
    """The results of a parallel composition are one result."""

    parent_id: Always[Structure[str]] = None
    strategy: Always[Structure[Open[Literal["llm", "fn", "outcomes-fn"]]]] = None
    """By a model, by a function, or by a function that takes failed branches too."""
    result_summary: Always[Content[str]] = None
    merged_branch_count: Always[Structure[Whole]] = None
    """Branches whose result went in; fewer than `total_branch_count` where a branch failed."""
    total_branch_count: Always[Structure[Whole]] = None


class ConditionalRouteDecided(Payload):
    """A condition chose its branch."""

    conditional_id: Always[Structure[str]] = None
    chosen: Always[Structure[str]] = None
    rationale: Content[str] = None
    evidence: Content[Any] = None


class LoopIterationStart(Payload):
    """A loop goes round once more."""

    loop_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None


class LoopIterationExit(Payload):
    """One round of a loop is done; `reason` says whether it was the last."""

    loop_id: Always[Structure[str]] = None
    iteration: Always[Structure[Whole]] = None
    reason: Always[Structure[Open[Literal["budget", "guard_false", "break", "body_complete"]]]] = None
