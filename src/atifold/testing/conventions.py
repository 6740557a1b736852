"""Hold what the pinned GenAI conventions say of attributes: types, content, renames.

The rules of spans, metrics and log events stand on these names. A test compares them with the
compiled conventions of `atifold.semconv.PINNED_COMMIT`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

TYPES: Final[dict[str, str]] = {
    name: kind
    for kind, names in {
        "boolean": (
            "gen_ai.conversation.compacted",
            "gen_ai.request.stream",
        ),
        "double": (
            "gen_ai.evaluation.score.value",
            "gen_ai.request.frequency_penalty",
            "gen_ai.request.presence_penalty",
            "gen_ai.request.temperature",
            "gen_ai.request.top_p",
            "gen_ai.response.time_to_first_chunk",
        ),
        "enum": (
            "gen_ai.operation.name",
            "gen_ai.output.type",
            "gen_ai.provider.name",
            "gen_ai.response.status",
            "gen_ai.token.modality",
        ),
        "int": (
            "client.port",
            "gen_ai.embeddings.dimension.count",
            "gen_ai.memory.record.count",
            "gen_ai.request.choice.count",
            "gen_ai.request.max_tokens",
            "gen_ai.request.seed",
            "gen_ai.request.top_k",
            "gen_ai.retrieval.top_k",
            "gen_ai.usage.audio.cache_read.input_tokens",
            "gen_ai.usage.audio.input_tokens",
            "gen_ai.usage.audio.output_tokens",
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.image.cache_read.input_tokens",
            "gen_ai.usage.image.input_tokens",
            "gen_ai.usage.image.output_tokens",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.text.cache_read.input_tokens",
            "gen_ai.usage.text.input_tokens",
            "gen_ai.usage.text.output_tokens",
            "process.exit.code",
            "server.port",
        ),
        "string[]": (
            "gen_ai.request.encoding_formats",
            "gen_ai.request.stop_sequences",
            "gen_ai.response.finish_reasons",
        ),
        "any": (
            "gen_ai.input.messages",
            "gen_ai.memory.records",
            "gen_ai.output.messages",
            "gen_ai.retrieval.documents",
            "gen_ai.system_instructions",
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result",
            "gen_ai.tool.definitions",
        ),
        "template[string]": ("gen_ai.prompt.variable",),
        "string": (
            "client.address",
            "error.type",
            "exception.message",
            "exception.stacktrace",
            "exception.type",
            "gen_ai.agent.description",
            "gen_ai.agent.id",
            "gen_ai.agent.name",
            "gen_ai.agent.version",
            "gen_ai.conversation.id",
            "gen_ai.data_source.id",
            "gen_ai.evaluation.explanation",
            "gen_ai.evaluation.name",
            "gen_ai.evaluation.score.label",
            "gen_ai.main_agent.description",
            "gen_ai.main_agent.id",
            "gen_ai.main_agent.name",
            "gen_ai.memory.query.text",
            "gen_ai.memory.record.id",
            "gen_ai.memory.store.id",
            "gen_ai.prompt.name",
            "gen_ai.prompt.version",
            "gen_ai.request.model",
            "gen_ai.request.previous_response.id",
            "gen_ai.request.reasoning.level",
            "gen_ai.request.stream_cursor",
            "gen_ai.response.id",
            "gen_ai.response.model",
            "gen_ai.retrieval.query.text",
            "gen_ai.skill.description",
            "gen_ai.skill.name",
            "gen_ai.skill.resource.name",
            "gen_ai.skill.source.uri",
            "gen_ai.tool.call.id",
            "gen_ai.tool.description",
            "gen_ai.tool.name",
            "gen_ai.tool.type",
            "gen_ai.workflow.name",
            "jsonrpc.protocol.version",
            "jsonrpc.request.id",
            "mcp.method.name",
            "mcp.protocol.version",
            "mcp.resource.uri",
            "mcp.session.id",
            "network.protocol.name",
            "network.protocol.version",
            "network.transport",
            "process.executable.name",
            "rpc.response.status_code",
            "server.address",
        ),
    }.items()
    for name in names
}
"""Attribute to type: of all GenAI and MCP attributes, and of the others that stand beside them."""

CONTENT: Final = frozenset(
    {
        "gen_ai.input.messages",
        "gen_ai.memory.query.text",
        "gen_ai.memory.records",
        "gen_ai.output.messages",
        "gen_ai.prompt.variable",
        "gen_ai.retrieval.documents",
        "gen_ai.retrieval.query.text",
        "gen_ai.system_instructions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.tool.definitions",
    }
)
"""What the conventions mark as opt-in: texts of people, models and tools."""

TEXTS: Final = CONTENT | {"exception.message", "exception.stacktrace", "gen_ai.evaluation.explanation"}
"""Content, and the recommended attributes whose texts quote people, models and tools."""


class Renamed(NamedTuple):
    """An attribute that had another name; `same` where its values stayed what they were."""

    old: str
    new: str
    same: bool = True


RENAMES: Final = (
    Renamed("gen_ai.completion", "gen_ai.output.messages", same=False),
    Renamed("gen_ai.openai.request.response_format", "gen_ai.output.type", same=False),
    Renamed("gen_ai.openai.request.seed", "gen_ai.request.seed"),
    Renamed("gen_ai.openai.request.service_tier", "openai.request.service_tier"),
    Renamed("gen_ai.openai.response.service_tier", "openai.response.service_tier"),
    Renamed("gen_ai.openai.response.system_fingerprint", "openai.response.system_fingerprint"),
    Renamed("gen_ai.prompt", "gen_ai.input.messages", same=False),
    Renamed("gen_ai.system", "gen_ai.provider.name"),
    Renamed("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_write.input_tokens"),
    Renamed("gen_ai.usage.completion_tokens", "gen_ai.usage.output_tokens"),
    Renamed("gen_ai.usage.prompt_tokens", "gen_ai.usage.input_tokens"),
)
"""The attributes that the conventions renamed, one by one, since their first names."""

RENAMED: Final = {row.old: row for row in RENAMES}

INVENTED_UNDER: Final = ("gen_ai.", "mcp.")
"""The namespaces in which no name may be made up."""


def row_name(name: str) -> str:
    """Return the name under which an attribute stands in the tables: a template's key is cut off."""
    return "gen_ai.prompt.variable" if name.startswith("gen_ai.prompt.variable.") else name


def is_governed(name: str) -> bool:
    """Tell whether the conventions say on which items an attribute may stand."""
    return name.startswith(INVENTED_UNDER) or name in ("error.type", "server.address", "server.port")
