"""Read Claude Code: spans without messages, and log records that hold them.

`input_tokens` leaves out what was read from the cache and written to it. Texts stand in records only
(`assistant_response`, and the raw bodies of the API where a user wants them), prices too; `claude_code_logs`
brings the records to the spans. A tool's permission and its execution are spans of their own and no calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from atifold.calls import MISSING, Failure, Message, Part, Reasoning, Text, ToolRequest
from atifold.dialects import content, exchange, values
from atifold.dialects.about import About
from atifold.dialects.claude_code_logs import ASKED_FOR, DECIDED, EXECUTED, gather, is_own
from atifold.dialects.claude_code_made import PREFIX, TYPE
from atifold.dialects.failure import failure
from atifold.dialects.messages import read_message
from atifold.dialects.records import told_by
from atifold.dialects.table import MODELS, TOOLS, CallKind, Dialect, Fields, Ignored, Row, Verdict
from atifold.dialects.values import Note, number, word
from atifold.jsontext import text_of
from atifold.kinds import is_list, is_object
from atifold.spans import Span, SpanEvent

_KINDS: Final = {
    "interaction": CallKind.AGENT,
    "subagent": CallKind.AGENT,
    "llm_request": CallKind.MODEL,
    "tool": CallKind.TOOL,
}
_NO_CALLS: Final = ("tool.", "hook")
_REDACTED: Final = "<REDACTED>"
_REMINDER: Final = "<system-reminder>"
_AFTER_MESSAGES: Final = frozenset({"system", "tools"})
"""Keys of a request that come after its messages: where one is there, the messages are whole."""

_REFUSED: Final = frozenset({"reject", "rejected", "deny", "denied"})
_RESULTS: Final = ("output", "content", "result", "text")
_INPUT: Final = "input_tokens"
_CACHED: Final = "cache_read_tokens"
_WRITTEN: Final = "cache_creation_tokens"

ROWS: Final = (
    Row("model", ("gen_ai.request.model", "model"), kinds=MODELS),
    Row("provider", ("gen_ai.system",), values.provider, MODELS),
    Row("usage.completion", ("output_tokens",), values.count, MODELS),
    Row("usage.cached", (_CACHED,), values.count, MODELS),
    Row("usage.cache_write", (_WRITTEN,), values.count, MODELS),
    Row("finish_reasons", ("gen_ai.response.finish_reasons", "stop_reason"), values.words, MODELS),
    Row("agent_name", ("subagent_type",), kinds=MODELS | TOOLS),
    Row("tool", ("tool_name",), kinds=TOOLS),
    Row("id", ("gen_ai.tool.call.id", "tool_use_id"), kinds=TOOLS),
    Row("conversation", ("session.id",)),
)


def classify(span: Span) -> Verdict:
    """Say what the type says; hooks, permissions and executions are no calls."""
    kind = str(span.attributes[TYPE])
    return _KINDS.get(kind) or (Ignored(f"{PREFIX}{kind}") if kind.startswith(_NO_CALLS) else None)


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the attributes tell in Claude Code's own way, and what the records tell."""
    if kind is CallKind.TOOL:
        _complete_tool(span, fields, note)
    elif kind is CallKind.MODEL:
        _complete_model(span, fields, note)
    else:
        _complete_agent(span, fields)


# ---- an interaction --------------------------------------------------------------------------------


def _complete_agent(span: Span, fields: Fields) -> None:
    """Fill in what the person asked."""
    told = (span.attributes.get("user_prompt"), told_by(span.events, "user_prompt").get("prompt"))
    prompt = next((text for each in told if (text := word(each)) and text != _REDACTED), None)
    if prompt is not None:
        fields.setdefault("input", (Message("user", (Text(prompt),)),))
    fields.setdefault("agent", word(span.attributes.get("subagent_type")) or "claude-code")


# ---- a request to the model ------------------------------------------------------------------------


def _complete_model(span: Span, fields: Fields, note: Note) -> None:
    priced = told_by(span.events, PREFIX + "api_request")
    _complete_usage({**priced, **span.attributes}, fields, note)
    exchange.put(fields, "cost_usd", values.exact_money(priced.get("cost_usd"), note))
    response = _body(told_by(span.events, PREFIX + "api_response_body"), note)
    if is_object(response):
        exchange.put(fields, "output", _spoken(read_message(response, note, "assistant")))
        exchange.complete_response(response, fields)
    text = word(told_by(span.events, PREFIX + "assistant_response").get("response"))
    if text is not None and text != _REDACTED:
        fields.setdefault("output", (Message("assistant", (Text(text), *_asked_for(span.events))),))
    _complete_request(_body(told_by(span.events, PREFIX + "api_request_body"), note), fields, note)
    failed = told_by(span.events, PREFIX + "api_error")
    why = word(span.attributes.get("error")) or word(failed.get("error"))
    if (failed or span.attributes.get("success") is False or why) and failure(span) is None:
        fields["failure"] = Failure(text_of(failed.get("status_code")), why)


def _asked_for(events: Sequence[SpanEvent]) -> Iterator[ToolRequest]:
    """Yield the calls that a request asked for, as the tools' own spans tell them."""
    told = (event.attributes for event in events if event.name == ASKED_FOR)
    return (ToolRequest(word(each["id"]), str(each["name"])) for each in told)


def _complete_usage(found: Mapping[str, Any], fields: Fields, note: Note) -> None:
    """Add up the prompt: what was not cached, what was read from the cache and what was written to it."""
    fresh = number(found.get(_INPUT))
    if isinstance(fresh, int):
        beside = [number(found.get(name)) for name in (_CACHED, _WRITTEN)]
        fields.setdefault("usage.prompt", fresh + sum(each for each in beside if isinstance(each, int)))
    for field, name in (("completion", "output_tokens"), ("cached", _CACHED), ("cache_write", _WRITTEN)):
        if name in found:
            exchange.put(fields, f"usage.{field}", values.count(found[name], note))


def _body(told: Mapping[str, Any], note: Note) -> Any:
    return content.structured(told["body"], note) if "body" in told else None


def _complete_request(request: Any, fields: Fields, note: Note) -> None:
    """Take the history and the instructions of a request, as far as they stand before a cut."""
    if not is_object(request):
        return
    messages = request.get("messages")
    listed = [entry for entry in messages if is_object(entry)] if is_list(messages) else []
    if not _AFTER_MESSAGES & request.keys() and not _is_plain(listed[-1:]):
        listed = listed[:-1]
    read = [message for entry in listed for message in note.once(read_message, entry, b"claude")]
    exchange.put(fields, "input", _with_reminders_apart(_spoken(read)) or None)
    system = {name: request[name] for name in ("system", "tools", "model") if name in request}
    exchange.complete_request(system, fields, note)


def _is_plain(listed: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a message that was cut is a person's words: what else is cut would pass for something else."""
    blocks = listed[-1].get("content") if listed else None
    texts = is_list(blocks) and all(is_object(block) and block.get("type") == "text" for block in blocks)
    return bool(listed) and listed[-1].get("role") == "user" and (texts or isinstance(blocks, str))


def _with_reminders_apart(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return a history in which what the program says in the user's name are messages of the system."""
    found: list[Message] = []
    for message in messages:
        reminders = tuple(part for part in message.parts if message.role == "user" and _is_reminder(part))
        rest = tuple(part for part in message.parts if part not in reminders)
        found += [Message("system", reminders)] if reminders else []
        found += [Message(message.role, rest, message.name)] if rest or not reminders else []
    return tuple(found)


def _is_reminder(part: Part) -> bool:
    return isinstance(part, Text) and part.text.lstrip().startswith(_REMINDER)


def _spoken(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages without thoughts that were left out of them."""
    return tuple(
        Message(m.role, tuple(p for p in m.parts if not (isinstance(p, Reasoning) and p.text == _REDACTED)), m.name)
        for m in messages
    )


# ---- a tool ----------------------------------------------------------------------------------------


def _complete_tool(span: Span, fields: Fields, note: Note) -> None:
    told = told_by(span.events, PREFIX + "tool_result")
    decided = told_by(span.events, DECIDED)
    asked = told_by(span.events, PREFIX + "tool_decision")
    fields.setdefault("tool", word(told.get("tool_name")) or word(asked.get("tool_name")) or "")
    given = told.get("tool_input", asked.get("tool_input"))
    exchange.put(fields, "arguments", values.arguments(given, note))
    exchange.put(fields, "arguments", _shown(span.attributes))
    exchange.put(fields, "result", _output(span.events))
    _put_failure(span, told, fields)
    if {str(each.get("decision")).lower() for each in (decided, asked)} & _REFUSED:
        fields["dispatch"] = "refused"


def _shown(attributes: Mapping[str, Any]) -> Any:
    """Return the arguments as far as the span itself shows them: the command, or the file."""
    names = {"full_command": "command", "file_path": "file_path"}
    return {names[name]: attributes[name] for name in names if word(attributes.get(name))} or MISSING


def _output(events: Sequence[SpanEvent]) -> Any:
    told = told_by(events, "tool.output")
    return next((values.result(told[name], Note()) for name in _RESULTS if name in told), MISSING)


def _put_failure(span: Span, told: Mapping[str, Any], fields: Fields) -> None:
    """Say why a tool failed, by the span of its execution or by the record of its result."""
    executed = told_by(span.events, EXECUTED)
    failed = any(str(each.get("success")).lower() == "false" for each in (executed, told))
    if failed and failure(span) is None:
        why = word(told.get("error")) or word(executed.get("error"))
        fields["failure"] = Failure(word(told.get("error_type")), why)


_KNOWN: Final = frozenset(
    {
        TYPE, _INPUT, "attempt", "decision", "duration_ms", "error", "file_path", "full_command",
        "interaction.duration_ms", "interaction.sequence", "llm_request.context", "model", "parent_agent_id",
        "source", "success", "terminal.type", "ttft_ms", "user.id", "user_prompt", "user_prompt_length",
        "tool_use_id",
    }
)  # fmt: skip

CLAUDE_CODE: Final = Dialect(
    name="claude-code",
    marks=is_own,
    rows=ROWS,
    classify=classify,
    complete=complete,
    kept=frozenset({"agent_id", "speed"}),
    known=_KNOWN,
    raw_usage=(),
    gather=gather,
    about=About(
        title="Claude Code",
        versions="2.x: spans, log records or both",
        carries="tokens, tools with refusals, subagents, sessions; texts and prices in log records",
        lacks="texts on spans; titles told apart without records; reasoning",
    ),
)
