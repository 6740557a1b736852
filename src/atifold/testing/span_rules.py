"""Hold what the pinned GenAI conventions say of each type of span, as data."""

from __future__ import annotations

from typing import Final, NamedTuple

from atifold.spans import Kind


class SpanType(NamedTuple):
    """One type of span.

    `tails` are the attributes of which the first that is there follows the operation (or MCP's
    method) in the span's name. `needs` are pairs: where the first attribute is, the second has to
    be. `extra` are names of the type's refinements.
    """

    operations: frozenset[str]
    kinds: frozenset[Kind]
    tails: tuple[str, ...]
    required: frozenset[str]
    allowed: frozenset[str]
    needs: tuple[tuple[str, str], ...] = ()
    extra: frozenset[str] = frozenset()


def _names(*stems: str) -> frozenset[str]:
    """Return names from names without `gen_ai.`; those of other namespaces are written whole."""
    whole = ("client.", "error.", "jsonrpc.", "mcp.", "network.", "rpc.", "server.")
    return frozenset(stem if stem.startswith(whole) else f"gen_ai.{stem}" for stem in stems)


_EVERY = ("operation.name", "error.type")
_REMOTE = (*_EVERY, "provider.name", "server.address", "server.port")
_ADDRESSED = (("server.address", "server.port"),)
_STREAMED = (("gen_ai.response.time_to_first_chunk", "gen_ai.request.stream"),)
_TEMPLATED = (("gen_ai.prompt.version", "gen_ai.prompt.name"),)
_SAMPLING = (
    "request.model", "request.max_tokens", "request.choice.count", "request.temperature", "request.top_p",
    "request.stop_sequences", "request.frequency_penalty", "request.presence_penalty", "request.seed", "output.type",
)  # fmt: skip
_TALK = ("system_instructions", "input.messages", "output.messages")
_MODALITIES = tuple(
    f"usage.{modality}.{count}"
    for modality in ("text", "image", "audio")
    for count in ("input_tokens", "output_tokens", "cache_read.input_tokens")
)
_USAGE = (
    "usage.input_tokens", "usage.cache_read.input_tokens", "usage.cache_write.input_tokens", "usage.output_tokens",
    "usage.reasoning.output_tokens", *_MODALITIES,
)  # fmt: skip
_AGENT = (
    "data_source.id", "response.finish_reasons", "usage.input_tokens", "usage.output_tokens", "conversation.id",
    "agent.name", "agent.description", "tool.definitions",
)  # fmt: skip
_MCP = (
    *_EVERY, "mcp.method.name", "mcp.protocol.version", "mcp.resource.uri", "mcp.session.id",
    "jsonrpc.protocol.version", "jsonrpc.request.id", "network.protocol.name", "network.protocol.version",
    "network.transport", "rpc.response.status_code", "tool.name", "tool.call.arguments", "tool.call.result",
    "prompt.name", "prompt.variable",
)  # fmt: skip

_CLIENT = frozenset({Kind.CLIENT})
_INTERNAL = frozenset({Kind.INTERNAL})

SPAN_TYPES: Final[dict[str, SpanType]] = {
    "gen_ai.client.inference": SpanType(
        frozenset({"chat", "generate_content", "text_completion"}),
        _CLIENT | _INTERNAL,
        ("gen_ai.request.model",),
        _names("operation.name", "provider.name"),
        _names(
            *_REMOTE,
            *_SAMPLING,
            *_TALK,
            *_USAGE,
            "conversation.id",
            "conversation.compacted",
            "request.top_k",
            "request.stream",
            "request.reasoning.level",
            "request.previous_response.id",
            "response.id",
            "response.model",
            "response.finish_reasons",
            "response.time_to_first_chunk",
            "tool.definitions",
            "prompt.name",
            "prompt.version",
            "prompt.variable",
        ),
        (*_ADDRESSED, *_STREAMED, *_TEMPLATED),
    ),
    "gen_ai.embeddings.client": SpanType(
        frozenset({"embeddings"}),
        _CLIENT,
        ("gen_ai.request.model",),
        _names("operation.name", "provider.name"),
        _names(
            *_REMOTE,
            "request.model",
            "request.encoding_formats",
            "response.model",
            "usage.input_tokens",
            "embeddings.dimension.count",
        ),
        _ADDRESSED,
    ),
    "gen_ai.retrieval.client": SpanType(
        frozenset({"retrieval"}),
        _CLIENT,
        ("gen_ai.data_source.id",),
        _names("operation.name"),
        _names(
            *_REMOTE,
            "request.model",
            "data_source.id",
            "retrieval.documents",
            "retrieval.query.text",
            "retrieval.top_k",
        ),
        _ADDRESSED,
    ),
    "gen_ai.fetch_response.client": SpanType(
        frozenset({"fetch_response"}),
        _CLIENT,
        (),
        _names("operation.name", "provider.name", "response.id"),
        _names(
            *_REMOTE,
            "request.stream_cursor",
            "response.id",
            "response.model",
            "response.status",
            "response.finish_reasons",
            "system_instructions",
            "output.messages",
            "tool.definitions",
        ),
        _ADDRESSED,
    ),
    "gen_ai.memory.client": SpanType(
        frozenset(
            {
                "create_memory",
                "create_memory_store",
                "delete_memory",
                "delete_memory_store",
                "search_memory",
                "update_memory",
                "upsert_memory",
            }
        ),
        _CLIENT | _INTERNAL,
        (),
        _names("operation.name"),
        _names(
            *_REMOTE,
            "memory.store.id",
            "memory.record.id",
            "memory.record.count",
            "memory.query.text",
            "memory.records",
        ),
        _ADDRESSED,
    ),
    "gen_ai.create_agent.client": SpanType(
        frozenset({"create_agent"}),
        _CLIENT,
        ("gen_ai.agent.name",),
        _names("operation.name", "provider.name"),
        _names(
            *_REMOTE,
            "request.model",
            "agent.id",
            "agent.name",
            "agent.description",
            "agent.version",
            "system_instructions",
        ),
        _ADDRESSED,
    ),
    "gen_ai.invoke_agent.client": SpanType(
        frozenset({"invoke_agent"}),
        _CLIENT,
        ("gen_ai.agent.name",),
        _names("operation.name", "provider.name"),
        _names(
            *_REMOTE,
            *_SAMPLING,
            *_TALK,
            *_USAGE,
            *_AGENT,
            "agent.id",
            "agent.version",
            "request.previous_response.id",
        ),
        _ADDRESSED,
    ),
    "gen_ai.invoke_agent.internal": SpanType(
        frozenset({"invoke_agent"}),
        _INTERNAL,
        ("gen_ai.agent.name",),
        _names("operation.name"),
        _names(*_EVERY, *_SAMPLING, *_TALK, *_AGENT),
    ),
    "gen_ai.execute_tool.internal": SpanType(
        frozenset({"execute_tool"}),
        _INTERNAL,
        ("gen_ai.tool.name",),
        _names("operation.name", "tool.name"),
        _names(
            *_EVERY,
            "conversation.id",
            "agent.name",
            "tool.name",
            "tool.call.id",
            "tool.description",
            "tool.type",
            "tool.call.arguments",
            "tool.call.result",
        ),
        extra=_names("skill.name", "skill.description", "skill.source.uri", "skill.resource.name"),
    ),
    "gen_ai.invoke_workflow.internal": SpanType(
        frozenset({"invoke_workflow"}),
        _INTERNAL,
        ("gen_ai.workflow.name",),
        _names("operation.name"),
        _names(*_EVERY, "conversation.id", "workflow.name", "input.messages", "output.messages"),
    ),
    "gen_ai.plan.internal": SpanType(
        frozenset({"plan"}),
        _INTERNAL,
        ("gen_ai.agent.name",),
        _names("operation.name"),
        _names(*_EVERY, "agent.name"),
    ),
    "mcp.client": SpanType(
        frozenset({"execute_tool"}),
        _CLIENT,
        ("gen_ai.tool.name", "gen_ai.prompt.name"),
        _names("mcp.method.name"),
        _names(*_MCP, "server.address", "server.port"),
    ),
    "mcp.server": SpanType(
        frozenset({"execute_tool"}),
        frozenset({Kind.SERVER}),
        ("gen_ai.tool.name", "gen_ai.prompt.name"),
        _names("mcp.method.name"),
        _names(*_MCP, "client.address", "client.port"),
    ),
}
"""All span types, by their names in the conventions."""

MCP_NEEDS: Final = {
    "prompts/get": "gen_ai.prompt.name",
    "resources/read": "mcp.resource.uri",
    "resources/subscribe": "mcp.resource.uri",
    "resources/unsubscribe": "mcp.resource.uri",
    "tools/call": "gen_ai.tool.name",
}
"""Method of MCP to the attribute that its span has to have."""

OLD_EVENTS: Final = {
    "gen_ai.content.prompt": "gen_ai.input.messages",
    "gen_ai.content.completion": "gen_ai.output.messages",
    "gen_ai.system.message": "gen_ai.system_instructions",
    "gen_ai.user.message": "gen_ai.input.messages",
    "gen_ai.assistant.message": "gen_ai.input.messages",
    "gen_ai.tool.message": "gen_ai.input.messages",
    "gen_ai.choice": "gen_ai.output.messages",
}
"""Events, on spans or in logs, of older conventions, and the attribute that holds their content now."""
