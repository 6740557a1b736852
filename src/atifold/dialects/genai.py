"""Read the OpenTelemetry GenAI conventions, from the newest names back to the first ones.

Source of the names: open-telemetry/semantic-conventions-genai at the commit in `semconv`, and the
older generations that renamed them (core conventions 1.26 to 1.41).
"""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects import content, genai_events, untold_roles, values
from atifold.dialects.about import About, Generation
from atifold.dialects.genai_details import divide, from_logs
from atifold.dialects.span_name import operation_in, tool_in
from atifold.dialects.table import (
    AGENTS,
    ALL,
    MODELS,
    MODELS_AND_AGENTS,
    TOOLS,
    CallKind,
    Dialect,
    Fields,
    Ignored,
    Row,
    Verdict,
    apply_rows,
)
from atifold.dialects.tool_output import put_unwrapped, tool_message
from atifold.dialects.values import Note
from atifold.spans import Span

OPERATIONS: Final[dict[str, CallKind]] = {
    "chat": CallKind.MODEL,
    "generate_content": CallKind.MODEL,
    "text_completion": CallKind.MODEL,
    "execute_tool": CallKind.TOOL,
    "invoke_agent": CallKind.AGENT,
    "invoke_workflow": CallKind.WORKFLOW,
}
"""Values of `gen_ai.operation.name` that are calls."""

NO_CALLS: Final = frozenset(
    {
        "embeddings",
        "retrieval",
        "fetch_response",
        "create_agent",
        "plan",
        "schedule_tool_calls",  # Gemini CLI: repeats the calls inside it
        "search_memory",
        "create_memory",
        "update_memory",
        "upsert_memory",
        "delete_memory",
        "create_memory_store",
        "delete_memory_store",
    }
)
"""Values of `gen_ai.operation.name` that are none."""

MERGED_TOOLS: Final = "(merged"
"""What the name of ADK's extra span after parallel tool calls holds: `execute_tool (merged)`."""


def _reasons(value: Any, note: Note) -> Any:
    """Read why a model stopped; the members of Semantic Kernel's enum are written as their names in lower case."""
    found = values.words(value, note)
    if found is MISSING:
        return MISSING
    return tuple(word.removeprefix(_ENUM).lower() if word.startswith(_ENUM) else word for word in found)


_ENUM: Final = "FinishReason."

ROWS: Final = (
    Row("provider", ("gen_ai.provider.name", "gen_ai.system"), values.provider, MODELS),
    Row("model", ("gen_ai.response.model", "gen_ai.request.model", "gen_ai.llm.model"), kinds=MODELS_AND_AGENTS),
    Row("response_id", ("gen_ai.response.id", "gen_ai.response_id", "gen_ai.request.id"), kinds=MODELS),
    Row(
        "finish_reasons",
        ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason", "gen_ai.response.stop_reason"),
        _reasons,
        MODELS,
    ),
    Row(
        "reasoning_effort",
        ("gen_ai.request.reasoning.level", "gen_ai.request.reasoning_effort"),
        values.effort,
        MODELS,
    ),
    Row(
        "usage.prompt",
        ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "usage.completion",
        ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "usage.cached",
        (
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.input_tokens.cached",
            "gen_ai.usage.prompt_tokens_details.cached_tokens",
            "gen_ai.usage.details.cache_read_tokens",
        ),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "usage.cache_write",
        (
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_input_tokens",
            "gen_ai.usage.input_tokens.cache_write",
            "gen_ai.usage.prompt_tokens_details.cache_creation_tokens",
        ),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "usage.reasoning",
        (
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.output_tokens.reasoning",
            "gen_ai.usage.completion_tokens_details.reasoning_tokens",
            "gcp.gen_ai.usage.thoughts_token_count",
        ),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "cost_usd",
        (
            "gen_ai.usage.cost.amount",
            "gen_ai.usage.cost",
            "gen_ai.cost.amount",
            "gen_ai.usage.total_cost",
            "operation.cost",
            "llm.response.cost",
            "litellm.cost.usd",
        ),
        values.money,
        MODELS_AND_AGENTS,
    ),
    Row("cost_source", ("gen_ai.usage.cost.source",), kinds=MODELS),
    Row("input", ("gen_ai.input.messages", "gen_ai.request.messages"), content.input_messages, MODELS_AND_AGENTS),
    Row("output", ("gen_ai.output.messages",), content.output_messages, MODELS_AND_AGENTS),
    Row("system", ("gen_ai.system_instructions",), content.instructions, MODELS_AND_AGENTS),
    Row(
        "tools",
        ("gen_ai.tool.definitions", "gen_ai.request.available_tools"),
        content.definitions,
        MODELS_AND_AGENTS,
    ),
    Row("compacted", ("gen_ai.conversation.compacted",), values.flag, MODELS),
    Row("agent_name", ("gen_ai.agent.name",), kinds=MODELS | TOOLS),
    Row("tool", ("gen_ai.tool.name",), kinds=TOOLS),
    Row("id", ("gen_ai.tool.call.id",), kinds=TOOLS),
    Row("description", ("gen_ai.tool.description",), kinds=TOOLS),
    Row(
        "arguments",
        ("gen_ai.tool.call.arguments", "gen_ai.tool.input", "gen_ai.tool.args"),
        values.arguments,
        TOOLS,
    ),
    Row("result", ("gen_ai.tool.call.result", "gen_ai.tool.output", "gen_ai.tool.result"), values.result, TOOLS),
    Row("agent", ("gen_ai.agent.name",), kinds=frozenset({CallKind.AGENT})),
    Row("agent", ("gen_ai.workflow.name", "gen_ai.agent.name"), kinds=frozenset({CallKind.WORKFLOW})),
    Row("agent_id", ("gen_ai.agent.id",), kinds=AGENTS),
    Row("agent_version", ("gen_ai.agent.version",), kinds=AGENTS),
    Row("description", ("gen_ai.agent.description",), kinds=AGENTS),
    Row("conversation", ("gen_ai.conversation.id", "session.id", "gen_ai.session.id"), kinds=ALL),
)

KEPT: Final = frozenset(
    {
        "gen_ai.request.temperature",
        "gen_ai.request.top_p",
        "gen_ai.request.top_k",
        "gen_ai.request.max_tokens",
        "gen_ai.request.seed",
        "gen_ai.request.stop_sequences",
        "gen_ai.request.frequency_penalty",
        "gen_ai.request.presence_penalty",
        "gen_ai.request.choice.count",
        "gen_ai.request.previous_response.id",
        "gen_ai.output.type",
        "gen_ai.skill.name",
        "gen_ai.tool.type",
        "openai.request.service_tier",
        "process.exit.code",
        "openai.response.service_tier",
    }
)

KNOWN: Final = frozenset(
    {
        "gen_ai.operation.name",
        "gen_ai.request.model",
        "gen_ai.request.stream",
        "gen_ai.response.time_to_first_chunk",
        "gen_ai.usage.total_tokens",
        "gen_ai.usage.cost.currency",
        "gen_ai.agent.name",
        genai_events.PROMPT,
        genai_events.COMPLETION,
        "openai.response.system_fingerprint",
        "error.type",
        "server.address",
        "server.port",
    }
)

_MODEL_SIGNS: Final = ("gen_ai.response.model", "gen_ai.response.id", "gen_ai.request.model", "gen_ai.system")
_USE_SIGNS: Final = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.prompt_tokens",
    "gen_ai.usage.completion_tokens",
    "gen_ai.output.messages",
    "gen_ai.response.id",
)


_COUNTS_TWICE: Final = frozenset({"anthropic.chat"})
"""Spans of newer OpenLLMetry that count a stream's first output tokens twice, and do not tell whether it was one."""


def marks(span: Span) -> bool:
    """Tell whether some attribute is named as the conventions name theirs."""
    for name in span.attributes:  # noqa: SIM110  every span of a program is asked, and a generator costs more
        if name.startswith("gen_ai."):
            return True
    return False


def classify(span: Span) -> Verdict:
    """Say what `gen_ai.operation.name` says, else the name of the span; what nobody knows is left to the guess."""
    operation = span.attributes.get("gen_ai.operation.name")
    if not isinstance(operation, str) or not operation:
        operation = operation_in(span.name)
    if operation is None:
        return None
    if operation in NO_CALLS:
        return Ignored(operation)
    kind = OPERATIONS.get(operation)
    if kind is CallKind.TOOL and MERGED_TOOLS in f"{span.attributes.get('gen_ai.tool.name', '')} {span.name}":
        return Ignored("execute_tool (merged)")
    return kind


def guess(span: Span) -> Verdict:
    """Tell a call from the names of its attributes, where no operation is given or it is unknown."""
    found = span.attributes
    if any(name in found for name in _MODEL_SIGNS) and any(name in found for name in _USE_SIGNS):
        return CallKind.MODEL
    if "gen_ai.tool.name" in found and ("gen_ai.tool.call.id" in found or "gen_ai.tool.call.arguments" in found):
        return CallKind.TOOL
    if "gen_ai.agent.name" in found and ("gen_ai.input.messages" in found or "gen_ai.output.messages" in found):
        return CallKind.AGENT
    operation = found.get("gen_ai.operation.name")
    return Ignored(f"operation {operation}") if isinstance(operation, str) and operation else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Take from the events of the conventions what the span itself lacks; drop amounts that are no dollars."""
    if str(span.attributes.get("gen_ai.usage.cost.currency", "USD")).upper() != "USD":
        fields.pop("cost_usd", None)
    if kind is CallKind.TOOL:
        if operation_in(span.name) == "execute_tool":
            fields.setdefault("tool", tool_in(span.name))
        put_unwrapped(span, fields, tool_message)
        return
    if kind is CallKind.MODEL:
        _complete_model(span, fields, note)
    if span.events:
        genai_events.complete(span.events, fields, note)
    if kind is CallKind.MODEL and genai_events.PROMPT in span.attributes:
        _complete_texts(span, fields, note)


def _complete_texts(span: Span, fields: Fields, note: Note) -> None:
    """Take texts without roles, which some write where events have messages (Spring AI); others have more there."""
    found = (
        ("input", untold_roles.asked(span.attributes[genai_events.PROMPT], note)),
        ("output", untold_roles.said(span.attributes.get(genai_events.COMPLETION))),
    )
    for field, messages in found:
        if messages is not MISSING:
            fields.setdefault(field, messages)


def _complete_model(span: Span, fields: Fields, note: Note) -> None:
    if span.name in _COUNTS_TWICE and "llm.request.type" not in span.attributes:
        fields["usage.surplus"] = True
    for event in span.events:
        if event.name == genai_events.DETAILS:
            apply_rows(GENAI, genai_events.details(event), CallKind.MODEL, fields, note)


GENAI: Final = Dialect(
    name="genai",
    marks=marks,
    rows=ROWS,
    classify=classify,
    guess=guess,
    complete=complete,
    kept=KEPT,
    known=KNOWN,
    raw_usage=("gen_ai.usage.",),
    from_logs=from_logs,
    divide=divide,
    about=About(
        title="OpenTelemetry's GenAI conventions",
        versions="all, from before 1.28 to the current ones",
        carries=(
            "calls, tokens, messages on spans, in span events or in log records (Spring AI's texts without roles too), "
            "agents, workflows, conversations"
        ),
        lacks="content unless it is captured; a cost; before 1.38 what a tool was given and gave",
        generations=(
            Generation("1.37 and later", (genai_events.DETAILS, "gen_ai.provider.name", "gen_ai.input.messages")),
            Generation("1.28 to 1.36", (*genai_events.SPEAKERS, genai_events.CHOICE)),
            Generation("before 1.28", ("gen_ai.content.prompt", "gen_ai.content.completion")),
            Generation("before 1.37", ("gen_ai.system",)),
        ),
    ),
)
