"""Hold what the pinned GenAI conventions say of each metric, as data."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

_FINE = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4**n for n in range(14))
_CALLS = (1, 2, 4, 8, 16, 32, 64, 128)
_MCP = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_PER_TOKEN = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
_FIRST_TOKEN = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_WORKFLOW = (1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
_AGENT = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6)


class MetricType(NamedTuple):
    """One metric: instrument, unit, the attributes that its points must and may have, bucket bounds.

    `allowed` None: the conventions' list is that of MCP's spans, and is not held against it.
    """

    instrument: Literal["counter", "histogram"]
    unit: str
    required: frozenset[str]
    allowed: frozenset[str] | None
    bounds: tuple[float, ...] = ()


_CALL = frozenset({"gen_ai.operation.name", "gen_ai.provider.name"})
_STD = _CALL | {"gen_ai.request.model", "gen_ai.response.model", "server.address", "server.port"}
_ERROR = frozenset({"error.type"})
_MODALITY = frozenset({"gen_ai.token.modality"})
_NONE: frozenset[str] = frozenset()
_AGENT_NAME = frozenset({"gen_ai.agent.name"})


def _usage() -> MetricType:
    return MetricType("counter", "{token}", _CALL | _MODALITY, _STD | _MODALITY)


def _of_call(bounds: tuple[float, ...], *, fails: bool, unit: str = "s") -> MetricType:
    return MetricType("histogram", unit, _CALL, _STD | _ERROR if fails else _STD, bounds)


def _of_mcp(*required: str) -> MetricType:
    return MetricType("histogram", "s", frozenset(required), None, _MCP)


METRICS: Final[dict[str, MetricType]] = {
    "gen_ai.client.inference.duration": _of_call(_FINE, fails=True),
    "gen_ai.client.operation.duration": MetricType(
        "histogram", "s", frozenset({"gen_ai.operation.name"}), _STD | _ERROR, _FINE
    ),
    "gen_ai.client.inference.time_to_first_chunk": _of_call(_FINE, fails=False),
    "gen_ai.client.inference.time_per_output_chunk": _of_call(_FINE, fails=False),
    "gen_ai.client.inference.usage.input_tokens": _usage(),
    "gen_ai.client.inference.usage.output_tokens": _usage(),
    "gen_ai.client.inference.usage.cache_read.input_tokens": _usage(),
    "gen_ai.client.inference.usage.cache_write.input_tokens": _usage(),
    "gen_ai.client.inference.usage.reasoning.output_tokens": _usage(),
    "gen_ai.client.inference.operation.input_tokens": _of_call(_TOKENS, fails=True, unit="{token}"),
    "gen_ai.client.inference.operation.output_tokens": _of_call(_TOKENS, fails=True, unit="{token}"),
    "gen_ai.server.request.duration": _of_call(_FINE, fails=True),
    "gen_ai.server.time_per_output_token": _of_call(_PER_TOKEN, fails=False),
    "gen_ai.server.time_to_first_token": _of_call(_FIRST_TOKEN, fails=False),
    "gen_ai.invoke_workflow.duration": MetricType(
        "histogram", "s", _NONE, _ERROR | {"gen_ai.workflow.name"}, _WORKFLOW
    ),
    "gen_ai.invoke_agent.duration": MetricType(
        "histogram", "s", _NONE, _ERROR | _AGENT_NAME | {"gen_ai.request.model"}, _AGENT
    ),
    "gen_ai.invoke_agent.inference_calls": MetricType("histogram", "{inference_call}", _NONE, _AGENT_NAME, _CALLS),
    "gen_ai.invoke_agent.tool_calls": MetricType("histogram", "{tool_call}", _NONE, _AGENT_NAME, _CALLS),
    "gen_ai.execute_tool.duration": MetricType(
        "histogram",
        "s",
        frozenset({"gen_ai.tool.name"}),
        _ERROR | _AGENT_NAME | {"gen_ai.tool.name", "gen_ai.tool.type"},
        _FINE,
    ),
    "mcp.client.operation.duration": _of_mcp("mcp.method.name"),
    "mcp.server.operation.duration": _of_mcp("mcp.method.name"),
    "mcp.client.session.duration": _of_mcp(),
    "mcp.server.session.duration": _of_mcp(),
}
"""All metrics, by name."""

TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - of tokens that are counted

COMPAT: Final[dict[str, MetricType]] = {
    "gen_ai.client.token.usage": MetricType(
        "histogram", "{token}", _CALL | {TOKEN_TYPE}, _STD | _ERROR | {TOKEN_TYPE}, _TOKENS
    ),
    "gen_ai.client.operation.time_to_first_chunk": _of_call(_FINE, fails=False),
    "gen_ai.client.operation.time_per_output_chunk": _of_call(_FINE, fails=False),
}
"""Metrics of older conventions that shipped instrumentations record; accepted on demand."""

OLD_METRICS: Final = {
    "gen_ai.client.token.usage": "gen_ai.client.inference.operation.input_tokens and .output_tokens",
    "gen_ai.client.operation.time_to_first_chunk": "gen_ai.client.inference.time_to_first_chunk",
    "gen_ai.client.operation.time_per_output_chunk": "gen_ai.client.inference.time_per_output_chunk",
    "gen_ai.workflow.duration": "gen_ai.invoke_workflow.duration",
}
"""Metric of older conventions to what it is now."""

OTHER_OPERATIONS: Final = "gen_ai.client.operation.duration"
"""The one name that stayed and lost operations: of an inference it is the older name."""

UNBOUNDED: Final = frozenset(
    {
        "agentfootprint.run.id",
        "gen_ai.conversation.id",
        "gen_ai.data_source.id",
        "gen_ai.memory.record.id",
        "gen_ai.request.previous_response.id",
        "gen_ai.request.stream_cursor",
        "gen_ai.response.id",
        "gen_ai.tool.call.id",
        "jsonrpc.request.id",
        "mcp.resource.uri",
        "mcp.session.id",
        "session.id",
        "span.id",
        "trace.id",
        "user.id",
    }
)
"""Attributes of which there are ever more values: each would be a time series of its own."""

UNBOUNDED_ENDS: Final = (".call.id", ".call_id", ".record.id", ".request.id", ".response.id", ".run.id", ".run_id",
                         ".session.id", ".session_id", ".span_id", ".trace_id")  # fmt: skip
"""How such names end in namespaces that are not the conventions'."""
