"""Read Codex: log records tell prompts, tools and token counts, hundreds of tracing spans little of it.

The model's texts stand nowhere. Where records tell of the requests, `codex_logs` makes the calls of them and
the tracing spans are no calls; without, the spans that bear figures of usage and the tools' own are.
"""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING, Attempt, Failure, Message, Text
from atifold.dialects import exchange, values
from atifold.dialects.about import About
from atifold.dialects.codex_logs import (
    CALL_ID,
    DISPATCH,
    FAILED_TRY,
    KIND,
    OWN,
    PROMPT,
    TOOL_PHASE,
    TRACING,
    TURN_USAGE,
    gather,
)
from atifold.dialects.failure import failure
from atifold.dialects.records import told_by
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
from atifold.dialects.values import Note, word
from atifold.jsontext import text_of
from atifold.spans import Span, SpanEvent

_KINDS: Final = {"turn": CallKind.AGENT, "request": CallKind.MODEL, "tool": CallKind.TOOL}
_FIGURE: Final = "gen_ai.usage.input_tokens"
_REDACTED: Final = "[REDACTED]"
_REFUSED: Final = frozenset({"denied", "abort", "aborted", "rejected", "timed_out"})


def _agent(value: Any, note: Note) -> Any:
    """Read the last name of an agent's path, `/main/reviewer`; the first agent's path tells no name."""
    found = values.text(value, note)
    path = found.strip("/").split("/") if isinstance(found, str) else []
    return path[-1] if len(path) > 1 else MISSING


ROWS: Final = (
    Row("model", ("model", "slug"), kinds=MODELS_AND_AGENTS),
    Row("usage.prompt", ("input_token_count", TURN_USAGE + "input_tokens"), values.count, MODELS_AND_AGENTS),
    Row("usage.completion", ("output_token_count", TURN_USAGE + "output_tokens"), values.count, MODELS_AND_AGENTS),
    Row("usage.cached", ("cached_token_count", TURN_USAGE + "cached_input_tokens"), values.count, MODELS_AND_AGENTS),
    Row(
        "usage.cache_write",
        ("cache_write_token_count", TURN_USAGE + "cache_write_input_tokens"),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row(
        "usage.reasoning",
        ("reasoning_token_count", "codex.usage.reasoning_output_tokens", TURN_USAGE + "reasoning_output_tokens"),
        values.count,
        MODELS_AND_AGENTS,
    ),
    Row("reasoning_effort", ("codex.request.reasoning_effort",), values.effort, MODELS),
    Row("tool", ("tool_name",), kinds=TOOLS),
    Row("id", (CALL_ID,), kinds=TOOLS),
    Row("agent", ("agent_name",), _agent, AGENTS),
    Row("arguments", ("arguments",), values.arguments, TOOLS),
    Row("result", ("output",), values.result, TOOLS),
    Row("conversation", ("conversation.id",)),
)


def marks(span: Span) -> bool:
    """Tell whether Codex wrote the span, or it was made of its records."""
    found = span.attributes
    return OWN in found or TRACING in found or any(name.startswith("codex.") for name in found)


def classify(span: Span) -> Verdict:
    """Say what was made of records; of tracing spans those with figures and the tools' own are calls."""
    found = span.attributes
    if OWN in found:
        return _KINDS.get(str(found[OWN]))
    if TRACING not in found and found.get(TOOL_PHASE) == DISPATCH and CALL_ID in found:
        return CallKind.TOOL
    if TRACING not in found and TURN_USAGE + "input_tokens" in found:
        return CallKind.AGENT
    if TRACING not in found and _FIGURE in found:
        return CallKind.MODEL
    return Ignored("Codex tracing")


def complete(span: Span, kind: CallKind, fields: Fields, _note: Note) -> None:
    """Fill in what was asked, and how a tool fared."""
    if kind is CallKind.AGENT:
        prompt = word(span.attributes.get(PROMPT))
        told = prompt is not None and prompt != _REDACTED
        exchange.put(fields, "input", (Message("user", (Text(prompt or ""),)),) if told else None)
        fields.setdefault("agent", "codex")
    elif kind is CallKind.MODEL:
        exchange.put(fields, "attempts", tuple(_attempt(e) for e in span.events if e.name == FAILED_TRY) or None)
        why = word(span.attributes.get("error.message"))
        if why is not None and failure(span) is None:
            fields["failure"] = Failure(word(span.attributes.get(KIND)), why)
    else:
        _complete_tool(span, fields)


def _attempt(event: SpanEvent) -> Attempt:
    """Return a try of a request that failed, with what is told of why."""
    names = ("error.message", "http.response.status_code")
    about = {name: event.attributes[name] for name in names if text_of(event.attributes.get(name))}
    number = values.number(event.attributes.get("attempt"))
    return Attempt(event.time_ns, number if isinstance(number, int) else None, about)


def _complete_tool(span: Span, fields: Fields) -> None:
    """Say that a tool failed or was not allowed; an exit code of a command is no failure of the tool."""
    decision = str(told_by(span.events, "codex.tool_decision").get("decision", span.attributes.get("decision"))).lower()
    if decision in _REFUSED:
        fields["dispatch"] = "refused"
    if str(span.attributes.get("success")).lower() == "false" and failure(span) is None:
        fields["failure"] = Failure(None, word(fields.get("result")))


_KNOWN: Final = frozenset(
    {
        OWN, TRACING, KIND, PROMPT, "agent_name", "api.path", "app.version", "attempt", "decision", "duration_ms",
        "endpoint", "error.message", "event.name", "event.timestamp", "from", "mcp_server", "mcp_server_origin",
        "originator", "prompt_length", "slug", "source", "success", "terminal.type", "thread_id", "tool_result_seq",
        "tool_source", "tool_token_count", "ttft_ms", "turn.id", "turn_id", "aborted", "busy_ns", "idle_ns", "target",
        "user.account_id", "user.email",
    }
)  # fmt: skip

CODEX: Final = Dialect(
    name="codex",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    kept=frozenset({"tool_namespace", "output_truncated"}),
    known=_KNOWN,
    known_prefixes=("codex.", "code.", "thread.", "auth.", "http."),
    gather=gather,
    about=About(
        title="Codex CLI",
        versions="its `codex.*` log records, with or without tracing spans",
        carries="prompts, tools with arguments, output and decisions, token counts, failed attempts, conversations",
        lacks="the model's own texts; a cost",
    ),
)
