"""Read spans that say what they are by a type, and the rest by one input and one output in JSON.

MLflow, Langfuse and LangSmith write them; what stands inside is the provider's or the framework's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects import entity, raw, values
from atifold.dialects.choices import COUNT, asked_for
from atifold.dialects.content import definitions, instructions
from atifold.dialects.table import CallKind, Fields
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note, is_placeholder
from atifold.jsontext import text_of
from atifold.kinds import is_list, is_object
from atifold.spans import Span

SYSTEM: Final = ("system", "instructions", "system_instruction", "system_prompt")
PARAMETERS: Final = ("temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "seed", "stop")


def complete(span: Span, kind: CallKind, fields: Fields, note: Note, *, given: Any, came: Any) -> None:
    """Fill in what a call's input and output hold, as the span has them."""
    if kind is CallKind.TOOL:
        put(fields, "arguments", entity.tool_arguments(given, note))
        entity.put_result(came, span, fields)
        return
    request, response = (None if is_placeholder(value) else entity.restored(value, note) for value in (given, came))
    complete_exchange(request, response, kind, fields, note)


def complete_exchange(request: Any, response: Any, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what an opened request and response hold."""
    request = _without_definitions(request, fields)
    put(fields, "input", entity.asked(request, note))
    put(fields, "output", entity.said(response, note))
    if kind is CallKind.MODEL:
        complete_request(request, fields, note)
        complete_response(response, fields)


def put(fields: Fields, field: str, value: Any) -> None:
    """Fill in a field that is not there yet with a value that says something."""
    if value is not MISSING and value is not None:
        fields.setdefault(field, value)


def complete_request(request: Any, fields: Fields, note: Note) -> None:
    """Take tools, instructions and parameters of a raw request."""
    if not is_object(request):
        return
    put(fields, "tools", definitions(request.get("tools"), note))
    for name in SYSTEM:
        if request.get(name):
            put(fields, "system", instructions(request[name], note))
    if isinstance(request.get("model"), str):
        put(fields, "model", request["model"] or None)
    put(fields, f"extra.{COUNT}", asked_for(request))
    kept = {name: request[name] for name in PARAMETERS if request.get(name) is not None}
    if kept:
        fields.setdefault("extra.parameters", values.plain(kept))


def complete_response(response: Any, fields: Fields) -> None:
    """Take id, model, reasons to stop and token counts of a raw response."""
    if not is_object(response):
        return
    reasons = raw.finish_reasons(response)
    put(fields, "finish_reasons", reasons or None)
    if "choices" in response or "output" in response or "stop_reason" in response:
        put(fields, "response_id", text_of(response.get("id")) or None)
    if isinstance(response.get("model"), str) and response["model"]:
        fields["model"] = response["model"]
    put_usage(response.get("usage"), fields)
    for message in _langchain_messages(response):
        _complete_langchain(message, fields)


def _langchain_messages(response: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the answers among LangChain's generations, without their wrapper."""
    batches = response.get("generations")
    if not is_list(batches):
        return []
    firsts = [batch[0] if is_list(batch) and batch else batch for batch in batches]
    messages = [first.get("message") for first in firsts if is_object(first)]
    return [entity.kwargs_of(message) for message in messages if is_object(message)]


def _complete_langchain(message: Mapping[str, Any], fields: Fields) -> None:
    put_usage(message.get("usage_metadata"), fields)
    about = message.get("response_metadata")
    if not is_object(about):
        return
    put_usage(about.get("token_usage", about.get("usage")), fields)
    put(fields, "response_id", text_of(about.get("id")) or None)
    put(fields, "model", text_of(about.get("model_name")) or None)
    reason = text_of(about.get("finish_reason") or about.get("stop_reason"))
    put(fields, "finish_reasons", (reason,) if reason else None)


def _without_definitions(request: Any, fields: Fields) -> Any:
    """Return a history without the tool definitions that Langfuse's callback puts among its messages."""
    if not is_list(request):
        return request
    tools = [entry["content"] for entry in request if _is_definition(entry)]
    if not tools:
        return request
    put(fields, "tools", tuple(tools))
    return [entry for entry in request if not _is_definition(entry)]


def _is_definition(entry: Any) -> bool:
    content = entry.get("content") if is_object(entry) else None
    return is_object(content) and content.get("type") == "function" and is_object(content.get("function"))
