"""Say for each event where it goes in OpenTelemetry: the table behind the emitter.

`does` is the function that handles the event, as `module:function` under `atifold.emit.on`, imported
when the first event of that name comes. None: the event is counted, and `why` says why no more.
An event that is in no row is counted as unknown. Events whose domains are typed later have no row yet.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Place(NamedTuple):
    """One event's place."""

    event: str
    does: str | None
    place: str
    why: str = ""


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
    Place("agent.iteration_start", "agent:iteration_start", "iteration of the next inference"),
    Place("agent.iteration_end", "agent:iteration_end", "seals the iteration's inference and tools"),
    Place("agent.route_decided", "agent:route_decided", "attributes of the inference"),
    Place("agent.handoff", "outcome:on_owner", "span event on the agent"),
    Place("agent.output_schema_validation_failed", "outcome:on_owner", "span event on the agent"),
    Place("agent.output_schema_retry", "outcome:on_owner", "span event on the agent"),
    Place("agent.output_contract_unmet", "outcome:owner_facts", "attributes of and span event on the agent"),
    Place("agent.evidence_checked", "outcome:owner_facts", "attributes of and span event on the agent"),
    Place("agent.run_configured", "agent:run_configured", "attributes of the agent, held until it starts"),
    Place("agent.thinking_parse_failed", "outcome:on_chat", "span event on the inference"),
    Place("agent.thinking_omitted", "outcome:on_next_chat", "span event on the next inference"),
    Place("agent.grounding_nudged", "outcome:on_next_chat", "span event on the next inference"),
    Place("agent.budget_exhausted", "outcome:owner_facts", "attributes of and span event on the agent"),
    # model calls and tools
    Place("stream.llm_start", "stream:llm_start", "opens chat"),
    Place("stream.llm_end", "stream:llm_end", "ends chat"),
    Place("stream.token", "stream:chunk", "time to first chunk, count"),
    Place("stream.thinking_delta", "stream:chunk", "time to first chunk, count"),
    Place("stream.thinking_end", "stream:thinking_end", "reasoning of the inference"),
    Place("stream.tool_start", "tools:tool_start", "opens execute_tool"),
    Place("stream.tool_progress", "tools:tool_progress", "span event on the tool, up to 16"),
    Place("stream.tool_end", "tools:tool_end", "ends execute_tool"),
    # context
    Place("context.injected", "agent:injected", "messages and system prompt of the next inference"),
    Place("context.evicted", "outcome:on_next_chat", "span event on the next inference"),
    Place("context.slot_composed", None, "counted", "sizes of the composer, three times a call"),
    Place("context.evaluated", None, "counted", "bookkeeping of rules, once a call"),
    Place("context.budget_pressure", "outcome:on_next_chat", "span event on the next inference"),
    # cost, errors, fallbacks
    Place("cost.tick", "outcome:cost_tick", "cost of the inference, running sum of the agent"),
    Place("cost.limit_hit", "outcome:owner_facts", "attributes of and span event on the agent"),
    Place("error.retried", "outcome:on_chat", "span event on the inference"),
    Place("error.recovered", "outcome:on_chat", "span event on the inference"),
    Place("error.fatal", "outcome:fatal", "closes all of the run as failed"),
    Place("error.circuit_changed", "outcome:on_chat", "span event on the inference"),
    Place("reliability.fail_fast", "outcome:fail_fast", "closes all of the run as failed"),
    Place("reliability.retried", "outcome:on_chat", "span event on the inference"),
    Place("reliability.recovered", "outcome:on_chat", "span event on the inference"),
    Place("fallback.triggered", "outcome:on_chat", "span event on the inference"),
    # integrity, pauses, permissions, evaluations
    Place("integrity.disposition", "outcome:disposition", "attributes of the agent; seals the run"),
    Place("integrity.context_error", "outcome:on_owner", "span event on the agent"),
    Place("integrity.external_ground_used", "outcome:on_tool", "span event on the tool"),
    Place("pause.request", "pause:request", "seals the leg as paused"),
    Place("pause.resume", "pause:resume", "span event on the next leg's agent"),
    Place("checkin.request", "outcome:on_tool", "span event on the tool"),
    Place("checkin.decision", "pause:decision", "span event on the tool; may open the next leg"),
    Place("permission.check", "outcome:permission_check", "span event on the tool; a denied one is refused"),
    Place("permission.gate_opened", "outcome:on_owner", "span event on the agent"),
    Place("permission.gate_closed", "outcome:on_owner", "span event on the agent"),
    Place("permission.halt", "outcome:halt", "closes all of the run as failed"),
    Place("eval.score", "outcome:score", "span event on what it scores"),
    Place("eval.threshold_crossed", "outcome:score", "span event on what it scores"),
    # untyped yet, and still mapped
    Place("embedding.generated", "knowledge:embedded", "an embeddings span"),
    Place("memory.retrieved", "knowledge:retrieved", "a retrieval span"),
    Place("memory.attached", "knowledge:attached", "span event on the retrieval"),
)
