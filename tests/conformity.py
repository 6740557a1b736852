"""Check spans against the pinned GenAI conventions: names, types, required attributes, kinds, status.

The table stands here as data, so that the check needs nothing else; a test compares it with the
compiled conventions. `check` says what is wrong with a span, in one line each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from atifold.spans import Kind, Span, Status

OPERATION: Final = "gen_ai.operation.name"

TYPES: Final[dict[str, str]] = {
    "error.type": "string",
    "server.address": "string",
    "server.port": "int",
    "gen_ai.provider.name": "enum",
    "gen_ai.operation.name": "enum",
    "gen_ai.output.type": "enum",
    "gen_ai.data_source.id": "string",
    "gen_ai.request.model": "string",
    "gen_ai.request.max_tokens": "int",
    "gen_ai.request.choice.count": "int",
    "gen_ai.request.temperature": "double",
    "gen_ai.request.top_p": "double",
    "gen_ai.request.top_k": "int",
    "gen_ai.request.stop_sequences": "string[]",
    "gen_ai.request.frequency_penalty": "double",
    "gen_ai.request.presence_penalty": "double",
    "gen_ai.request.encoding_formats": "string[]",
    "gen_ai.request.seed": "int",
    "gen_ai.request.stream": "boolean",
    "gen_ai.request.reasoning.level": "string",
    "gen_ai.request.previous_response.id": "string",
    "gen_ai.response.id": "string",
    "gen_ai.response.model": "string",
    "gen_ai.response.finish_reasons": "string[]",
    "gen_ai.response.time_to_first_chunk": "double",
    "gen_ai.usage.input_tokens": "int",
    "gen_ai.usage.cache_read.input_tokens": "int",
    "gen_ai.usage.cache_write.input_tokens": "int",
    "gen_ai.usage.text.input_tokens": "int",
    "gen_ai.usage.image.input_tokens": "int",
    "gen_ai.usage.audio.input_tokens": "int",
    "gen_ai.usage.output_tokens": "int",
    "gen_ai.usage.reasoning.output_tokens": "int",
    "gen_ai.usage.text.output_tokens": "int",
    "gen_ai.usage.image.output_tokens": "int",
    "gen_ai.usage.audio.output_tokens": "int",
    "gen_ai.usage.text.cache_read.input_tokens": "int",
    "gen_ai.usage.image.cache_read.input_tokens": "int",
    "gen_ai.usage.audio.cache_read.input_tokens": "int",
    "gen_ai.conversation.id": "string",
    "gen_ai.conversation.compacted": "boolean",
    "gen_ai.agent.name": "string",
    "gen_ai.agent.description": "string",
    "gen_ai.workflow.name": "string",
    "gen_ai.tool.name": "string",
    "gen_ai.tool.call.id": "string",
    "gen_ai.tool.description": "string",
    "gen_ai.tool.type": "string",
    "gen_ai.tool.call.arguments": "any",
    "gen_ai.tool.call.result": "any",
    "gen_ai.tool.definitions": "any",
    "gen_ai.embeddings.dimension.count": "int",
    "gen_ai.retrieval.documents": "any",
    "gen_ai.retrieval.query.text": "string",
    "gen_ai.retrieval.top_k": "int",
    "gen_ai.memory.store.id": "string",
    "gen_ai.memory.record.id": "string",
    "gen_ai.memory.record.count": "int",
    "gen_ai.memory.query.text": "string",
    "gen_ai.memory.records": "any",
    "gen_ai.system_instructions": "any",
    "gen_ai.input.messages": "any",
    "gen_ai.output.messages": "any",
    "gen_ai.prompt.name": "string",
    "gen_ai.prompt.version": "string",
    "gen_ai.prompt.variable": "template[string]",
}
"""Attribute to type, for the span types below."""

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

MESSAGES: Final = frozenset({"gen_ai.input.messages", "gen_ai.output.messages"})


class SpanType(NamedTuple):
    """One type of span: its operations, kinds, what its name ends with, what it must and may have."""

    operations: frozenset[str]
    kinds: frozenset[Kind]
    named_by: str | None
    required: frozenset[str]
    allowed: frozenset[str]


def _names(*stems: str) -> frozenset[str]:
    """Return names without their prefix as names."""
    return frozenset(stem if stem.startswith(("error.", "server.")) else f"gen_ai.{stem}" for stem in stems)


_EVERY = ("operation.name", "error.type")
_REMOTE = (*_EVERY, "provider.name", "server.address", "server.port")
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

SPAN_TYPES: Final[dict[str, SpanType]] = {
    "gen_ai.client.inference": SpanType(
        frozenset({"chat", "generate_content", "text_completion"}),
        frozenset({Kind.CLIENT, Kind.INTERNAL}),
        "gen_ai.request.model",
        _names("operation.name", "provider.name"),
        _names(
            *_REMOTE,
            *_SAMPLING,
            *_TALK,
            *_MODALITIES,
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
            "usage.input_tokens",
            "usage.cache_read.input_tokens",
            "usage.cache_write.input_tokens",
            "usage.output_tokens",
            "usage.reasoning.output_tokens",
            "tool.definitions",
            "prompt.name",
            "prompt.version",
            "prompt.variable",
        ),
    ),
    "gen_ai.embeddings.client": SpanType(
        frozenset({"embeddings"}),
        frozenset({Kind.CLIENT}),
        "gen_ai.request.model",
        _names("operation.name", "provider.name"),
        _names(
            *_REMOTE,
            "request.model",
            "request.encoding_formats",
            "response.model",
            "usage.input_tokens",
            "embeddings.dimension.count",
        ),
    ),
    "gen_ai.retrieval.client": SpanType(
        frozenset({"retrieval"}),
        frozenset({Kind.CLIENT}),
        "gen_ai.data_source.id",
        _names("operation.name"),
        _names(
            *_REMOTE,
            "request.model",
            "data_source.id",
            "retrieval.documents",
            "retrieval.query.text",
            "retrieval.top_k",
        ),
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
        frozenset({Kind.CLIENT, Kind.INTERNAL}),
        None,
        _names("operation.name"),
        _names(
            *_REMOTE,
            "memory.store.id",
            "memory.record.id",
            "memory.record.count",
            "memory.query.text",
            "memory.records",
        ),
    ),
    "gen_ai.invoke_agent.internal": SpanType(
        frozenset({"invoke_agent"}),
        frozenset({Kind.INTERNAL}),
        "gen_ai.agent.name",
        _names("operation.name"),
        _names(
            *_EVERY,
            *_SAMPLING,
            *_TALK,
            "data_source.id",
            "response.finish_reasons",
            "usage.input_tokens",
            "usage.output_tokens",
            "conversation.id",
            "agent.name",
            "agent.description",
            "tool.definitions",
        ),
    ),
    "gen_ai.execute_tool.internal": SpanType(
        frozenset({"execute_tool"}),
        frozenset({Kind.INTERNAL}),
        "gen_ai.tool.name",
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
    ),
    "gen_ai.invoke_workflow.internal": SpanType(
        frozenset({"invoke_workflow"}),
        frozenset({Kind.INTERNAL}),
        "gen_ai.workflow.name",
        _names("operation.name"),
        _names(*_EVERY, "conversation.id", "workflow.name", "input.messages", "output.messages"),
    ),
}
"""The span types that are emitted, by their names in the conventions."""

REFINED: Final = {"gen_ai.skill.name": "string", "process.executable.name": "string", "process.exit.code": "int"}
"""What a tool's span may have by the conventions' refinements (load_skill, command), which the table does not list."""

OWN_SPANS: Final[dict[str, str]] = {"tools.discovery": "agentfootprint.tools.provider_id"}
"""Spans that the conventions have no type for, by `agentfootprint.operation`, and what their names end with."""

_OWN = ("agentfootprint.", "atifold.")
_OURS = ("gen_ai.", "error.", "server.", "process.")
_MOST = 2**63 - 1


def _whole(value: Any) -> bool:
    return type(value) is int and -_MOST - 1 <= value <= _MOST


def _texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


_FITS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "enum": lambda value: isinstance(value, str) and bool(value),
    "int": _whole,
    "double": lambda value: type(value) is float and math.isfinite(value),
    "boolean": lambda value: isinstance(value, bool),
    "string[]": _texts,
    "any": lambda value: isinstance(value, str),
    "template[string]": lambda value: isinstance(value, str),
}


def check(span: Span, *, content: bool, sessions: Collection[str] = ()) -> list[str]:
    """Return what is wrong with a span, a line each; nothing for a right one.

    `content` says whether content may be on it, `sessions` which conversation ids there were.
    """
    found = next((row for row in SPAN_TYPES.values() if _is(span, row)), None)
    if found is None and span.attributes.get("agentfootprint.operation") in OWN_SPANS:
        return [f"{span.name}: {line}" for line in _of_own_span(span, content=content)]
    if found is None:
        return [f"{span.name}: no span type has operation {span.attributes.get(OPERATION)!r}"]
    lines = [*_of_type(span, found), *_of_attributes(span, found), *_of_status(span)]
    lines += _of_content(span) if content else _of_silence(span)
    talk = span.attributes.get("gen_ai.conversation.id")
    if talk is not None and talk not in sessions:
        lines.append(f"conversation id {talk!r} is no session")
    return [f"{span.name}: {line}" for line in lines]


def _of_own_span(span: Span, *, content: bool) -> list[str]:
    """Check a span that is ours alone: nothing of the conventions but the type of its failure."""
    operation = span.attributes["agentfootprint.operation"]
    wanted = f"{operation} {span.attributes.get(OWN_SPANS[operation]) or ''}".strip()
    lines = [] if span.name == wanted else [f"wanted the name {wanted!r}"]
    lines += [] if span.kind is Kind.INTERNAL else [f"kind {span.kind.value}"]
    lines += ["ends before it starts"] if span.end_ns is None or span.end_ns < span.start_ns else []
    lines += [f"{name} is not ours" for name in span.attributes if not name.startswith((*_OWN, "error.type"))]
    lines += [f"{name} is no attribute value" for name, value in span.attributes.items() if not _fits_otlp(value)]
    return [*lines, *_of_status(span), *([] if content else _of_silence(span))]


def _is(span: Span, row: SpanType) -> bool:
    return span.attributes.get(OPERATION) in row.operations


def _of_type(span: Span, row: SpanType) -> list[str]:
    lines = [] if span.kind in row.kinds else [f"kind {span.kind.value}"]
    tail = span.attributes.get(row.named_by) if row.named_by else None
    wanted = f"{span.attributes[OPERATION]} {tail}" if tail else span.attributes[OPERATION]
    if "gen_ai.skill.name" in span.attributes:
        wanted = f"{wanted} {span.attributes['gen_ai.skill.name']}"
    if span.name != wanted:
        lines.append(f"wanted the name {wanted!r}")
    if span.end_ns is None or span.end_ns < span.start_ns:
        lines.append("ends before it starts")
    return lines + [f"{name} is required" for name in sorted(row.required) if not span.attributes.get(name)]


def _of_attributes(span: Span, row: SpanType) -> list[str]:
    agent = span.attributes[OPERATION] == "invoke_agent"
    faults = (_fault(name, value, row, agent=agent) for name, value in span.attributes.items())
    lines = [fault for fault in faults if fault is not None]
    if span.attributes.get("gen_ai.conversation.compacted") is False:
        lines.append("gen_ai.conversation.compacted is set only as true")
    return lines


def _fault(name: str, value: Any, row: SpanType, *, agent: bool) -> str | None:
    """Return what is wrong with one attribute; tokens of an agent are those of its calls again."""
    if not name.startswith(_OURS):
        if not name.startswith(_OWN):
            return f"{name} is in no namespace of ours"
        return None if _fits_otlp(value) else f"{name} is no attribute value: {value!r}"
    if name in REFINED and "execute_tool" in row.operations:
        return None if _FITS[REFINED[name]](value) else f"{name} is no {REFINED[name]}: {value!r}"
    if name not in row.allowed:
        return f"{name} is not of this span type"
    if not _FITS[TYPES[name]](value):
        return f"{name} is no {TYPES[name]}: {value!r}"
    return f"{name} on an agent's span counts twice" if agent and name.startswith("gen_ai.usage.") else None


def _fits_otlp(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return len({type(item) for item in value}) <= 1 and all(_fits_otlp(item) for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, bool)) or _whole(value)


def _of_status(span: Span) -> list[str]:
    failed = span.status is Status.ERROR
    if span.status is Status.OK:
        return ["status OK is for the user to set"]
    if failed != ("error.type" in span.attributes):
        return [f"status {span.status.value} and error.type {span.attributes.get('error.type')!r}"]
    return ["a description without a failure"] if span.status_message and not failed else []


def _of_silence(span: Span) -> list[str]:
    lines = [f"{name} is content" for name in span.attributes if name in CONTENT]
    return [*lines, "the description is content"] if span.status_message else lines


def _of_content(span: Span) -> list[str]:
    lines = []
    for name in sorted(CONTENT & span.attributes.keys() - {"gen_ai.tool.call.result"}):
        try:
            value = json.loads(span.attributes[name])
        except ValueError:
            lines.append(f"{name} is no JSON")
            continue
        if name in MESSAGES and not all(_is_message(message) for message in value):
            lines.append(f"{name} holds something that is no message")
    return lines


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and isinstance(value.get("parts"), list)
        and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in value["parts"])
    )
