"""Read spans that say what they are by a type, and the rest by one input and one output, under anybody's names.

Braintrust, Laminar, Mastra, NeMo, Spring AI, Dify, Opik, Weave and home-made tracers write them. An attribute's
part is told by how its name ends: `lmnr.span.type`, `braintrust.input_json`, `usage.prompt_tokens`. Dialects
that have a reader of their own go before, and their names are left alone here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from atifold.calls import MISSING, Failure
from atifold.dialects import exchange, values
from atifold.dialects.about import About
from atifold.dialects.entity import opened
from atifold.dialects.failure import failure
from atifold.dialects.mastra import gather
from atifold.dialects.table import CallKind, Dialect, Fields, Ignored, Verdict
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note, is_placeholder, word
from atifold.jsontext import text_of
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_PARTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (part, re.compile(rf"(?:^|[._])(?:{ends})$", re.IGNORECASE))
    for part, ends in (
        (
            "type",
            (
                r"span[._]?(?:type|kind)|run[._]?type|node[._]?type|entity[._]?type|observation[._]?type"
                r"|span_attributes(?:\.type)?|nat\.event_type|spring\.ai\.kind|step[._]?type"
            ),
        ),
        ("id", r"tool[._]?call[._]?id|tool\.id"),
        ("input", r"inputs?|input_json|input[._]value|tool\.call\.arguments|chat\.client\.input"),
        ("output", r"outputs?|output_json|output[._]value|tool\.call\.result|chat\.client\.output"),
        ("usage", r"usage|usage_details|token_usage|metrics"),
        ("metadata", r"(?:span[._])?metadata"),
        ("model", r"model(?:[._]?(?:name|id))?"),
        ("conversation", r"(?:session|thread|conversation)[._]?id"),
        ("tool", r"tool[._]?name|tool\.definition\.name"),
        ("agent", r"agent[._]?name"),
        ("error", r"error(?:[._](?:message|details))?"),
        (
            "count",
            (
                r"(?:prompt|input|completion|output)_?tokens|prompt_cached_tokens|prompt_cache_creation_tokens"
                r"|completion_reasoning_tokens|(?:cached_?input|reasoning)_?tokens|token_count\.(?:prompt|completion)"
            ),
        ),
    )
)
"""What an attribute holds, by the end of its name; the first that fits counts."""

_OTHERS: Final = (
    "atifold.", "ai.", "claude_code.", "codex.", "gemini_cli.", "gen_ai.input", "gen_ai.output", "gen_ai.tool.type",
    "github.", "langfuse.", "langsmith.", "llm.input", "llm.output", "logfire.", "mlflow.", "openinference.",
    "traceloop.",
)  # fmt: skip
"""How names begin that another dialect reads."""

_OWN: Final = ("lmnr.span.type", "braintrust.span_attributes", "mastra.span.type", "nat.event_type", "spring.ai.kind")
"""Types of writers who may put input and output elsewhere."""

_KINDS: Final[dict[str, CallKind]] = {
    **dict.fromkeys(
        (
            *("llm", "model", "generation", "chat", "chat_model", "chat_completion", "completion", "inference"),
            *("model_call", "llm_call", "model_generation", "model_step", "llm_start", "llm_end"),
        ),
        CallKind.MODEL,
    ),
    **dict.fromkeys(
        ("tool", "tool_call", "mcp_tool_call", "tool_start", "tool_end", "tool_use", "function_call", "mcp_tool"),
        CallKind.TOOL,
    ),
    **dict.fromkeys(("agent", "agent_run", "agent_turn", "chat_client", "agent_start"), CallKind.AGENT),
    **dict.fromkeys(("workflow", "workflow_run", "workflow_start", "workflow_end"), CallKind.WORKFLOW),
}
_ROOTS: Final = frozenset({"chain", "span", "task", "default", "function", "general", "entrypoint", "graph"})
"""Types that say nothing but of the outermost span: the run as a whole."""

_CACHED_TYPE: Final = "lmnr.span.original_type"
_TOOL_WRAPPERS: Final = frozenset({"args", "kwargs", "input", "inputs"})


@lru_cache(maxsize=4096)
def part_of(name: str) -> str | None:
    """Return what an attribute of this name holds, None for what another dialect reads, or nobody."""
    if name.startswith(_OTHERS) or name in ("span.type", "span.kind"):
        return None
    if name in ("type", "kind"):
        return "type"
    return next((part for part, ends in _PARTS if ends.search(name)), None)


def _held(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that the attributes tell, of one told twice the first that says something."""
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        part = part_of(name)
        if part is not None and part != "count" and not is_placeholder(value):
            found.setdefault(part, value)
    return found


def marks(span: Span) -> bool:
    """Tell whether a type stands here beside an input or an output, or the type of a known writer."""
    if any(name.startswith(_OWN) for name in span.attributes):
        return True
    parts = {part_of(name) for name in span.attributes}
    return "type" in parts and bool(parts & {"input", "output"})


def _type(span: Span) -> str:
    """Return the word of the type, in lower case; `{"type": "llm"}` may stand around it."""
    told = span.attributes.get(_CACHED_TYPE, _held(span.attributes).get("type"))
    found = opened(told)
    return str(found.get("type", "") if is_object(found) else found).lower()


def classify(span: Span) -> Verdict:
    """Say what the type says; a word that nobody knows says nothing."""
    kind = _type(span)
    if kind in _ROOTS:
        return CallKind.WORKFLOW if span.parent_id is None else Ignored(f"{kind} span")
    return _KINDS.get(kind) or (
        Ignored(f"{kind} span") if any(name.startswith(_OWN) for name in span.attributes) else None
    )


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what input and output hold, and what stands under the other names."""
    if not isinstance(classify(span), CallKind):
        return
    held = _held(span.attributes)
    metadata = opened(held.get("metadata"))
    about = {**(metadata if is_object(metadata) else {}), **held}
    _put_names(span, kind, about, fields, note)
    if kind is CallKind.TOOL:
        exchange.complete(span, kind, fields, note, given=held.get("input"), came=held.get("output"))
        fields["arguments"] = _given(fields.get("arguments", MISSING))
    else:
        request, response = opened(held.get("input")), opened(held.get("output"))
        exchange.complete_exchange(request, _as_response(response), kind, fields, note)
        put_usage(_snake(opened(held.get("usage"))), fields)
        put_usage(_snake(dict(_counts(span.attributes))), fields)
        exchange.put(fields, "cost_usd", values.money(_cost(opened(held.get("usage"))), note))
    error = opened(held.get("error"))
    if error and failure(span) is None:
        told = error.get("message") if is_object(error) else error
        fields.setdefault("failure", Failure(None, text_of(told)))


def _put_names(span: Span, kind: CallKind, about: Mapping[str, Any], fields: Fields, note: Note) -> None:
    """Fill in who did it, in which conversation; a tool and an agent have their span's name where none is told."""
    for name in ("conversation", "session_id", "thread_id", "conversation_id", "sessionId", "threadId"):
        exchange.put(fields, "conversation", _id(about.get(name)))
    if kind is CallKind.MODEL:
        exchange.put(fields, "model", word(about.get("model")) or word(span.attributes.get("nat.subspan.name")))
        if word(about.get("provider")):
            exchange.put(fields, "provider", values.provider(about["provider"], note))
    elif kind is CallKind.TOOL:
        exchange.put(fields, "tool", word(about.get("tool")) or word(about.get("tool_name")) or _bare(span.name))
        exchange.put(fields, "id", _id(about.get("id", about.get("tool_call_id"))))
    else:
        exchange.put(fields, "agent", word(about.get("agent")) or _bare(span.name))


def _id(value: Any) -> str | None:
    return None if is_placeholder(value) else text_of(value)


def _bare(name: str) -> str:
    """Return a span's name without the word for its kind: `tool: 'lookup'`, `agent run: 'desk'`."""
    quoted = re.fullmatch(r"[\w ]+: ?'([^']+)'", name)
    return quoted[1] if quoted else name


def _given(arguments: Any) -> Any:
    """Return arguments without a wrapper around an object of them."""
    if is_object(arguments) and len(arguments) == 1:
        only, inner = next(iter(arguments.items()))
        return inner if only in _TOOL_WRAPPERS and is_object(inner) else arguments
    return arguments


# ---- what came out -----------------------------------------------------------------------------------


def _as_response(value: Any) -> Any:
    """Return an answer in a shape that providers write: choices that stand alone, the AI SDK's result."""
    if is_list(value) and value and all(is_object(each) and is_object(each.get("message")) for each in value):
        return {"choices": value}
    if is_object(value) and is_list(value.get("toolCalls")) and "role" not in value:
        thought, text = value.get("reasoningText", value.get("reasoning")), value.get("text")
        parts: list[Any] = [{"type": "reasoning", "text": thought}] if word(thought) else []
        parts += [{"type": "text", "text": text}] if word(text) else []
        calls = [call.get("payload", call) for call in value["toolCalls"] if is_object(call)]
        parts += [{**call, "type": "tool-call"} for call in calls if is_object(call)]
        rest = {name: each for name, each in value.items() if name not in ("reasoning", "reasoningText", "text")}
        return {**rest, "role": "assistant", "content": parts}
    return value


# ---- counts ------------------------------------------------------------------------------------------

_SPELLINGS: Final = {
    "prompt_cached_tokens": "prompt_tokens_details.cached_tokens",
    "cached_input_tokens": "prompt_tokens_details.cached_tokens",
    "prompt_cache_creation_tokens": "prompt_tokens_details.cache_creation_tokens",
    "completion_reasoning_tokens": "completion_tokens_details.reasoning_tokens",
    "reasoning_tokens": "completion_tokens_details.reasoning_tokens",
    "prompt": "prompt_tokens",
    "completion": "completion_tokens",
}
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _counts(attributes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the counts that stand alone, by the last word of their names."""
    return ((name.rpartition(".")[2], value) for name, value in attributes.items() if part_of(name) == "count")


def _snake(usage: Any) -> Any:
    """Return a usage object with its counts spelled as providers spell them; anything else as it is."""
    if not is_object(usage):
        return usage
    plain = {_CAMEL.sub("_", name).lower(): value for name, value in usage.items()}
    return {_SPELLINGS.get(name, name): value for name, value in plain.items()}


def _cost(usage: Any) -> Any:
    names = ("estimated_cost", "cost", "total_cost")
    return next((usage[name] for name in names if is_object(usage) and name in usage), None)


_PLAIN: Final = frozenset(
    {
        "type", "kind", "input", "inputs", "input.value", "input.mime_type", "output", "outputs", "output.value",
        "output.mime_type", "usage", "metrics", "metadata", "model", "model_name", "error",
    }
)  # fmt: skip

TYPED: Final = Dialect(
    name="typed",
    marks=marks,
    rows=(),
    classify=classify,
    complete=complete,
    known=_PLAIN,
    known_prefixes=("braintrust.", "lmnr.", "mastra.", "nat.", "spring.ai."),
    gather=gather,
    about=About(
        title="spans of a type, an input and an output (Braintrust, Laminar, Mastra, NeMo, Spring AI, Dify, others)",
        versions="any whose attribute names end in these words",
        carries="models, tools and agents with input and output as JSON; tokens, cost and sessions where named",
        lacks="what stands under names of its own",
    ),
)
