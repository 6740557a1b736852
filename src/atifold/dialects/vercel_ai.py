"""Read the `ai.*` attributes of the Vercel AI SDK, versions 4 to 6, and of 7 where it still writes them.

The outer span of an operation is the agent, its `.doGenerate` and `.doStream` are the model calls. The
SDK's copies under `gen_ai.*` are read by the conventions' dialect.
"""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING, Message, Part, Reasoning, Text
from atifold.dialects import content, values
from atifold.dialects.about import About, Generation
from atifold.dialects.entity import opened, restored
from atifold.dialects.messages import read_messages, read_parts
from atifold.dialects.table import (
    AGENTS,
    MODELS,
    MODELS_AND_AGENTS,
    TOOLS,
    CallKind,
    Dialect,
    Fields,
    Ignored,
    Row,
    Verdict,
)
from atifold.dialects.values import Note
from atifold.jsontext import scrub
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_OPERATION: Final = "ai.operationId"
_CALLS: Final = (".doGenerate", ".doStream")
_RUNS: Final = ("ai.generate", "ai.stream")
_METADATA: Final = "ai.telemetry.metadata."
_USAGE: Final = "ai.usage."
_NO_CACHE: Final = _USAGE + "inputTokenDetails.noCacheTokens"


def _value(value: Any, _note: Note) -> Any:
    """Read arguments or a result, which are JSON text of any value."""
    return MISSING if values.is_placeholder(value) else opened(value)


ROWS: Final = (
    Row("provider", ("ai.model.provider",), values.provider, MODELS),
    Row("model", ("ai.response.model", "ai.model.id"), kinds=MODELS_AND_AGENTS),
    Row("response_id", ("ai.response.id",), kinds=MODELS),
    Row("finish_reasons", ("ai.response.finishReason", "ai.finishReason"), values.words, MODELS),
    Row("usage.prompt", (_USAGE + "inputTokens", _USAGE + "promptTokens"), values.count, MODELS_AND_AGENTS),
    Row("usage.completion", (_USAGE + "outputTokens", _USAGE + "completionTokens"), values.count, MODELS_AND_AGENTS),
    Row(
        "usage.cached",
        (_USAGE + "inputTokenDetails.cacheReadTokens", _USAGE + "cachedInputTokens"),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row("usage.cache_write", (_USAGE + "inputTokenDetails.cacheWriteTokens",), values.count, MODELS_AND_AGENTS),
    Row(
        "usage.reasoning",
        (_USAGE + "outputTokenDetails.reasoningTokens", _USAGE + "reasoningTokens"),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row("tools", ("ai.prompt.tools",), content.definitions, MODELS),
    Row("tool", ("ai.toolCall.name",), kinds=TOOLS),
    Row("id", ("ai.toolCall.id",), kinds=TOOLS),
    Row("arguments", ("ai.toolCall.args", "ai.toolCall.input"), _value, TOOLS),
    Row("result", ("ai.toolCall.result", "ai.toolCall.output"), _value, TOOLS),
    Row("agent", ("ai.telemetry.functionId",), kinds=AGENTS),
    Row("agent_name", ("ai.telemetry.functionId",), kinds=MODELS | TOOLS),
    Row(
        "conversation",
        tuple(
            _METADATA + name
            for name in ("sessionId", "session_id", "conversationId", "conversation_id", "threadId", "thread_id")
        ),
    ),
)

_PROVIDER_FIGURES: Final = (
    ("usage.cached", ("cachedPromptTokens", "cacheReadInputTokens", "cachedContentTokenCount")),
    ("usage.cache_write", ("cacheCreationInputTokens", "cacheWriteInputTokens")),
    ("usage.reasoning", ("reasoningTokens", "thoughtsTokenCount")),
)
"""Figures that version 4 has in the provider's metadata only."""


def marks(span: Span) -> bool:
    """Tell whether the SDK wrote an attribute of its own."""
    return any(name.startswith("ai.") for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what the operation says; embeddings and the like are no calls."""
    operation = span.attributes.get(_OPERATION, span.name.split(" ", 1)[0])
    if not isinstance(operation, str) or not operation.startswith("ai."):
        return None
    if operation == "ai.toolCall":
        return CallKind.TOOL
    if not operation.startswith(_RUNS):
        return Ignored(operation)
    return CallKind.MODEL if operation.endswith(_CALLS) else CallKind.AGENT


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in messages, which stand in parts, and the figures that only the provider's metadata has."""
    if kind is CallKind.TOOL:
        return
    found = span.attributes
    if kind is CallKind.MODEL:
        _put(fields, "input", content.input_messages(found.get("ai.prompt.messages"), note))
    if "ai.prompt" in found:
        _complete_prompt(restored(found["ai.prompt"], note), fields, note)
    answer = _answer(span, note)
    if answer:
        _put(fields, "output", (Message("assistant", tuple(answer)),))
    if kind is CallKind.MODEL:
        _complete_usage(span, fields)


def _put(fields: Fields, field: str, value: Any) -> None:
    if value is not MISSING:
        fields.setdefault(field, value)


def _complete_prompt(prompt: Any, fields: Fields, note: Note) -> None:
    """Take what an operation was asked with: a text, or messages, and the instructions apart."""
    if not is_object(prompt):
        return
    system = prompt.get("system")
    if isinstance(system, str) and system:
        fields.setdefault("system", scrub(system))
    told = next((prompt[key] for key in ("messages", "prompt") if prompt.get(key)), None)
    if told is not None:
        fields.setdefault("input", read_messages(told, note))


def _answer(span: Span, note: Note) -> list[Part]:
    """Return the parts of an answer: thoughts, text or object, calls."""
    found = span.attributes
    parts: list[Part] = list(_thoughts(found.get("ai.response.reasoning")))
    texts = (found.get(name) for name in ("ai.response.text", "ai.result.text", "ai.response.object"))
    text = next((text for text in texts if isinstance(text, str) and text), None)
    if text is not None:
        parts.append(Text(scrub(text)))
    given = next((found[name] for name in ("ai.response.toolCalls", "ai.result.toolCalls") if name in found), None)
    calls = content.structured(given, note) if given is not None else None
    if is_list(calls):
        parts += read_parts([{**call, "type": "tool-call"} for call in calls if is_object(call)], note)
    return parts


def _thoughts(value: Any) -> list[Reasoning]:
    """Read thoughts: a text, or a list of parts as JSON text."""
    if not isinstance(value, str) or not value:
        return []
    found = opened(value)
    listed = found if is_list(found) else [found]
    texts = (entry.get("text") if is_object(entry) else entry for entry in listed)
    return [Reasoning(scrub(text)) for text in texts if isinstance(text, str) and text]


def _complete_usage(span: Span, fields: Fields) -> None:
    """Add the provider's own figures; before version 6 Anthropic's prompts are counted without their cache."""
    found = opened(span.attributes.get("ai.response.providerMetadata"))
    for metadata in found.values() if is_object(found) else ():
        for field, names in _PROVIDER_FIGURES:
            counts = (values.number(metadata.get(name)) for name in names if is_object(metadata))
            count = next((count for count in counts if isinstance(count, int)), None)
            if count is not None:
                fields.setdefault(field, count)
    if _is_anthropic(span) and _NO_CACHE not in span.attributes and "usage.prompt" in fields:
        fields["usage.prompt"] += fields.get("usage.cached", 0) + fields.get("usage.cache_write", 0)


def _is_anthropic(span: Span) -> bool:
    """Tell whether Anthropic's own counts were passed on: by its provider, or by Bedrock for its models."""
    provider, model = (str(span.attributes.get(name, "")) for name in ("ai.model.provider", "ai.model.id"))
    return "anthropic" in provider or ("bedrock" in provider and "anthropic" in model)


VERCEL_AI: Final = Dialect(
    name="vercel-ai",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=frozenset({"operation.name", "resource.name"}),
    known_prefixes=("ai.",),
    raw_usage=(_USAGE,),
    about=About(
        title="Vercel AI SDK (`ai.*`)",
        versions="4 to 6; 7 writes the conventions",
        carries="prompts, answers, reasoning, tools with their results, tokens, sessions in its metadata",
        lacks="a cost; the agent's name without `functionId`",
        generations=(
            Generation("6", ("ai.usage.inputTokenDetails.",)),
            Generation("5", ("ai.usage.inputTokens",)),
            Generation("4 or 5", ("ai.usage.promptTokens",)),
        ),
    ),
)
