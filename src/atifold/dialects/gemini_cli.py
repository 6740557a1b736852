"""Read Gemini CLI, and its forks: spans of requests and tools with messages in Gemini's shape, each in its trace.

What was cached and thought is told by records only, which `gemini_cli_logs` brings to the spans; the counts
of output leave the thoughts out. Ids in the history lack the tool's name before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.calls import MISSING, Failure, Message, Part, Text, ToolRequest, ToolResponse
from atifold.dialects import content, exchange, values
from atifold.dialects.about import About
from atifold.dialects.failure import failure
from atifold.dialects.gemini_cli_logs import ANSWERED, ASKED, FAILED, OPERATION, PREFIXED, RAN, gather
from atifold.dialects.messages import read_messages
from atifold.dialects.records import told_by
from atifold.dialects.table import MODELS, TOOLS, CallKind, Dialect, Fields, Row, Verdict
from atifold.dialects.values import Note, word
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"
_KINDS: Final = {
    "llm_call": CallKind.MODEL,
    "tool_call": CallKind.TOOL,
    "agent_call": CallKind.AGENT,
    "user_prompt": CallKind.AGENT,
}
_REFUSED: Final = frozenset({"reject", "cancelled", "cancel"})

ROWS: Final = (
    Row("id", ("gen_ai.tool.call_id",), kinds=TOOLS),
    Row("tool", ("gen_ai.tool.name", "function_name"), kinds=TOOLS),
    Row("model", ("model",), kinds=MODELS),
    Row("conversation", ("gen_ai.conversation.id", "session.id")),
)


def marks(span: Span) -> bool:
    """Tell whether a name stands here that only Gemini CLI writes, or the spelling of an id that is its own."""
    return any(name in span.attributes for name in ("gen_ai.prompt.name", "gen_ai.tool.call_id", OPERATION))


def classify(span: Span) -> Verdict:
    """Say what the operation says."""
    return _KINDS.get(str(span.attributes.get(OPERATION, span.attributes.get("gen_ai.operation.name"))))


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Put what stands under names of the conventions in shapes of its own in place of what these made of it."""
    if kind is CallKind.TOOL:
        _complete_tool(span, fields, note)
    elif kind is CallKind.MODEL:
        _complete_model(span, fields, note)
    else:
        prompt = word(span.attributes.get("prompt"))
        exchange.put(fields, "input", (Message("user", (Text(prompt),)),) if prompt else None)


# ---- a request to the model ------------------------------------------------------------------------


def _complete_model(span: Span, fields: Fields, note: Note) -> None:
    answered = told_by(span.events, ANSWERED)
    _complete_usage(answered, fields, note)
    exchange.put(fields, "input", _history(told_by(span.events, ASKED).get("request_text"), note))
    exchange.put(fields, "output", _answer(answered.get("response_text"), note))
    exchange.put(fields, "finish_reasons", values.words(answered.get("finish_reasons"), note))
    if word(answered.get("model")):
        fields["model"] = answered["model"]
    prefixed = PREFIXED in span.attributes
    if fields.get("input"):
        fields["input"] = tuple(_as_elsewhere(message, prefixed=prefixed) for message in fields["input"])
    failed = told_by(span.events, FAILED)
    if failed and failure(span) is None:
        kind = word(failed.get("error_type")) or word(failed.get("error.type"))
        fields["failure"] = Failure(kind, word(failed.get("error")) or word(failed.get("error.message")))


def _complete_usage(answered: Mapping[str, Any], fields: Fields, note: Note) -> None:
    """Take the counts of a record before the span's: an answer's tokens are those of its text and its thoughts."""
    names = {
        "prompt": "input_token_count",
        "completion": "output_token_count",
        "cached": "cached_content_token_count",
        "reasoning": "thoughts_token_count",
    }
    found = {field: values.count(answered[name], note) for field, name in names.items() if name in answered}
    told = {field: count for field, count in found.items() if count is not MISSING}
    if "completion" in told:
        told["completion"] += told.get("reasoning", 0)
    fields.update({f"usage.{field}": count for field, count in told.items()})


def _history(value: Any, note: Note) -> Any:
    return MISSING if value is None else content.input_messages(value, note)


def _answer(value: Any, note: Note) -> Any:
    """Read the answer out of the responses of the API, which came in pieces."""
    found = content.structured(value, note) if value is not None else MISSING
    parts = [part for response in found if is_object(response) for part in _parts(response)] if is_list(found) else []
    read = read_messages([{"role": "model", "parts": parts}], note, "assistant") if parts else ()
    return _joined(read) or MISSING


def _parts(response: Mapping[str, Any]) -> Iterable[Any]:
    """Return the parts of a response's first candidate."""
    candidates = response.get("candidates")
    first = candidates[0] if is_list(candidates) and candidates else None
    held = first.get("content") if is_object(first) else None
    parts = held.get("parts") if is_object(held) else None
    return parts if is_list(parts) else ()


def _joined(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages in which texts that follow one another, the pieces of a stream, are one."""
    found: list[Message] = []
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            last = parts[-1] if parts else None
            if isinstance(part, Text) and isinstance(last, Text):
                parts[-1] = Text(last.text + part.text)
            else:
                parts.append(part)
        found.append(replace(message, parts=tuple(parts)))
    return tuple(found)


def _as_elsewhere(message: Message, *, prefixed: bool) -> Message:
    """Return a message of the history with ids and results of tools as answers and the tools' spans have them."""
    return replace(message, parts=tuple(_part_as_elsewhere(part, prefixed=prefixed) for part in message.parts))


def _part_as_elsewhere(part: Part, *, prefixed: bool) -> Part:
    if not isinstance(part, ToolRequest | ToolResponse):
        return part
    if prefixed and part.id and part.name and not part.id.startswith(part.name + "__"):
        part = replace(part, id=f"{part.name}__{part.id}")
    return (
        replace(part, result=_told(part.result)) if isinstance(part, ToolResponse) and is_object(part.result) else part
    )


# ---- a tool ----------------------------------------------------------------------------------------


def _complete_tool(span: Span, fields: Fields, note: Note) -> None:
    given, came = (_object(span.attributes.get(name), note) for name in (_INPUT, _OUTPUT))
    record = told_by(span.events, RAN)
    exchange.put(fields, "arguments", values.arguments(given.get("args", record.get("function_args")), note))
    response = came.get("response")
    response = response if is_object(response) else {}
    exchange.put(fields, "result", _result(response))
    data = [each for each in (response.get("data"), _object(record.get("metadata"), note)) if is_object(each)]
    why = response.get("error")
    failed = came.get("status") == "error" or record.get("success") is False or bool(why)
    if (failed or any(each.get("isError") is True for each in data)) and failure(span) is None:
        message = why.get("message") if is_object(why) else why
        kind = word(response.get("errorType")) or word(record.get("error_type"))
        fields["failure"] = Failure(kind, word(message) or word(record.get("error")))
    if str(came.get("status")) in _REFUSED or str(record.get("decision")) in _REFUSED:
        fields["dispatch"] = "refused"


def _object(value: Any, note: Note) -> Mapping[str, Any]:
    found = content.structured(value, note) if value is not None else None
    return found if is_object(found) else {}


def _result(response: Mapping[str, Any]) -> Any:
    """Return what the model is told of a tool's result, else what the person is shown."""
    parts = response.get("responseParts")
    listed = parts if is_list(parts) else [parts]
    for part in listed:
        answer = part.get("functionResponse") if is_object(part) else None
        told = answer.get("response") if is_object(answer) else None
        if is_object(told):
            return _told(told)
    shown = response.get("resultDisplay")
    return MISSING if shown is None else shown


def _told(response: Mapping[str, Any]) -> Any:
    """Return what stands alone in a response, any other response as it is."""
    return next((response[name] for name in ("output", "error") if len(response) == 1 and name in response), response)


_KNOWN: Final = frozenset(
    {
        OPERATION, PREFIXED, "gen_ai.prompt.name", "prompt", "prompt_id", "prompt_length", "auth_type", "interactive",
        "installation.id", "duration_ms", "decision", "success", "event.name", "event.timestamp", "function_args",
        "tool_type", "status_code", "http.status_code", "role", "content_length", "metadata",
    }
)  # fmt: skip

GEMINI_CLI: Final = Dialect(
    name="gemini-cli",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=_KNOWN,
    gather=gather,
    about=About(
        title="Gemini CLI and its forks",
        versions="spans, log records or both",
        carries="requests and answers, tools with decisions, sessions; cached and thought tokens in log records",
        lacks="a cost; that a subagent belongs to its caller",
    ),
)
