"""Read LangSmith's OTel export: a kind, and the run's input and output as JSON under the conventions' old names."""

from __future__ import annotations

from typing import Any, Final

from atifold.dialects import exchange, values
from atifold.dialects.about import About
from atifold.dialects.entity import opened
from atifold.dialects.table import AGENTS, MODELS, TOOLS, CallKind, Dialect, Fields, Ignored, Row, Verdict
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note
from atifold.kinds import is_object
from atifold.spans import Span

_KIND: Final = "langsmith.span.kind"
_NAME: Final = "langsmith.trace.name"
_METADATA: Final = "langsmith.metadata."
_AGENT: Final = _METADATA + "lc_agent_name"
_USAGE: Final = _METADATA + "usage_metadata"
_CONVERSATION: Final = "claude.conversation"
"""What the wrapper of Claude's Agent SDK calls the run of an agent."""

KINDS: Final = {"llm": CallKind.MODEL, "tool": CallKind.TOOL}

ROWS: Final = (
    Row("model", (_METADATA + "ls_model_name", _METADATA + "model"), kinds=MODELS),
    Row("provider", (_METADATA + "ls_provider",), values.provider, MODELS),
    Row("agent", (_AGENT, _NAME), kinds=AGENTS),
    Row("agent_name", (_AGENT,), kinds=MODELS | TOOLS),
    Row("conversation", tuple(_METADATA + name for name in ("thread_id", "session_id", "conversation_id"))),
)


def marks(span: Span) -> bool:
    """Tell whether LangSmith wrote an attribute of its own."""
    return any(name.startswith("langsmith.") for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what the span's kind says; a chain that bears the agent's name is the agent, one without a parent the run."""
    kind = str(span.attributes.get(_KIND, "")).lower()
    name = span.attributes.get(_NAME, span.name)
    if kind == "chain" and name in (span.attributes.get(_AGENT), _CONVERSATION):
        return CallKind.AGENT
    if kind == "chain" and span.parent_id is None:
        return CallKind.WORKFLOW
    return KINDS.get(kind) or (Ignored(f"{kind} span") if kind else None)


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the run's input and output hold, and the counts that LangChain keeps apart."""
    if kind is CallKind.TOOL:
        fields.setdefault("tool", str(span.attributes.get(_NAME, span.name)))
    if kind is CallKind.MODEL:
        _complete_usage(opened(span.attributes.get(_USAGE)), fields)
    given, came = (span.attributes.get(name) for name in ("gen_ai.prompt", "gen_ai.completion"))
    exchange.complete(span, kind, fields, note, given=given, came=came)


def _complete_usage(usage: Any, fields: Fields) -> None:
    if is_object(usage):
        put_usage(usage, fields)


LANGSMITH: Final = Dialect(
    name="langsmith",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known_prefixes=("langsmith.", "gen_ai.prompt", "gen_ai.completion", "gen_ai.serialized."),
    about=About(
        title="LangSmith's OTel export, and runs as its API gives them",
        versions="0.15 of its SDK; lists of runs, answers of `/runs/query`, runs with those below them",
        carries="runs' inputs and outputs as JSON, tokens, threads and sessions",
        lacks="a cost, but in runs; the name of an agent, but as that of a chain",
    ),
)
