"""Say which metrics there are and what feeds them: the table behind `Metrics`.

Names, units, attributes and boundaries are those of the pinned conventions (`atifold.semconv`); the
older ones are what instrumentations emitted before. `agentfootprint.cost` is ours: the conventions
have no metric of cost.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from atifold import semconv
from atifold.emit import readings
from atifold.emit.readings import Reading

Spelled = Literal["latest", "compat", "always"]
"""Under which setting a row counts; `both` is all of them."""


class Instrument(NamedTuple):
    """One way by which spans feed a metric; a metric may have several.

    `operations` are those whose spans feed it, `attributes` what is taken over from them, `fixed` what
    this row adds. `per_chunk`: only where that is asked for.
    """

    name: str
    kind: Literal["histogram", "counter"]
    unit: str
    description: str
    operations: tuple[str, ...]
    reads: Reading
    attributes: tuple[str, ...]
    buckets: tuple[float, ...] = ()
    spelled: Spelled = "latest"
    fixed: tuple[tuple[str, str], ...] = ()
    per_chunk: bool = False


_DOUBLING: Final = tuple(0.01 * 2**n for n in range(14))
_AGENT_DOUBLING: Final = tuple(0.1 * 2**n for n in range(13))
_TOKENS: Final = tuple(4**n for n in range(14))
_CALLS: Final = tuple(2**n for n in range(8))
_LONG: Final = (1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)

_STD: Final = (
    semconv.OPERATION,
    semconv.PROVIDER,
    semconv.REQUEST_MODEL,
    semconv.RESPONSE_MODEL,
    semconv.SERVER_ADDRESS,
    semconv.SERVER_PORT,
)
_STD_ERROR: Final = (*_STD, semconv.ERROR_TYPE)
_USED: Final = (*_STD, semconv.MODALITY)

_CHAT: Final = ("chat",)
_CLIENT: Final = ("embeddings", "retrieval", "search_memory", "upsert_memory")
_INSIDE: Final = ("invoke_agent", "execute_tool", "invoke_workflow")

# No event tells of what kind the counted tokens are: then they are to be reported so.
_UNKNOWN: Final = ((semconv.MODALITY, "unknown"),)


def _usage(attribute: str, description: str) -> Instrument:
    name = attribute.replace("gen_ai.usage.", "gen_ai.client.inference.usage.")
    reads = readings.spent_tokens(attribute)
    return Instrument(name, "counter", "{token}", description, _CHAT, reads, _USED, fixed=_UNKNOWN)


def _spread(attribute: str, description: str) -> Instrument:
    name = attribute.replace("gen_ai.usage.", "gen_ai.client.inference.operation.")
    reads = readings.spent_tokens(attribute)
    return Instrument(name, "histogram", "{token}", description, _CHAT, reads, _STD_ERROR, _TOKENS)


def _older_usage(attribute: str, kind: str) -> Instrument:
    return Instrument(
        "gen_ai.client.token.usage",
        "histogram",
        "{token}",
        "Tokens of one inference, by kind",
        _CHAT,
        readings.reported_tokens(attribute),
        (*_STD, semconv.USAGE_TYPE),
        _TOKENS,
        "compat",
        ((semconv.USAGE_TYPE, kind),),
    )


def _seconds(name: str, description: str, reads: Reading, *, spelled: Spelled, per_chunk: bool = False) -> Instrument:
    return Instrument(name, "histogram", "s", description, _CHAT, reads, _STD, _DOUBLING, spelled, per_chunk=per_chunk)


def _operation(operations: tuple[str, ...], spelled: Spelled) -> Instrument:
    name, says = "gen_ai.client.operation.duration", "Duration of an operation"
    return Instrument(name, "histogram", "s", says, operations, readings.duration, _STD_ERROR, _DOUBLING, spelled)


def _cost(operation: str, attributes: tuple[str, ...]) -> Instrument:
    says = "Money spent, as estimated while running"
    names = (semconv.OPERATION, *attributes)
    return Instrument(
        semconv.COST_METRIC, "counter", "{USD}", says, (operation,), readings.cost, names, spelled="always"
    )


_FIRST: Final = "Time until the first chunk of a streamed answer"
_NEXT: Final = "Time between two chunks of a streamed answer"

INSTRUMENTS: Final = (
    Instrument(
        "gen_ai.client.inference.duration",
        "histogram",
        "s",
        "Duration of an inference",
        _CHAT,
        readings.duration,
        _STD_ERROR,
        _DOUBLING,
    ),
    _operation(_CLIENT, "always"),
    _operation((*_CHAT, *_INSIDE), "compat"),
    _seconds("gen_ai.client.inference.time_to_first_chunk", _FIRST, readings.time_to_first_chunk, spelled="latest"),
    _seconds("gen_ai.client.operation.time_to_first_chunk", _FIRST, readings.time_to_first_chunk, spelled="compat"),
    _seconds(
        "gen_ai.client.inference.time_per_output_chunk",
        _NEXT,
        readings.times_per_chunk,
        spelled="latest",
        per_chunk=True,
    ),
    _seconds(
        "gen_ai.client.operation.time_per_output_chunk",
        _NEXT,
        readings.times_per_chunk,
        spelled="compat",
        per_chunk=True,
    ),
    _usage(semconv.USAGE_INPUT, "Input tokens, those of a cache included"),
    _usage(semconv.USAGE_OUTPUT, "Output tokens, those of reasoning included"),
    _usage(semconv.USAGE_CACHE_READ, "Input tokens that came from the provider's cache"),
    _usage(semconv.USAGE_CACHE_WRITE, "Input tokens that were put into the provider's cache"),
    _usage(semconv.USAGE_REASONING, "Output tokens of reasoning"),
    _spread(semconv.USAGE_INPUT, "Input tokens of one inference"),
    _spread(semconv.USAGE_OUTPUT, "Output tokens of one inference"),
    _older_usage(semconv.USAGE_INPUT, "input"),
    _older_usage(semconv.USAGE_OUTPUT, "output"),
    Instrument(
        "gen_ai.invoke_workflow.duration",
        "histogram",
        "s",
        "Duration of a workflow",
        ("invoke_workflow",),
        readings.duration,
        (semconv.ERROR_TYPE, semconv.WORKFLOW_NAME),
        _LONG,
        "always",
    ),
    Instrument(
        "gen_ai.invoke_agent.duration",
        "histogram",
        "s",
        "Duration of an agent's turn",
        ("invoke_agent",),
        readings.duration,
        (semconv.ERROR_TYPE, semconv.AGENT_NAME, semconv.REQUEST_MODEL),
        _AGENT_DOUBLING,
        "always",
    ),
    Instrument(
        "gen_ai.invoke_agent.inference_calls",
        "histogram",
        "{inference_call}",
        "Inferences of an agent's turn",
        ("invoke_agent",),
        readings.inference_calls,
        (semconv.AGENT_NAME,),
        _CALLS,
        "always",
    ),
    Instrument(
        "gen_ai.invoke_agent.tool_calls",
        "histogram",
        "{tool_call}",
        "Tools that ran in an agent's turn",
        ("invoke_agent",),
        readings.tool_calls,
        (semconv.AGENT_NAME,),
        _CALLS,
        "always",
    ),
    Instrument(
        "gen_ai.execute_tool.duration",
        "histogram",
        "s",
        "Duration of a tool's execution",
        ("execute_tool",),
        readings.duration,
        (semconv.ERROR_TYPE, semconv.TOOL_NAME, semconv.TOOL_TYPE, semconv.AGENT_NAME),
        _DOUBLING,
        "always",
    ),
    _cost("chat", (semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.RESPONSE_MODEL)),
    _cost("invoke_agent", (semconv.AGENT_NAME,)),
    _cost("invoke_workflow", (semconv.WORKFLOW_NAME,)),
)
"""All rows. Of the conventions' other metrics, those of servers and of MCP, no event tells."""


def rows(names: Literal["latest", "compat", "both"], *, per_chunk: bool) -> tuple[Instrument, ...]:
    """Return the rows that count under the settings `metrics` and `chunk_metrics`."""
    wanted = {"both": ("latest", "compat", "always")}.get(names, (names, "always"))
    return tuple(row for row in INSTRUMENTS if row.spelled in wanted and (per_chunk or not row.per_chunk))
