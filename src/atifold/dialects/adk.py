"""Read Google ADK's own attributes: the requests and responses of Gemini that 1.x puts on its spans.

2.x writes the conventions; of it the id of the event and what stands under `gcp.vertex.agent.` alone
are read here. Where content is not captured the values are `{}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.calls import MISSING, Failure, Message, Text
from atifold.dialects import content, raw
from atifold.dialects.about import About, Generation
from atifold.dialects.entity import opened, restored
from atifold.dialects.failure import failure
from atifold.dialects.messages import by_role, read_parts, role_of
from atifold.dialects.table import MODELS, TOOLS, CallKind, Dialect, Fields, Ignored, Row, Verdict
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note, is_placeholder
from atifold.jsontext import scrub, text_of
from atifold.kinds import is_list, is_object
from atifold.spans import LogRecord, Span, SpanKey

_PREFIX: Final = "gcp.vertex.agent."
_REQUEST: Final = _PREFIX + "llm_request"
_RESPONSE: Final = _PREFIX + "llm_response"
_NOTHING: Final = ("{}", "N/A")
"""What stands where nothing was captured."""

_REWRITTEN: Final = "For context:"
"""How a user's message begins that tells what another agent did, before a transfer."""

_ITSELF: Final = "gcp.vertex.agent"
"""What ADK 1.x names as the provider, whoever that is."""

_AGENT: Final = re.compile(r"agent_run \[(.+)\]$")
"""How the spans of agents were called before they had attributes."""

_UNKNOWN: Final = "<not specified>"


def _value(value: Any, _note: Note) -> Any:
    """Read arguments or a response: an object in nearly all cases, MISSING where a placeholder stands for it."""
    if is_placeholder(value) or value in _NOTHING:
        return MISSING
    found = opened(value)
    lost = is_object(found) and list(found.values()) == [_UNKNOWN]
    return MISSING if lost or found == {} or is_placeholder(found) else found


ROWS: Final = (
    Row("arguments", (_PREFIX + "tool_call_args",), _value, TOOLS),
    Row("result", (_PREFIX + "tool_response",), _value, TOOLS),
    Row("event_id", (_PREFIX + "event_id",), kinds=MODELS),
    Row("conversation", (_PREFIX + "session_id",)),
)

_KEPT_CONFIG: Final = ("temperature", "top_p", "top_k", "max_output_tokens", "seed", "stop_sequences")


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans, those of agents that early versions tell by their name alone with the conventions' names."""
    bare = {key: found[1] for key, span in spans.items() if not span.attributes and (found := _AGENT.match(span.name))}
    if not bare:
        return spans, logs
    told = {
        key: replace(spans[key], attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name})
        for key, name in bare.items()
    }
    return {**spans, **told}, logs


def marks(span: Span) -> bool:
    """Tell whether ADK wrote an attribute of its own."""
    return any(name.startswith(_PREFIX) for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say that a request of a model without an operation is a model call; live data that was sent is none."""
    found = span.attributes
    if found.get("gen_ai.operation.name"):
        return None
    if _REQUEST in found or _RESPONSE in found:
        return CallKind.MODEL
    return Ignored("data sent") if _PREFIX + "data" in found else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the request and response of a model hold; mark a tool that returned an error as failed."""
    if kind is CallKind.TOOL:
        result = fields.get("result", MISSING)
        result = opened(result) if isinstance(result, str) else result
        if is_object(result) and result.get("error") and failure(span) is None:
            fields["failure"] = Failure(None, text_of(result["error"]))
    elif kind is CallKind.MODEL:
        if fields.get("provider") == _ITSELF:
            del fields["provider"]
        request, response = (_object(span.attributes.get(name), note) for name in (_REQUEST, _RESPONSE))
        _complete_request(request, fields, note)
        _complete_response(response, fields, note)


def _object(value: Any, note: Note) -> Mapping[str, Any]:
    found = {} if value is None or is_placeholder(value) else restored(value, note)
    return found if is_object(found) else {}


def _complete_request(request: Mapping[str, Any], fields: Fields, note: Note) -> None:
    config = request.get("config")
    config = config if is_object(config) else {}
    messages = _contents(request.get("contents"), note)
    system = _system(config.get("system_instruction"), note)
    tools = _tools(config.get("tools"))
    for field, value in (("input", messages), ("system", system), ("tools", tools)):
        if value:
            fields.setdefault(field, value)
    kept = {name: config[name] for name in _KEPT_CONFIG if config.get(name) is not None}
    if kept:
        fields.setdefault("extra.config", kept)


def _complete_response(response: Mapping[str, Any], fields: Fields, note: Note) -> None:
    """Take messages and figures of a response; the span's own count of output may leave thoughts out."""
    messages = raw.gemini_response(response, note)
    if messages:
        fields.setdefault("output", messages)
    model = response.get("model_version")
    if isinstance(model, str) and model:
        fields["model"] = model
    counts: Fields = {}
    put_usage(response.get("usage_metadata"), counts)
    fields.update(counts)
    reason = text_of(response.get("finish_reason"))
    if reason:
        fields.setdefault("finish_reasons", (reason.lower(),))
    message = response.get("error_message")
    if isinstance(message, str) and message:
        fields.setdefault("failure", Failure(text_of(response.get("error_code")), scrub(message)))


def _system(value: Any, note: Note) -> str | None:
    """Return the instructions, which are a text, a content with parts, or a list of these."""
    if is_object(value) and "parts" in value:
        value = value["parts"]
    if isinstance(value, str) or is_list(value):
        found = content.instructions(value if isinstance(value, str) else [_text_part(part) for part in value], note)
        return None if found is MISSING else str(found)
    return None


def _text_part(part: Any) -> Any:
    return {"type": "text", "text": part} if isinstance(part, str) else part


def _tools(value: Any) -> tuple[Any, ...]:
    """Return the declarations of all tools; a tool of the provider's own has none and stays as it is."""
    found: list[Any] = []
    for tool in value if is_list(value) else ():
        declared = tool.get("function_declarations") if is_object(tool) else None
        found += [_declaration(each) for each in declared] if is_list(declared) else [tool]
    return tuple(found)


def _declaration(tool: Any) -> Any:
    """Return a declaration with its JSON schema under the name that others use."""
    if not is_object(tool) or "parameters_json_schema" not in tool:
        return tool
    rest = {key: item for key, item in tool.items() if key != "parameters_json_schema"}
    return {**rest, "parameters": tool["parameters_json_schema"]}


def _contents(value: Any, note: Note) -> tuple[Message, ...]:
    """Read Gemini's contents, objects of a role and parts, each distinct one once."""
    entries = value if is_list(value) else ()
    return tuple(m for entry in entries if is_object(entry) for m in note.once(_content, entry, b"adk"))


def _content(entry: Mapping[str, Any], note: Note) -> tuple[Message, ...]:
    parts = read_parts(entry.get("parts"), note)
    rewritten = bool(parts) and parts[0] == Text(_REWRITTEN)
    return by_role(role_of(entry.get("role")), parts, None, "framework" if rewritten else None)


ADK: Final = Dialect(
    name="google-adk",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    gather=gather,
    known=frozenset({_REQUEST, _RESPONSE}),
    known_prefixes=(_PREFIX,),
    about=About(
        title="Google's Agent Development Kit",
        versions="1.x and 2.x",
        carries="what Gemini was sent and answered (1.x), tools' arguments and results, sessions; 2.x the conventions",
        lacks="a cost; content in 2.x unless it is captured; the same ids for a call and its result",
        generations=(Generation("1.x", (_RESPONSE,)),),
    ),
)
