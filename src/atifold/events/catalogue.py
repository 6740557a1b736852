"""List the events of agentfootprint's catalogue: domain, event and the name of its payload class.

The full name of an event is `agentfootprint.<domain>.<event>`; its class stands in the module
`atifold.events.<domain>`. Source: the producer's registry, 9.62.0 and later; `risk.flagged` was taken
back upstream and stays as a name that old recordings have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CATALOGUE: Final[Mapping[str, Mapping[str, str]]] = {
    "stream": {
        "llm_start": "LLMStart",
        "llm_end": "LLMEnd",
        "token": "LLMToken",
        "tool_start": "ToolStart",
        "tool_progress": "ToolProgress",
        "tool_end": "ToolEnd",
        "thinking_delta": "StreamThinkingDelta",
        "thinking_end": "StreamThinkingEnd",
    },
    "agent": {
        "turn_start": "AgentTurnStart",
        "turn_end": "AgentTurnEnd",
        "iteration_start": "AgentIterationStart",
        "iteration_end": "AgentIterationEnd",
        "route_decided": "AgentRouteDecided",
        "handoff": "AgentHandoff",
        "output_schema_validation_failed": "AgentOutputSchemaValidationFailed",
        "output_contract_unmet": "AgentOutputContractUnmet",
        "output_schema_retry": "AgentOutputSchemaRetry",
        "evidence_checked": "AgentEvidenceChecked",
        "run_configured": "AgentRunConfigured",
        "thinking_parse_failed": "AgentThinkingParseFailed",
        "budget_exhausted": "AgentBudgetExhausted",
        "grounding_nudged": "AgentGroundingNudged",
        "thinking_omitted": "AgentThinkingOmitted",
    },
    "context": {
        "injected": "ContextInjected",
        "evicted": "ContextEvicted",
        "slot_composed": "ContextSlotComposed",
        "budget_pressure": "ContextBudgetPressure",
        "evaluated": "ContextEvaluated",
    },
    "composition": {
        "enter": "CompositionEnter",
        "exit": "CompositionExit",
        "fork_start": "ParallelForkStart",
        "branch_complete": "ParallelBranchComplete",
        "merge_end": "ParallelMergeEnd",
        "route_decided": "ConditionalRouteDecided",
        "iteration_start": "LoopIterationStart",
        "iteration_exit": "LoopIterationExit",
    },
    "cost": {
        "tick": "CostTick",
        "limit_hit": "CostLimitHit",
    },
    "error": {
        "retried": "ErrorRetried",
        "recovered": "ErrorRecovered",
        "fatal": "ErrorFatal",
        "circuit_changed": "ErrorCircuitChanged",
    },
    "reliability": {
        "fail_fast": "ReliabilityFailFast",
        "retried": "ReliabilityRetried",
        "recovered": "ReliabilityRecovered",
    },
    "fallback": {
        "triggered": "FallbackTriggered",
    },
    "integrity": {
        "context_error": "IntegrityContextError",
        "disposition": "IntegrityDisposition",
        "external_ground_used": "IntegrityExternalGroundUsed",
    },
    "pause": {
        "request": "PauseRequest",
        "resume": "PauseResume",
    },
    "checkin": {
        "request": "CheckInRequest",
        "decision": "CheckInDecision",
    },
    "permission": {
        "check": "PermissionCheck",
        "gate_opened": "PermissionGateOpened",
        "gate_closed": "PermissionGateClosed",
        "halt": "PermissionHalt",
    },
    "eval": {
        "score": "EvalScore",
        "threshold_crossed": "EvalThresholdCrossed",
    },
    "answer": {
        "assessed": "AnswerAssessed",
    },
    "artifacts": {
        "minted": "ArtifactMinted",
        "resolved": "ArtifactResolved",
        "expired": "ArtifactExpired",
        "refused": "ArtifactRefused",
        "presented": "ArtifactPresented",
        "hand_over_failed": "ArtifactHandOverFailed",
    },
    "credential": {
        "requested": "CredentialRequested",
        "acquired": "CredentialAcquired",
        "authorization_required": "CredentialAuthorizationRequired",
        "failed": "CredentialFailed",
    },
    "embedding": {
        "generated": "EmbeddingGenerated",
    },
    "findings": {
        "declared": "FindingsDeclared",
        "standing": "FindingsStanding",
        "judged": "FindingsJudged",
        "judge_failed": "FindingsJudgeFailed",
        "contingent": "FindingsContingent",
        "argument": "FindingsArgument",
        "period": "FindingsPeriod",
        "negative_claim": "FindingsNegativeClaim",
    },
    "map": {
        "engaged": "MapEngaged",
        "parked": "MapParked",
    },
    "memory": {
        "strategy_applied": "MemoryStrategyApplied",
        "attached": "MemoryAttached",
        "retrieved": "MemoryRetrieved",
        "detached": "MemoryDetached",
        "written": "MemoryWritten",
    },
    "middleware": {
        "decision": "MiddlewareDecision",
    },
    "ontology": {
        "served": "OntologyServed",
    },
    "resilience": {
        "output_fallback_triggered": "ResilienceOutputFallbackTriggered",
        "output_canned_used": "ResilienceOutputCannedUsed",
    },
    "risk": {
        "flagged": "RiskFlagged",
    },
    "skill": {
        "activated": "SkillActivated",
        "graph_declared": "SkillGraphDeclared",
        "deactivated": "SkillDeactivated",
        "rejected": "SkillRejected",
        "reroute_superseded": "SkillRerouteSuperseded",
        "route_conflict": "SkillRouteConflict",
        "turn_routed": "SkillTurnRouted",
        "step_advanced": "SkillStepAdvanced",
        "step_skipped": "SkillStepSkipped",
        "steps_unfinished": "SkillStepsUnfinished",
        "escalated": "SkillEscalated",
    },
    "tool_choice": {
        "picked": "ToolChoicePicked",
        "outcome": "ToolChoiceOutcome",
        "failed": "ToolChoiceFailed",
    },
    "tools": {
        "offered": "ToolsOffered",
        "activated": "ToolsActivated",
        "deactivated": "ToolsDeactivated",
        "discovery_started": "ToolsDiscoveryStarted",
        "discovery_completed": "ToolsDiscoveryCompleted",
        "discovery_failed": "ToolsDiscoveryFailed",
        "shadowed": "ToolsShadowed",
        "session_started": "ToolsSessionStarted",
        "session_reused": "ToolsSessionReused",
        "session_closed": "ToolsSessionClosed",
        "effect": "ToolEffect",
        "result_refused": "ToolResultRefused",
        "repeated_call": "ToolRepeatedCall",
        "absent": "ToolAbsent",
        "code_run": "ToolsCodeRun",
        "coverage_declared": "ToolCoverageDeclared",
        "semantics_declared": "ToolSemanticsDeclared",
        "session_close_failed": "ToolsSessionCloseFailed",
        "claim_swallowed": "ToolsClaimSwallowed",
        "answered_off_wire": "ToolsAnsweredOffWire",
        "mcp_client": "ToolsMcpClient",
        "request_attempts": "ToolsRequestAttempts",
    },
    "validation": {
        "args_invalid": "ValidationArgsInvalid",
    },
}
"""Domain to event to class name."""

UNTYPED: Final[Mapping[str, str]] = {
    "agentfootprint.risk.flagged": "registered with a name alone: no payload was ever described, "
    "and the name was taken back",
}
"""Full names without a model, each with the reason; their payloads are kept as they came, all of it content."""
