"""Say for each event where it goes in OpenTelemetry: the table behind the emitter.

`does` is the function that handles the event, as `module:function` under `atifold.emit.on`, imported
when the first event of that name comes. None: the event is counted, and `why` says why no more.
A span event is a log event where the user wants it so, with `severity` (the numbers of OpenTelemetry's
logs). An event that is in no row is counted as unknown.
"""

from __future__ import annotations

from typing import Final, NamedTuple

INFO: Final = 9
WARN: Final = 13  # refusals and failures
ERROR: Final = 17  # the run is over


class Place(NamedTuple):
    """One event's place."""

    event: str
    does: str | None
    place: str
    why: str = ""
    severity: int = INFO


PLACES: Final = (
    # compositions
    Place("composition.enter", "composition:enter", "opens invoke_workflow"),
    Place("composition.exit", "composition:leave", "closes and seals invoke_workflow"),
    Place("composition.fork_start", "composition:fact", "attributes of the workflow"),
    Place("composition.branch_complete", "outcome:on_owner", "span event on the workflow"),
    Place("composition.merge_end", "composition:fact", "attributes of the workflow"),
    Place("composition.route_decided", "composition:fact", "attributes of the workflow"),
    Place("composition.iteration_start", None, "counted", "the exit has the same figures"),
    Place("composition.iteration_exit", "composition:fact", "attributes of the workflow"),
    # agents
    Place("agent.turn_start", "agent:turn_start", "opens invoke_agent"),
    Place("agent.turn_end", "agent:turn_end", "ends invoke_agent"),
    Place(
        "agent.iteration_start",
        "agent:iteration_start",
        "iteration of the next inference",
        "llm_start tells the iteration itself, and turnIndex is 0 in every run",
    ),
    Place("agent.iteration_end", "agent:iteration_end", "seals the iteration's inference and tools"),
    Place("agent.route_decided", "agent:route_decided", "attributes of the inference"),
    Place("agent.handoff", "outcome:on_owner", "span event on the agent", "the conventions have no span for it"),
    Place("agent.output_schema_validation_failed", "outcome:on_owner", "span event on the agent", severity=WARN),
    Place("agent.output_schema_retry", "outcome:on_owner", "span event on the agent"),
    Place(
        "agent.output_contract_unmet", "outcome:owner_facts", "attributes of and span event on the agent", severity=WARN
    ),
    Place(
        "agent.evidence_checked",
        "outcome:owner_facts",
        "attributes of and span event on the agent",
        "what a run's answer rests on is asked for by attribute",
    ),
    Place("agent.run_configured", "agent:run_configured", "attributes of the agent, held until it starts"),
    Place("agent.thinking_parse_failed", "outcome:on_chat", "span event on the inference", severity=WARN),
    Place("agent.thinking_omitted", "outcome:on_next_chat", "span event on the next inference"),
    Place("agent.grounding_nudged", "outcome:on_next_chat", "span event on the next inference"),
    Place("agent.budget_exhausted", "outcome:owner_facts", "attributes of and span event on the agent", severity=WARN),
    # model calls and tools
    Place("stream.llm_start", "stream:llm_start", "opens chat"),
    Place("stream.llm_end", "stream:llm_end", "ends chat"),
    Place("stream.token", "stream:chunk", "time to first chunk, count"),
    Place("stream.thinking_delta", "stream:chunk", "time to first chunk, count"),
    Place("stream.thinking_end", "stream:thinking_end", "reasoning of the inference"),
    Place("stream.tool_start", "tools:tool_start", "opens execute_tool", "a call not dispatched too: it says so"),
    Place("stream.tool_progress", "tools:tool_progress", "span event on the tool, up to 16"),
    Place("stream.tool_end", "tools:tool_end", "ends execute_tool"),
    # context
    Place("context.injected", "agent:injected", "messages and system prompt of the next inference"),
    Place("context.evicted", "outcome:on_next_chat", "span event on the next inference"),
    Place("context.slot_composed", "slots:slot_composed", "attributes of the next inference: sizes"),
    Place("context.evaluated", "slots:evaluated", "attributes of the next inference: counts"),
    Place("context.budget_pressure", "slots:budget_pressure", "attributes of and span event on the next inference"),
    # cost, errors, fallbacks
    Place("cost.tick", "outcome:cost_tick", "cost of the inference, running sum of the agent"),
    Place("cost.limit_hit", "outcome:owner_facts", "attributes of and span event on the agent", severity=WARN),
    Place("error.retried", "outcome:on_chat", "span event on the inference", severity=WARN),
    Place("error.recovered", "call_facts:chat_facts_noted", "attributes of and span event on the inference"),
    Place("error.fatal", "outcome:fatal", "closes all of the run as failed", severity=ERROR),
    Place("error.circuit_changed", "outcome:on_chat", "span event on the inference", severity=WARN),
    Place("reliability.fail_fast", "outcome:fail_fast", "closes all of the run as failed", severity=ERROR),
    Place("reliability.retried", "outcome:on_chat", "span event on the inference", severity=WARN),
    Place("reliability.recovered", "call_facts:chat_facts_noted", "attributes of and span event on the inference"),
    Place(
        "fallback.triggered",
        "call_facts:fallen_back",
        "attributes of and span event on the inference, the tool or the agent",
        severity=WARN,
    ),
    # integrity, pauses, permissions, evaluations
    Place("integrity.disposition", "outcome:disposition", "attributes of the agent; seals the run"),
    Place("integrity.context_error", "outcome:on_owner", "span event on the agent", severity=WARN),
    Place("integrity.external_ground_used", "outcome:on_tool", "span event on the tool"),
    Place("pause.request", "pause:request", "seals the leg as paused"),
    Place("pause.resume", "pause:resume", "span event on the next leg's agent"),
    Place("checkin.request", "outcome:on_tool", "span event on the tool"),
    Place("checkin.decision", "pause:decision", "span event on the tool; may open the next leg"),
    Place(
        "permission.check", "call_facts:checked", "attributes of and span event on the tool; a denied one is refused"
    ),
    Place("permission.gate_opened", "outcome:on_owner", "span event on the agent"),
    Place("permission.gate_closed", "outcome:on_owner", "span event on the agent"),
    Place("permission.halt", "outcome:halt", "closes all of the run as failed", severity=ERROR),
    Place("eval.score", "evaluation:score", "span event on what it scores; gen_ai.evaluation.result"),
    Place(
        "eval.threshold_crossed",
        "evaluation:threshold_crossed",
        "span event on what it scores; log event",
        severity=WARN,
    ),
    # retrieval, memory, embeddings
    Place("embedding.generated", "knowledge:embedded", "an embeddings span"),
    Place("memory.retrieved", "knowledge:retrieved", "a retrieval or search_memory span"),
    Place("memory.attached", "knowledge:attached", "span event on the retrieval or search"),
    Place("memory.strategy_applied", "outcome:on_owner", "span event on the agent"),
    Place("memory.detached", "outcome:on_owner", "span event on the agent"),
    Place("memory.written", "knowledge:written", "an upsert_memory span"),
    # tools beside their calls
    Place("tools.offered", "slots:offered", "attributes of the next inference"),
    Place("tools.activated", "outcome:on_owner", "span event on the agent"),
    Place("tools.deactivated", "outcome:on_owner", "span event on the agent"),
    Place("tools.discovery_started", "discovery:started", "opens a tools.discovery span of our own"),
    Place("tools.discovery_completed", "discovery:completed", "ends it"),
    Place("tools.discovery_failed", "discovery:failed", "ends it as failed", severity=WARN),
    Place("tools.shadowed", "call_facts:once_a_name", "span event on the agent, once a name"),
    Place("tools.claim_swallowed", "call_facts:once_a_name", "span event on the agent, once a name", severity=WARN),
    Place("tools.session_started", "outcome:on_tool", "span event on the tool"),
    Place("tools.session_reused", "outcome:on_tool", "span event on the tool"),
    Place("tools.session_closed", "outcome:log_only", "log event", "comes when no span is open"),
    Place("tools.session_close_failed", "outcome:log_only", "log event", "comes when no span is open", severity=WARN),
    Place("tools.effect", "outcome:on_tool", "span event on the tool"),
    Place(
        "tools.result_refused", "call_facts:tool_facts_noted", "attributes of and span event on the tool", severity=WARN
    ),
    Place("tools.repeated_call", "outcome:on_tool", "span event on the tool"),
    Place("tools.absent", "outcome:on_tool", "span event on the tool", severity=WARN),
    Place("tools.code_run", "call_facts:code_run", "attributes of the tool"),
    Place("tools.coverage_declared", "outcome:on_tool", "span event on the tool"),
    Place("tools.semantics_declared", "call_facts:semantics_declared", "span event on the tool: counts"),
    Place("tools.answered_off_wire", "outcome:on_tool", "span event on the tool"),
    Place("tools.mcp_client", "discovery:mcp_client", "attributes of the tool, or span event on the discovery"),
    Place("tools.request_attempts", "call_facts:tool_facts_noted", "attributes of and span event on the tool"),
    Place("validation.args_invalid", "outcome:on_tool", "span event on the tool", severity=WARN),
    Place("middleware.decision", "outcome:on_tool", "span event on the tool"),
    Place("tool_choice.picked", "outcome:on_next_chat", "span event on the next inference"),
    Place("tool_choice.failed", "outcome:on_next_chat", "span event on the next inference", severity=WARN),
    Place("tool_choice.outcome", "call_facts:answered_chat_facts", "attributes of the inference"),
    # skills and credentials
    Place("skill.activated", "skills:activated", "span event on the agent; names the skill on the call that loaded it"),
    Place("skill.graph_declared", "skills:graph_declared", "attributes of the agent: counts"),
    Place("skill.deactivated", "outcome:on_owner", "span event on the agent"),
    Place("skill.rejected", "outcome:on_owner", "span event on the agent", severity=WARN),
    Place("skill.reroute_superseded", "outcome:on_owner", "span event on the agent"),
    Place("skill.route_conflict", "outcome:on_owner", "span event on the agent", severity=WARN),
    Place("skill.turn_routed", "outcome:on_owner", "span event on the agent"),
    Place("skill.escalated", "outcome:on_owner", "span event on the agent"),
    Place("skill.step_advanced", "outcome:on_tool", "span event on the tool"),
    Place("skill.step_skipped", "outcome:on_tool", "span event on the tool"),
    Place("skill.steps_unfinished", "outcome:owner_facts", "attributes of and span event on the agent", severity=WARN),
    Place("credential.requested", "outcome:on_tool", "span event on the tool"),
    Place("credential.acquired", "outcome:on_tool", "span event on the tool"),
    Place("credential.authorization_required", "outcome:on_tool", "span event on the tool"),
    Place(
        "credential.failed", "call_facts:tool_facts_noted", "attributes of and span event on the tool", severity=WARN
    ),
    # artifacts, findings, answers
    Place("artifacts.minted", "outcome:on_tool", "span event on the tool"),
    Place("artifacts.resolved", "outcome:on_tool", "span event on the tool"),
    Place("artifacts.refused", "outcome:on_tool", "span event on the tool", severity=WARN),
    Place("artifacts.presented", "outcome:on_tool", "span event on the tool"),
    Place("artifacts.expired", "outcome:log_only", "log event", "comes when no span is open"),
    Place("artifacts.hand_over_failed", "outcome:log_only", "log event", "comes when no span is open", severity=WARN),
    Place("findings.declared", "call_facts:tool_facts", "attributes of the tool, held until it starts"),
    Place("findings.argument", None, "counted", "one for each argument of a finding that is told already"),
    Place("findings.contingent", "outcome:on_tool", "span event on the tool"),
    Place("findings.standing", "outcome:log_only", "log event", "the keeper's bookkeeping between calls"),
    Place("findings.period", "outcome:log_only", "log event", "the keeper's bookkeeping between calls"),
    Place("findings.judged", "outcome:log_only", "log event", "a judge without provider or model: no span can tell it"),
    Place(
        "findings.judge_failed",
        "outcome:log_only",
        "log event",
        "a judge without provider or model: no span can tell it",
        severity=WARN,
    ),
    Place("findings.negative_claim", "outcome:on_owner", "span event on the agent"),
    Place("answer.assessed", "outcome:owner_facts", "attributes of and span event on the agent"),
    Place("map.engaged", "outcome:on_owner", "span event on the agent"),
    Place("map.parked", "outcome:on_owner", "span event on the agent"),
    Place("ontology.served", "call_facts:chat_facts", "attributes of the inference"),
    Place("risk.flagged", "outcome:on_owner", "span event on the agent", severity=WARN),
    Place(
        "resilience.output_fallback_triggered",
        "outcome:log_only",
        "log event",
        "comes when no span is open",
        severity=WARN,
    ),
    Place(
        "resilience.output_canned_used", "outcome:log_only", "log event", "comes when no span is open", severity=WARN
    ),
)
