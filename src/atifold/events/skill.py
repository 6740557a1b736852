"""Model skills: instructions and tools that are read when needed, and the graph that leads from one to the next."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from atifold.events.payload import Always, Content, Flag, Nested, Nullable, Number, Open, Payload, Structure, Whole
from atifold.events.shapes import GuardValue

ProposalSource = Open[Literal["tool-proposal"]]
"""Who wanted the move: a tool's result."""


class SkillActivated(Payload):
    """A skill is in use from now on."""

    skill_id: Always[Structure[str]] = None
    reason: Always[Structure[Open[Literal["autoActivate", "read_skill_result", "manual"]]]] = None
    injected_tools: Structure[list[str]] = None
    """The tools that come with it."""
    injected_system_prompt_chars: Structure[Whole] = None


class SkillDeactivated(Payload):
    """A skill is no longer in use."""

    skill_id: Always[Structure[str]] = None
    reason: Always[Content[str]] = None


# ---- the graph -----------------------------------------------------------------------------------


class SkillNode(Nested):
    """One place of the graph as its author drew it."""

    id: Always[Structure[str]] = None
    kind: Always[Structure[str]] = None
    """`skill`, or `predicate` for a decision."""
    description: Content[str] = None
    """What the model reads to choose the skill."""
    label: Content[str] = None
    title: Content[str] = None


class DeclaredCondition(Nested):
    """One condition of a guard, before anything is held against it."""

    key: Always[Structure[str]] = None
    op: Always[Structure[str]] = None
    value: Always[Content[GuardValue]] = None


class DeclaredGuard(Nested):
    """What a tool's result has to fulfil for an edge to be taken."""

    conditions: Always[Structure[list[DeclaredCondition]]] = None


class SkillEdge(Nested):
    """One way from a skill to another."""

    from_: Always[Structure[Nullable[str]]] = Field(None, alias="from")
    """Null for an edge that leads in."""
    to: Always[Structure[str]] = None
    kind: Always[Structure[str]] = None
    """`entry`, `predicate`, `on-tool-return`, `on-tool-status`, `guard` or `model`."""
    label: Content[str] = None
    guard: Structure[DeclaredGuard] = None


class SkillGraphDeclared(Payload):
    """The whole graph of skills, told once a run, after `agent.run_configured`. Since 9.50."""

    nodes: Always[Structure[list[SkillNode]]] = None
    edges: Always[Structure[list[SkillEdge]]] = None


# ---- moves ---------------------------------------------------------------------------------------


class SkillRejected(Payload):
    """The model asked for a skill and did not get it."""

    requested_id: Always[Structure[str]] = None
    current_skill_id: Structure[str] = None
    """None: the run is in no skill yet."""
    allowed: Always[Structure[list[str]]] = None
    """The skills that the model was told it can have, those left out that its user may not see."""
    iteration: Always[Structure[Whole]] = None
    posture: Structure[Open[Literal["guard", "rails"]]] = None
    """Given where the skill could be reached and a stricter rule refused it. Since 9.19."""
    reason: Structure[Open[Literal["self-call", "unreachable", "posture"]]] = None
    """None from producers before 9.84."""


class SkillRerouteSuperseded(Payload):
    """A move that was granted did not happen, since a declared edge led elsewhere in the same round."""

    volunteered_id: Always[Structure[str]] = None
    """The skill that was to be next."""
    won_id: Structure[str] = None
    """The skill that is."""
    from_skill_id: Structure[str] = None
    iteration: Always[Structure[Whole]] = None
    source: Structure[ProposalSource] = None
    """None: the model wanted the move."""


class RouteMatch(Nested):
    """One result that leads to a skill."""

    tool_call_id: Structure[str] = None
    tool_name: Always[Structure[str]] = None
    target: Always[Structure[str]] = None
    """The skill that it leads to."""


class SkillRouteConflict(Payload):
    """Results of one batch lead to different skills; the first one in the order of calls wins."""

    iteration: Always[Structure[Whole]] = None
    from_skill_id: Structure[str] = None
    winner: Always[Structure[RouteMatch]] = None
    losers: Always[Structure[list[RouteMatch]]] = None
    """In the order of calls."""
    source: Structure[ProposalSource] = None
    """None: declared edges disagree."""


class IntentScore(Nested):
    """How well one skill fits the user's message."""

    id: Always[Structure[str]] = None
    score: Always[Structure[Number]] = None
    """As the scorer counts."""
    relevance: Always[Structure[Number]] = None
    """Its share of all, from 0 to 1."""


class RunnerUp(Nested):
    """The second best skill, and how far behind it is."""

    id: Always[Structure[str]] = None
    gap: Always[Structure[Number]] = None
    """Between these two alone: it is no difference of their `relevance`."""


class RouteWitness(Nested):
    """The words of the user's message that decided."""

    text: Always[Content[str]] = None
    keyword: Content[str] = None


class RoutingPolicy(Nested):
    """The thresholds that the scores were held against."""

    near_tie_margin: Always[Structure[Number]] = None
    menu_size: Always[Structure[Whole]] = None
    floor: Structure[Number] = None
    """None: any score is good enough."""


class DroppedResume(Nested):
    """The skill of the turn before, where it could not be taken up again."""

    id: Always[Structure[str]] = None
    reason: Always[Structure[Open[Literal["unknown-skill"]]]] = None


class RouteDecider(Nested):
    """A model of its own that chose from the menu."""

    provider: Always[Structure[str]] = None
    model: Structure[str] = None
    picked: Structure[str] = None
    """A skill of the menu, or `stay`; None where it chose nothing."""


class SkillTurnRouted(Payload):
    """Where in the graph a turn begins was decided, before its first round."""

    by: Always[Structure[Open[Literal["entry", "intent", "continuity", "menu", "decider", "none"]]]] = None
    """What decided: a rule, the scorer, the position of the turn before, a menu for the model, the decider."""
    from_: Structure[str] = Field(None, alias="from")
    """The position of the turn before."""
    to: Structure[str] = None
    """None: the model has the menu, or nothing was found."""
    scorer: Structure[str] = None
    scores: Structure[list[IntentScore]] = None
    """The best first, those that lost included."""
    runner_up: Structure[RunnerUp] = None
    decisive: Structure[Flag] = None
    """Whether the scorer's best is far enough ahead and good enough."""
    witness: Content[RouteWitness] = None
    """Given where a rule on the message's words decided."""
    offered: Structure[list[str]] = None
    """The menu."""
    stay_offered: Structure[Flag] = None
    policy: Always[Structure[RoutingPolicy]] = None
    window: Structure[Whole] = None
    """How many earlier turns the scorer saw."""
    dropped_resume: Structure[DroppedResume] = None
    decider: Structure[RouteDecider] = None
    """Given where one was asked, whatever it said."""


class ServingBrain(Nested):
    """The model that answers."""

    provider: Always[Structure[str]] = None
    model: Always[Structure[str]] = None


class EscalationBrain(Nested):
    """The model that is to answer instead."""

    provider: Always[Structure[str]] = None
    model: Structure[str] = None
    """None: the same as before, from this provider."""


class SkillEscalated(Payload):
    """So many requests for skills were refused that another model takes the rest of the turn. Since 9.19."""

    iteration: Always[Structure[Whole]] = None
    after_refusals: Always[Structure[Whole]] = None
    """The limit."""
    refusals: Always[Structure[Whole]] = None
    from_: Always[Structure[ServingBrain]] = Field(None, alias="from")
    to: Always[Structure[EscalationBrain]] = None


# ---- steps ---------------------------------------------------------------------------------------


class SkillStep(Nested):
    """One step of a skill's declared procedure."""

    index: Always[Structure[Whole]] = None
    total: Always[Structure[Whole]] = None
    tool: Always[Structure[str]] = None
    """The tool that does it."""
    note: Always[Content[str]] = None


class RemainingStep(Nested):
    """One step that did not run."""

    index: Always[Structure[Whole]] = None
    tool: Always[Structure[str]] = None
    note: Always[Content[str]] = None


class SkillStepAdvanced(Payload):
    """A step is done: its tool returned. Since 9.18."""

    skill_id: Always[Structure[str]] = None
    step: Always[Structure[SkillStep]] = None
    iteration: Always[Structure[Whole]] = None
    tool_call_id: Structure[str] = None
    completed: Structure[Flag] = None
    """True where it was the last one."""


class SkillStepSkipped(Payload):
    """The model will not do a step. Since 9.18."""

    skill_id: Always[Structure[str]] = None
    step: Always[Structure[SkillStep]] = None
    reason: Always[Content[str]] = None
    """As the model put it."""
    policy: Always[Structure[Open[Literal["advance", "hold"]]]] = None
    """Whether the procedure goes on without the step, or waits for it."""
    iteration: Always[Structure[Whole]] = None
    tool_call_id: Structure[str] = None


class SkillStepsUnfinished(Payload):
    """A turn ends before all steps are done. Since 9.18."""

    skill_id: Always[Structure[str]] = None
    remaining: Always[Structure[list[RemainingStep]]] = None
    total: Always[Structure[Whole]] = None
    action: Always[Structure[Open[Literal["nudged", "accepted", "cut-short"]]]] = None
    """The model was asked once more, was let go, or a limit left no room to ask."""
    iteration: Always[Structure[Whole]] = None
