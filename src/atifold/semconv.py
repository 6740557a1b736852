"""Hold the names of the pinned GenAI conventions, as data.

Source: open-telemetry/semantic-conventions-genai at `PINNED_COMMIT`. The conventions have no
releases, so the commit is the version; it travels as an attribute of the instrumentation scope.
Facts of an event that the conventions have no name for live under `agentfootprint.`, facts of ours
under `atifold.`; nothing is ever invented under `gen_ai.`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

PINNED_COMMIT: Final = "6fd0d76"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
SCOPE: Final = "atifold"
SCOPE_ATTRIBUTES: Final = {"atifold.semconv.commit": PINNED_COMMIT}

# ---- names of the conventions --------------------------------------------------------------------

AGENT_NAME: Final = "gen_ai.agent.name"
COMPACTED: Final = "gen_ai.conversation.compacted"
CONVERSATION: Final = "gen_ai.conversation.id"
DATA_SOURCE: Final = "gen_ai.data_source.id"
DIMENSIONS: Final = "gen_ai.embeddings.dimension.count"
ERROR_TYPE: Final = "error.type"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EXCEPTION_MESSAGE: Final = "exception.message"
EXCEPTION_TYPE: Final = "exception.type"
EXIT_CODE: Final = "process.exit.code"
EXPLANATION: Final = "gen_ai.evaluation.explanation"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
MAX_TOKENS: Final = "gen_ai.request.max_tokens"
MEMORY_COUNT: Final = "gen_ai.memory.record.count"
MEMORY_RECORD: Final = "gen_ai.memory.record.id"
MEMORY_RECORDS: Final = "gen_ai.memory.records"
MEMORY_STORE: Final = "gen_ai.memory.store.id"
MODALITY: Final = "gen_ai.token.modality"
OPERATION: Final = "gen_ai.operation.name"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
PROVIDER: Final = "gen_ai.provider.name"
REASONING_LEVEL: Final = "gen_ai.request.reasoning.level"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_STREAM: Final = "gen_ai.request.stream"
RESPONSE_ID: Final = "gen_ai.response.id"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"
RETRIEVAL_TOP_K: Final = "gen_ai.retrieval.top_k"
SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
SKILL_NAME: Final = "gen_ai.skill.name"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
TEMPERATURE: Final = "gen_ai.request.temperature"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOP_P: Final = "gen_ai.request.top_p"
USAGE_CACHE_READ: Final = "gen_ai.usage.cache_read.input_tokens"
USAGE_CACHE_WRITE: Final = "gen_ai.usage.cache_write.input_tokens"
USAGE_INPUT: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT: Final = "gen_ai.usage.output_tokens"
USAGE_REASONING: Final = "gen_ai.usage.reasoning.output_tokens"
USAGE_TYPE: Final = "gen_ai.token.type"  # until 2026-09
WORKFLOW_NAME: Final = "gen_ai.workflow.name"

# ---- names of log events -------------------------------------------------------------------------

EVALUATION_RESULT: Final = "gen_ai.evaluation.result"
INFERENCE_DETAILS: Final = "gen_ai.client.inference.operation.details"
OPERATION_EXCEPTION: Final = "gen_ai.client.operation.exception"

# ---- names of our own ----------------------------------------------------------------------------

AGENT_VERSION: Final = "atifold.agent.version"  # the conventions have it on remote agents only (CLIENT)
COST_CUMULATIVE: Final = "agentfootprint.cost.cumulative_usd"
COST_METRIC: Final = "agentfootprint.cost"
COST_OTHER: Final = "agentfootprint.cost.other_usd"  # spend of an agent outside its inferences
COST_SOURCE: Final = "agentfootprint.cost.source"
COST_USD: Final = "agentfootprint.cost.usd"
DELEGATED: Final = "atifold.delegated"
DISPATCH: Final = "atifold.dispatch"
INCOMPLETE: Final = "atifold.incomplete"
INFERRED: Final = "atifold.inferred"
INPUT_BASE: Final = "atifold.input.base"
ITERATION: Final = "agentfootprint.stream.iteration"  # the number of the agent's round
LINK_KIND: Final = "atifold.link"
OMITTED: Final = "atifold.omitted"
OWN_OPERATION: Final = "agentfootprint.operation"  # of spans that the conventions have no type for
PAUSED: Final = "agentfootprint.paused"
PERMISSION_RESULT: Final = "agentfootprint.permission.result"
RESUMES_SPAN: Final = "atifold.resumes.span_id"
RESUMES_TRACE: Final = "atifold.resumes.trace_id"
RUN_ID: Final = "agentfootprint.run.id"
SEQUENCE: Final = "atifold.sequence"
STATUS: Final = "status.description"  # how what stands in a span's status is named, which is no attribute
WITHHELD: Final = "atifold.withheld"

OTHER_ERROR: Final = "_OTHER"
"""The conventions' value of `error.type` where no better one is known."""


# ---- providers -----------------------------------------------------------------------------------


class Provider(NamedTuple):
    """What a provider is called, and how it counts tokens.

    `spellings` are its other names, in lower case: older ones of the conventions, and those of
    frameworks. `cache_in_input`: its input count includes cached tokens. The conventions (and ATIF)
    include them, so what is apart is added.
    """

    name: str
    spellings: tuple[str, ...] = ()
    cache_in_input: bool = True


PROVIDERS: Final = (
    Provider("anthropic", ("claude",), cache_in_input=False),
    Provider("aws.bedrock", ("aws", "bedrock"), cache_in_input=False),
    Provider("openai"),
    Provider("azure.ai.openai", ("az.ai.openai", "azure", "azure-openai")),
    Provider("azure.ai.inference", ("az.ai.inference",), cache_in_input=False),
    Provider("gcp.gemini", ("gemini", "google")),
    Provider("gcp.vertex_ai", ("vertex", "vertex_ai", "vertexai")),
    Provider("mistral_ai", ("mistral", "mistralai")),
    Provider("x_ai", ("grok", "xai")),
    Provider("deepseek"),
    Provider("groq"),
    Provider("cohere"),
    Provider("perplexity"),
    Provider("moonshot_ai", ("moonshot",)),
)
"""The providers that are known by name.

How they count is how the event producer's adapters report it: its own cost formula counts a cache apart
from the input wherever the provider is in no table, and its output never includes reasoning."""

_BY_SPELLING: Final = {spelling: row for row in PROVIDERS for spelling in (row.name, *row.spellings)}


@lru_cache(maxsize=256)
def provider_of(raw: str) -> Provider:
    """Return the provider behind a raw name.

    A wrapper names itself (`anthropic+retry`, `openai|backup`): the part before the sign is the
    provider. A name in no table is kept as it is and counts its cache apart.
    """
    known = _BY_SPELLING.get(raw.lower())
    if known is None:
        head = raw.replace("|", "+").split("+", 1)[0].strip()
        known = _BY_SPELLING.get(head.lower())
    return known or Provider(raw, cache_in_input=False)
