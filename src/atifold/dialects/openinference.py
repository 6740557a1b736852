"""Read OpenInference, the conventions of the Phoenix family: flat indexed keys, and raw requests and responses.

Source: the attribute names of `openinference.semconv.trace`, and recordings of its instrumentations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from atifold.calls import MISSING, Message, OtherPart, Reasoning, Text
from atifold.dialects import raw, values
from atifold.dialects.about import About
from atifold.dialects.beeai import CALL as BEEAI_CALL
from atifold.dialects.beeai import gather
from atifold.dialects.choices import COUNT, asked_for
from atifold.dialects.content import definitions
from atifold.dialects.flat import at, entries, trees
from atifold.dialects.openinference_messages import read_messages
from atifold.dialects.span_name import tool_in
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
from atifold.dialects.tool_output import put_unwrapped, unwrap
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note
from atifold.jsontext import scrub
from atifold.kinds import is_object
from atifold.spans import Span, Status

SPAN_KIND: Final = "openinference.span.kind"
KINDS: Final = {"LLM": CallKind.MODEL, "TOOL": CallKind.TOOL, "AGENT": CallKind.AGENT}

_INPUT: Final = "llm.input_messages."
_OUTPUT: Final = "llm.output_messages."
_TOOLS: Final = "llm.tools."
_PARAMETERS: Final = "llm.invocation_parameters"
_KEPT_PARAMETERS: Final = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "seed",
    "stop",
    "frequency_penalty",
    "presence_penalty",
    "reasoning_effort",
)
_COSTS: Final = ("llm.cost.prompt", "llm.cost.completion")
_NODE: Final = "langgraph_step"
_STREAMED: Final = re.compile(r"[\"']stream[\"']:\s*true", re.IGNORECASE)
"""What the parameters of a streamed request hold: its response may be lost, but it was made."""

_HANDOFF: Final = "handoff to "
"""How the span begins with which OpenAI's agents pass control on."""

_SPOKEN_KEYS: Final = ("task", "prompt", "query", "question", "input")
"""Keys under which the input of an agent holds what a person said."""


def _arguments(value: Any, note: Note) -> Any:
    """Read a tool's input; a wrapper of Python's `args` and `kwargs` (smolagents) is opened."""
    found = values.arguments(value, note)
    if is_object(found) and is_object(found.get("kwargs")) and found.get("args") == []:
        return found["kwargs"]
    return found


def _conversation(value: Any, note: Note) -> Any:
    """Read the thread that LangChain's metadata names."""
    found = values.parsed(value) if isinstance(value, str) else value
    if not is_object(found):
        return MISSING
    ids = (values.text(found.get(key), note) for key in ("thread_id", "session_id", "conversation_id"))
    return next((each for each in ids if each is not MISSING), MISSING)


ROWS: Final = (
    Row("provider", ("llm.provider", "llm.system"), values.provider, MODELS),
    Row("model", ("llm.response.model_name", "llm.model_name", "llm.request.model_name"), kinds=MODELS_AND_AGENTS),
    Row("finish_reasons", ("llm.finish_reason", "llm.response.finish_reason"), values.words, MODELS),
    Row("usage.prompt", ("llm.token_count.prompt",), values.count, MODELS_AND_AGENTS),
    Row("usage.completion", ("llm.token_count.completion",), values.count, MODELS_AND_AGENTS),
    Row("usage.cached", ("llm.token_count.prompt_details.cache_read",), values.count, MODELS_AND_AGENTS),
    Row("usage.cache_write", ("llm.token_count.prompt_details.cache_write",), values.count, MODELS_AND_AGENTS),
    Row("usage.reasoning", ("llm.token_count.completion_details.reasoning",), values.count, MODELS_AND_AGENTS),
    Row("cost_usd", ("llm.cost.total",), values.money, MODELS_AND_AGENTS),
    Row("agent_name", ("agent.name",), kinds=MODELS | TOOLS),
    Row("tool", ("tool.name",), kinds=TOOLS),
    Row("id", ("tool_call.id", "tool.id"), kinds=TOOLS),
    Row("description", ("tool.description",), kinds=TOOLS),
    Row("arguments", ("input.value",), _arguments, TOOLS),
    Row("result", ("output.value",), values.result, TOOLS),
    Row("agent", ("agent.name",), kinds=AGENTS),
    Row("conversation", ("session.id",)),
    Row("conversation", ("metadata",), _conversation),
)

KNOWN: Final = frozenset(
    {
        SPAN_KIND,
        _PARAMETERS,
        "input.value",
        "input.mime_type",
        "output.value",
        "output.mime_type",
        "tool.parameters",
        "graph.node.id",
        "graph.node.name",
        "graph.node.parent_id",
        "user.id",
        "tag.tags",
        "llm.is_streaming",
    }
)


def marks(span: Span) -> bool:
    """Tell whether the span states its kind as OpenInference does."""
    return SPAN_KIND in span.attributes


def classify(span: Span) -> Verdict:
    """Say what the span's kind says.

    An agent that bears a tool's name is the tool: some instrumentations take a tool whose name holds
    the word `agent` for one. An LLM span that ended well without a trace of a response is the
    preparation of a call. A nameless tool that is a hand-off is what the call before it asked for,
    under another name.
    """
    kind = str(span.attributes.get(SPAN_KIND)).upper()
    call = KINDS.get(kind)
    if call is CallKind.AGENT and "tool.name" in span.attributes and "agent.name" not in span.attributes:
        return CallKind.TOOL
    if call is CallKind.MODEL and not _answered(span) and BEEAI_CALL not in span.attributes:
        return Ignored("LLM span without a response")
    if call is CallKind.TOOL and "tool.name" not in span.attributes and span.name.startswith(_HANDOFF):
        return Ignored("handoff")
    return call or Ignored(f"{kind} span")


def is_node(span: Span) -> bool:
    """Tell whether a span says that it is a step of a LangGraph graph."""
    return SPAN_KIND in span.attributes and _NODE in str(span.attributes.get("metadata"))


def _answered(span: Span) -> bool:
    """Tell whether a model span shows that a model was asked and answered, streamed, failed, or never ended."""
    if _STREAMED.search(str(span.attributes.get("llm.invocation_parameters"))):
        return True
    if span.end_ns is None or span.status is Status.ERROR or any(event.name for event in span.events):
        return True
    return any(name == "output.value" or name.startswith((_OUTPUT, "llm.token_count.")) for name in span.attributes)


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in messages, tool definitions and parameters, and what stands only in the raw request and response."""
    if kind is CallKind.TOOL:
        _complete_tool(span, fields)
        return
    found = trees(span.attributes, (_INPUT, _OUTPUT, _TOOLS))
    for field, prefix in (("input", _INPUT), ("output", _OUTPUT)):
        messages = read_messages(found[prefix], note) if field not in fields else ()
        if any(message.parts for message in messages):
            fields[field] = messages
    schemas = [at(entry, "tool", "json_schema") for entry in entries(found[_TOOLS])]
    tools = definitions([schema for schema in schemas if schema is not None], note)
    if tools is not MISSING:
        fields.setdefault("tools", tools)
    if kind is CallKind.MODEL:
        _complete_model(span, fields, note)
    else:
        _complete_agent(span, fields, note)


def _complete_tool(span: Span, fields: Fields) -> None:
    """Name a nameless tool after its span, and open the framework's wrapper around its result."""
    fields.setdefault("tool", tool_in(span.name))
    put_unwrapped(span, fields, unwrap)


# ---- model calls: the raw request and response -----------------------------------------------------


def _complete_model(span: Span, fields: Fields, note: Note) -> None:
    response = _structure(span.attributes.get("output.value"))
    _complete_gemini(span.attributes.get("input.value"), response, fields, note)
    said = raw.response_messages(response, note)
    if said is not None:
        _complete_output(fields, said)
        _put_response_facts(response, fields)
    if "input" not in fields:
        asked = raw.request_messages(_structure(span.attributes.get("input.value")), note)
        if asked is not None:
            fields["input"] = asked
    _put_cost(span, fields, note)
    parameters = _structure(span.attributes.get(_PARAMETERS))
    if is_object(parameters):
        kept = {name: parameters[name] for name in _KEPT_PARAMETERS if parameters.get(name) is not None}
        if kept:
            fields.setdefault(f"extra.{_PARAMETERS}", kept)
        if (count := asked_for(parameters)) is not None:
            fields.setdefault(f"extra.{COUNT}", count)


def _put_response_facts(response: Mapping[str, Any], fields: Fields) -> None:
    """Fill in what a raw response tells beside its messages; its counts only where the span has none at all."""
    fields.setdefault("finish_reasons", raw.finish_reasons(response))
    if isinstance(response.get("id"), str) and response["id"]:
        fields.setdefault("response_id", response["id"])
    if not any(name.startswith("usage.") for name in fields):
        put_usage(response.get("usage"), fields)


def _put_cost(span: Span, fields: Fields, note: Note) -> None:
    """Fill in the sum of both parts of a cost where no total is told."""
    parts = [values.money(span.attributes.get(name), note) for name in _COSTS]
    if MISSING not in parts:
        fields.setdefault("cost_usd", sum(parts))


def _complete_gemini(request: Any, response: Any, fields: Fields, note: Note) -> None:
    """Take a Gemini request and response as they are: the flat attributes lose results and mix several answers."""
    is_gemini = is_object(request) or (isinstance(request, str) and '"contents"' in request)  # else not worth parsing
    request = _structure(request) if is_gemini else None
    asked = raw.gemini_request(request, note)
    said = raw.gemini_response(response, note)
    if asked is not None:
        system = tuple(message for message in fields.get("input") or () if message.role == "system")
        fields["input"] = (*system, *asked)
        config = request.get("config")
        told = config.get("system_instruction") if is_object(config) else None
        if isinstance(told, str) and told and not system:
            fields.setdefault("system", scrub(told))
    if said is not None:
        fields["output"] = said


def _structure(value: Any) -> Any:
    """Return the value behind JSON text, None where there is none."""
    if isinstance(value, str):
        value = values.parsed(value) if value.lstrip()[:1] in ("{", "[") else None
    return None if value is MISSING else values.plain(value)


def _complete_output(fields: Fields, said: tuple[Message, ...]) -> None:
    """Give the output the thoughts that only the raw response has, or take all of it from there."""
    output = fields.get("output")
    if not output:
        fields["output"] = said
        return
    if raw.reasoning(output):
        return
    thoughts = raw.reasoning(said)
    output = tuple(_thoughts_apart(message, said) for message in output)
    first = output[0]
    fields["output"] = (replace(first, parts=(*thoughts, *first.parts)), *output[1:])


def _thoughts_apart(message: Message, said: tuple[Message, ...]) -> Message:
    """Take a text that the raw response's content does not have for what it is: reasoning (smolagents)."""
    spoken = {part.text for each in said for part in each.parts if isinstance(part, Text)}
    texts = [part for part in message.parts if isinstance(part, Text)]
    if not spoken or not any(part.text in spoken for part in texts):
        return message
    parts = (
        Reasoning(part.text) if isinstance(part, Text) and part.text not in spoken else part for part in message.parts
    )
    return replace(message, parts=tuple(parts))


# ---- agents: what went in and came out -------------------------------------------------------------


def _complete_agent(span: Span, fields: Fields, note: Note) -> None:
    for field, name, role in (("input", "input.value", "user"), ("output", "output.value", "assistant")):
        if field not in fields and not values.is_placeholder(span.attributes.get(name)):
            fields[field] = _spoken(span.attributes[name], role, note)


def _spoken(value: Any, role: str, note: Note) -> tuple[Message, ...]:
    """Return what an agent was told or said: messages, one text of an object, or the value as it is."""
    found = _structure(value)
    messages = raw.request_messages(found, note) or raw.gemini_response(found, note)
    if messages:
        return messages
    if is_object(found):
        text = next((found[key] for key in _SPOKEN_KEYS if isinstance(found.get(key), str)), None)
        if text is not None:
            return (Message(role, (Text(text),)),)
    if isinstance(value, str):
        return (Message(role, (Text(values.plain(value)),)),)
    return (Message(role, (OtherPart(found),)),)


OPENINFERENCE: Final = Dialect(
    name="openinference",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=KNOWN | {BEEAI_CALL},
    known_prefixes=(_INPUT, _OUTPUT, _TOOLS, "llm.token_count.", "llm.cost."),
    raw_usage=("llm.token_count.",),
    gather=gather,
    about=About(
        title="OpenInference (Arize Phoenix)",
        versions="all with `openinference.span.kind`, BeeAI's spans of events among them (from Langfuse too)",
        carries="calls, tokens, cost, messages under numbered names, raw requests and responses, agents, sessions",
        lacks="ids on most spans of tools; reasoning, but in the raw response",
    ),
)
