"""Read Haystack's own tracing: a span a component, an agent, a step; what went in and what came out as JSON.

Content stands there where `HAYSTACK_CONTENT_TRACING_ENABLED` asks for it. Seen in recordings of 2.20 (a component runs
all tools of a step) and 3.4 (a span for each call of a model or a tool).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from atifold.calls import Failure, Message
from atifold.dialects import entity, exchange, values
from atifold.dialects.about import About, Generation
from atifold.dialects.content import definitions
from atifold.dialects.failure import failure
from atifold.dialects.haystack_spans import (
    AGENT,
    CALL_ID,
    FAILED,
    NAME,
    OPERATION,
    OUTPUT,
    OWN,
    TOOL,
    TOOL_INPUT,
    TOOL_OUTPUT,
    TYPE,
    gather,
)
from atifold.dialects.messages import read_messages
from atifold.dialects.table import AGENTS, TOOLS, CallKind, Dialect, Fields, Ignored, Row, Verdict
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note, word
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_LLM: Final = OWN + "agent.step.llm"
_TOOL_DESCRIPTION: Final = OWN + "tool.description"
_PIPELINE: Final = OWN + "pipeline."
_GENERATOR: Final = "Generator"
_TOOLS: Final = OWN + "agent.tools"

_HOLDERS: Final[Mapping[CallKind, tuple[tuple[str, str], ...]]] = {
    CallKind.MODEL: ((_LLM + ".input", _LLM + ".output"), (OWN + "component.input", OUTPUT)),
    CallKind.TOOL: ((TOOL_INPUT, TOOL_OUTPUT),),
    CallKind.AGENT: ((OWN + "agent.input", OWN + "agent.output"),),
    CallKind.WORKFLOW: (),
}
"""Where what went in and what came out stands; of a pipeline its components tell."""

ROWS: Final = (
    Row("agent", (NAME,), kinds=AGENTS),
    Row("tool", (TOOL,), kinds=TOOLS),
    Row("id", (CALL_ID,), kinds=TOOLS),
    Row("description", (_TOOL_DESCRIPTION,), kinds=TOOLS),
)


def marks(span: Span) -> bool:
    """Tell whether Haystack's tracer wrote an attribute."""
    return any(name.startswith(OWN) for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what the names of attributes say; of components those are calls that generate."""
    found = span.attributes
    operation = found.get(OPERATION, "")
    if TOOL in found and operation in (TOOL, OWN + "agent.step.tool", ""):
        return CallKind.TOOL
    if operation == _LLM or any(name.startswith(_LLM + ".") for name in found):
        return CallKind.MODEL
    if operation == AGENT:
        return CallKind.AGENT
    if any(name.startswith(_PIPELINE) for name in found):
        return CallKind.WORKFLOW if span.parent_id is None else Ignored("pipeline")
    if str(found.get(TYPE, "")).endswith(_GENERATOR):
        return CallKind.MODEL
    return Ignored("component" if TYPE in found else "step")


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what input and output hold."""
    found = span.attributes
    given, came = next(
        ((found.get(one), found.get(other)) for one, other in _HOLDERS[kind] if one in found or other in found),
        (None, None),
    )
    if kind is CallKind.TOOL:
        _complete_tool(span, given, came, fields, note)
        return
    request, response = entity.restored(given, note), entity.restored(came, note)
    _complete_request(request, fields, note)
    exchange.put(fields, "tools", _tools(found.get(_TOOLS), note))
    if kind is CallKind.MODEL:
        _complete_replies(response, fields, note)
    elif is_object(response):
        said = _messages(response.get("messages"), note)
        exchange.put(fields, "output", said[-1:] or None)
        put_usage(response.get("token_usage"), fields)


def _complete_tool(span: Span, given: Any, came: Any, fields: Fields, note: Note) -> None:
    exchange.put(fields, "arguments", entity.tool_arguments(given, note))
    failed = span.attributes.get(FAILED) is True
    told = entity.opened(came) if failed else None
    why = word(told.get("error")) if is_object(told) else word(came)
    if failed and failure(span) is None:
        fields["failure"] = Failure(None, why)
    entity.put_result(why if failed and why else came, span, fields)


def _complete_request(request: Any, fields: Fields, note: Note) -> None:
    """Take messages, or the one prompt of a generator without chat, and the tools of a request."""
    if not is_object(request):
        return
    prompt = word(request.get("prompt"))
    asked = request.get("messages") or ([{"role": "user", "content": [{"text": prompt}]}] if prompt else None)
    exchange.put(fields, "input", _messages(asked, note) or None)
    exchange.put(fields, "tools", _tools(request.get("tools"), note))
    system = word(request.get("system_prompt"))
    exchange.put(fields, "system", system)
    exchange.put(fields, "extra.parameters", values.plain(request.get("generation_kwargs") or None))


def _complete_replies(response: Any, fields: Fields, note: Note) -> None:
    """Take the replies, and what stands in their metadata: figures, model, why it stopped."""
    if not is_object(response):
        return
    replies = response.get("replies")
    exchange.put(fields, "output", _messages(replies, note) or None)
    beside = response.get("meta")
    listed = beside if is_list(beside) else [_meta(reply) for reply in replies or ()] if is_list(replies) else []
    metas = [meta for meta in listed if is_object(meta)]
    for meta in metas[:1]:
        exchange.put(fields, "model", word(meta.get("model")))
        put_usage(meta.get("usage"), fields)
    reasons = tuple(reason for meta in metas if (reason := word(meta.get("finish_reason"))))
    exchange.put(fields, "finish_reasons", reasons or None)


def _meta(reply: Any) -> Any:
    return reply.get("meta", reply.get("_meta")) if is_object(reply) else None


def _tools(value: Any, note: Note) -> Any:
    """Return definitions of tools without what Haystack keeps of them beside."""
    found = entity.opened(value)
    data = [tool.get("data") for tool in found if is_object(tool)] if is_list(found) else []
    kept = [{name: tool[name] for name in _DEFINITION if name in tool} for tool in data if is_object(tool)]
    return definitions(kept, note) if kept else None


_DEFINITION: Final = ("name", "description", "parameters")


# ---- messages --------------------------------------------------------------------------------------


def _messages(value: Any, note: Note) -> tuple[Message, ...]:
    """Return the messages of a list; a reply may be a text."""
    listed = value if is_list(value) else []
    found = [_message(entry) if is_object(entry) else {"role": "assistant", "content": entry} for entry in listed]
    return tuple(read_messages(found, note, "assistant") or ()) if found else ()


def _message(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as its reader knows it; before 2.9 its names began with `_`."""
    item = {name.removeprefix("_"): value for name, value in entry.items()}
    content = item.get("content")
    parts = [_part(part) for part in content if is_object(part)] if is_list(content) else content
    return {"role": item.get("role"), "name": item.get("name"), "content": parts}


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part, whose kind is its only name, as the conventions write it."""
    kind, value = next(iter(part.items()), ("", None))
    write = _PARTS.get(kind)
    return write(value) if write is not None and is_object(value) else part


def _call(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "tool_call",
        "id": value.get("id"),
        "name": value.get("tool_name"),
        "arguments": value.get("arguments"),
    }


def _result(value: Mapping[str, Any]) -> dict[str, Any]:
    origin = value.get("origin")
    about = origin if is_object(origin) else {}
    told = {"id": about.get("id"), "name": about.get("tool_name"), "response": value.get("result")}
    return {"type": "tool_call_response", "is_error": value.get("error") is True, **told}


def _reasoning(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "reasoning", "content": value.get("reasoning_text")}


def _blob(data: str, modality: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what writes a medium; in traces a note on its length stands in place of its bytes."""

    def write(value: Mapping[str, Any]) -> dict[str, Any]:
        held = word(value.get(data))
        kept = {} if held is None or held.startswith("Base64 string (") else {"content": held}
        return {"type": "blob", "modality": modality, "mime_type": value.get("mime_type"), **kept}

    return write


_PARTS: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "tool_call": _call,
    "tool_call_result": _result,
    "reasoning": _reasoning,
    "image": _blob("base64_image", "image"),
    "file": _blob("base64_data", "file"),
}

HAYSTACK: Final = Dialect(
    name="haystack",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known_prefixes=(OWN,),
    gather=gather,
    about=About(
        title="Haystack's own tracing (deepset)",
        versions="2.20 and 3.4, with or without content",
        carries="models, tools and agents with input and output as JSON, tokens, which tool failed",
        lacks="a cost; conversations; all messages and tokens unless content is captured",
        generations=(
            Generation("3.x", (OWN + "agent.step", _LLM + ".", TOOL, OWN + "pipeline.execution_mode")),
            Generation("2.x", (TYPE, _PIPELINE)),
        ),
    ),
)
