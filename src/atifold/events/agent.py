"""Model the life of one agent's turn: its rounds, its answer and the checks on it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from atifold.events.marks import Shaped
from atifold.events.payload import Always, Content, Flag, Nested, Number, Open, Payload, Structure, Whole
from atifold.events.shapes import (
    AnswerAssessment,
    AnswerCoverage,
    AnswerNegatives,
    ArtifactRef,
    LLMMessage,
    Posture,
)

BudgetReason = Open[Literal["max-iterations", "cost-budget"]]
ValidationStage = Open[Literal["json-parse", "schema-validate"]]
"""Whether an answer was no JSON at all, or JSON of the wrong shape."""


# ---- the turn ------------------------------------------------------------------------------------


class AgentTurnStart(Payload):
    """A turn begins."""

    turn_index: Always[Structure[Whole]] = None
    """0 in each run: it does not count the turns of a session."""
    user_prompt: Always[Content[str]] = None


class StoppedEarly(Nested):
    """Which limit ended a turn before the model was done."""

    reason: Always[Structure[BudgetReason]] = None
    iteration: Always[Structure[Whole]] = None
    pending_tool_calls: Always[Structure[Whole]] = None
    """Calls that the model still asked for. They never run and are never named."""
    wrapped_up: Structure[Flag] = None
    """True where one more call without tools made the answer a summary; else it may be a fragment."""


class Refused(Nested):
    """Who kept the answer from being delivered."""

    by: Always[Structure[Open[Literal["evidence-rails"]]]] = None


class AgentTurnEnd(Payload):
    """A turn ends with an answer. After a pause the totals are those of all legs together."""

    turn_index: Always[Structure[Whole]] = None
    final_content: Always[Content[str]] = None
    total_input_tokens: Always[Structure[Whole]] = None
    """The sum of `usage.input` over the turn's model calls, as the provider counts."""
    total_output_tokens: Always[Structure[Whole]] = None
    iteration_count: Always[Structure[Whole]] = None
    duration_ms: Always[Structure[Number]] = None
    stopped_early: Structure[StoppedEarly] = None
    """None: the model was done. Since 9.56."""
    answer_coverage: Content[AnswerCoverage] = None
    answer_assessment: Structure[AnswerAssessment] = None
    standing_line_names: Content[dict[str, str]] = None
    """Registered tool name to the name that the answer's last line uses for it."""
    answer_negatives: Content[AnswerNegatives] = None
    scripts: Content[Any] = None
    """Programs that the run's code tools were given, attached to the answer; its shape is not published."""
    refused: Structure[Refused] = None
    """Given where the answer was not delivered; `final_content` is then never to be restored."""


# ---- iterations ----------------------------------------------------------------------------------


class AgentIterationStart(Payload):
    """One round of the agent's loop begins: context, model call, tool calls."""

    turn_index: Always[Structure[Whole]] = None
    iter_index: Always[Structure[Whole]] = None


class AgentIterationEnd(Payload):
    """One round of the agent's loop ends."""

    turn_index: Always[Structure[Whole]] = None
    iter_index: Always[Structure[Whole]] = None
    tool_call_count: Always[Structure[Whole]] = None
    """Calls that the model asked for; on a resumed leg, calls that the leg closed."""
    history: Annotated[Content[Any], Shaped(LLMMessage)] = None
    """All messages so far, as a list of dicts in the wire form of `LLMMessage`.

    They are kept unread, since each round repeats the whole list. None on a turn's last round.
    """


class AgentRouteDecided(Payload):
    """The loop chose what comes after a model call."""

    turn_index: Always[Structure[Whole]] = None
    iter_index: Always[Structure[Whole]] = None
    chosen: Always[
        Structure[
            Open[
                Literal[
                    "tool-calls",
                    "final",
                    "output-retry",
                    "step-nudge",
                    "evidence-recheck",
                    "negative-recheck",
                    "wrap-up",
                ]
            ]
        ]
    ] = None
    rationale: Content[
        Open[
            Literal[
                "LLM produced no tool calls — final answer",
                "maxIterations reached — forcing final",
                "costBudget reached (onExceed: halt) — forcing final",
                "tools are off after the evidence revision (answer validation enforces) — forcing final",
            ]
        ]
    ] = None
    """One of the producer's fixed sentences, or one made for this turn."""


class AgentHandoff(Payload):
    """One agent hands over to another, which does not return to it."""

    from_agent_id: Always[Structure[str]] = None
    to_agent_id: Always[Structure[str]] = None
    reason: Content[str] = None
    via_protocol: Structure[Open[Literal["native", "mcp", "http"]]] = None


class AgentBudgetExhausted(Payload):
    """A limit refused to run the tool calls that the model just asked for. Since 9.56."""

    reason: Always[Structure[BudgetReason]] = None
    iteration: Always[Structure[Whole]] = None
    limit: Structure[Number] = None
    """The number of rounds allowed; None for a cost budget, whose limit is in `cost.limit_hit`."""
    pending_tool_calls: Always[Structure[Whole]] = None
    action: Always[Structure[Open[Literal["wrapped-up", "cut-short"]]]] = None


# ---- the answer's schema -------------------------------------------------------------------------


class AgentOutputSchemaValidationFailed(Payload):
    """An answer does not fit the schema that it should have."""

    message: Always[Content[str]] = None
    """The validator's text, or a fixed sentence where `draft_withheld`."""
    stage: Always[Structure[ValidationStage]] = None
    path: Structure[str] = None
    """The field that failed, keys joined by dots; None where the validator names none."""
    raw_output: Content[str] = None
    draft_withheld: Structure[Flag] = None
    """True where a policy kept the answer's text back."""
    attempt: Always[Structure[Whole]] = None
    """The answer that failed, from 1."""
    cumulative_retries: Always[Structure[Whole]] = None
    """How many answers failed the schema so far."""


class AgentOutputContractUnmet(Payload):
    """The run hands back an answer that does not fit its schema."""

    stage: Always[Structure[ValidationStage]] = None
    error: Always[Content[str]] = None
    path: Structure[str] = None
    attempts: Always[Structure[Whole]] = None
    """Answers that were judged, the first included."""
    retries_spent: Always[Structure[Whole]] = None
    fallback_configured: Always[Structure[Flag]] = None
    iteration: Always[Structure[Whole]] = None
    broken_by: Content[str] = None
    """The middleware that broke an answer which did fit; None: the model's answer did not."""


class AgentOutputSchemaRetry(Payload):
    """The model is asked once more for an answer that fits the schema."""

    attempt: Always[Structure[Whole]] = None
    """The answer that just failed, from 1."""
    retries_remaining: Always[Structure[Whole]] = None
    """How often it can be asked after this time."""
    iteration: Always[Structure[Whole]] = None
    stage: Always[Structure[ValidationStage]] = None
    error: Always[Content[str]] = None
    path: Structure[str] = None
    corrective_message_hash: Always[Structure[str]] = None
    """Names the message in the history that asks again."""


# ---- the answer's evidence -----------------------------------------------------------------------


class UnsupportedValue(Nested):
    """A value of the answer that no tool's result has."""

    value: Always[Content[str]] = None
    shape: Always[Content[str]] = None
    region: Structure[Open[Literal["prose", "code"]]] = None


class CarriedBy(Nested):
    """One tool result that values of the answer were found in."""

    tool_call_id: Always[Structure[str]] = None
    values: Always[Structure[Whole]] = None
    only: Always[Structure[Whole]] = None
    """Values that no other result has."""


class ComputedValue(Nested):
    """A number of the answer that follows from numbers in results."""

    value: Always[Content[str]] = None
    shape: Always[Structure[str]] = None
    derivation: Always[Structure[str]] = None
    from_: Always[Content[str]] = Field(None, alias="from")
    """The numbers it was made from."""


class AgentEvidenceChecked(Payload):
    """An answer's names and numbers were looked up in what the tools returned. Since 9.35."""

    iteration: Always[Structure[Whole]] = None
    posture: Always[Structure[Posture]] = None
    candidates: Always[Structure[Whole]] = None
    """Distinct values in the answer, those included that need no evidence."""
    looked_up: Structure[Whole] = None
    unsupported: Always[Content[list[UnsupportedValue]]] = None
    """At most a readable number of them."""
    action: Always[Structure[Open[Literal["grounded", "flagged", "revision-asked", "refused"]]]] = None
    after_revision: Always[Structure[Flag]] = None
    """True where the answer had been corrected once already."""
    evidence_truncated: Structure[Flag] = None
    """True where not all results could be searched, so that nothing was acted upon."""
    carried_by: Structure[list[CarriedBy]] = None
    staged_refs: Structure[list[ArtifactRef]] = None
    spender_tools: Structure[list[str]] = None
    computed: Structure[list[ComputedValue]] = None
    scripts: Content[Any] = None
    """A verdict on each code block of the answer; its shape is not published."""


class AgentGroundingNudged(Payload):
    """A request reminds the model of stored results and of the tools that can use them."""

    iteration: Always[Structure[Whole]] = None
    refs: Always[Structure[list[ArtifactRef]]] = None
    refs_omitted: Structure[Whole] = None
    """How many more there were; None: all are named."""
    tools: Always[Structure[list[str]]] = None


# ---- thinking ------------------------------------------------------------------------------------


class AgentThinkingParseFailed(Payload):
    """A provider's thinking could not be read; the run goes on without it."""

    provider_name: Always[Structure[str]] = None
    subflow_id: Always[Structure[str]] = None
    error: Always[Content[str]] = None
    error_name: Always[Structure[str]] = None
    """The exception's class."""
    iteration: Always[Structure[Whole]] = None


class AgentThinkingOmitted(Payload):
    """A thinking block of an earlier turn was left out of a request."""

    provider_name: Always[Structure[str]] = None
    model: Always[Structure[str]] = None
    message_index: Always[Structure[Whole]] = None
    block_index: Always[Structure[Whole]] = None
    reason: Always[Structure[str]] = None
    phase: Always[Structure[Open[Literal["prepared"]]]] = None
    """`prepared`: the request was made, whether or not it was sent."""


# ---- configuration -------------------------------------------------------------------------------


class ConfiguredLLM(Nested):
    """The model that a run starts with."""

    provider: Always[Structure[str]] = None
    """The provider object's name, wrappers included."""
    model: Always[Structure[str]] = None
    model_overrides: Structure[list[Open[Literal["configure", "skill-brains"]]]] = None
    """What may replace the model during the run; None: nothing."""


class ConfiguredCache(Nested):
    """A cache policy that the provider cannot carry out; given in no other case."""

    requested: Always[Structure[Open[Literal["explicit", "default"]]]] = None
    strategy: Always[Structure[Open[Literal["none"]]]] = None
    status: Always[Structure[Open[Literal["not-applicable"]]]] = None


class ConfiguredMemory(Nested):
    """One memory of the agent, by the names that it declares."""

    id: Always[Structure[str]] = None
    """What `memory.*` events call it."""
    type: Always[Structure[Open[Literal["episodic", "semantic", "narrative", "causal"]]]] = None
    strategy: Structure[Open[Literal["window", "budget", "summarize", "topK", "extract", "decay", "hybrid"]]] = None
    """How it chooses what goes into a request; None: not declared."""
    retrieval: Structure[str] = None
    """A named rule of retrieval; None also for the unnamed one of a count and a threshold."""
    embedder_id: Structure[str] = None
    flavor: Structure[Open[Literal["memory", "rag"]]] = None
    """Recall of conversations, or retrieval from documents."""


class ConfiguredSkillGraph(Nested):
    """How the skill graph routes; None in a field: not declared."""

    routing: Structure[Posture] = None
    continuity: Structure[Open[Literal["turn", "conversation"]]] = None
    """How long the position in the graph is kept."""
    scorer: Structure[str] = None


class ConfiguredArtifacts(Nested):
    """What the artifact store is used for."""

    placement: Structure[Flag] = None
    """True where large results go to the model as references."""
    recordings: Structure[Flag] = None


class ConfiguredRecipe(Nested):
    """A published composition that the agent was made from."""

    id: Always[Structure[str]] = None
    version: Always[Structure[str]] = None


class AgentRunConfigured(Payload):
    """What a run is about to use. It comes before `turn_start`."""

    agent_id: Always[Structure[str]] = None
    llm: Always[Structure[ConfiguredLLM]] = None
    cache: Structure[ConfiguredCache] = None
    react_mode: Always[Structure[Open[Literal["classic", "dynamic", "dynamic-grouped"]]]] = None
    memories: Always[Structure[list[ConfiguredMemory]]] = None
    """In the order of declaration, empty where there is none."""
    window: Structure[str] = None
    """The strategy that keeps the history short; None: there is none."""
    skill_graph: Structure[ConfiguredSkillGraph] = None
    evidence_gate: Structure[Posture] = None
    artifacts: Structure[ConfiguredArtifacts] = None
    recipes: Structure[list[ConfiguredRecipe]] = None
