"""Read MLflow's spans: a type, one input and one output, every value of an attribute JSON text."""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects import content, exchange, values
from atifold.dialects.about import About, Generation
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
from atifold.dialects.usage_objects import put_usage
from atifold.dialects.values import Note, Reader
from atifold.jsontext import text_of
from atifold.kinds import is_object
from atifold.spans import Span

_TYPE: Final = "mlflow.spanType"
_INPUTS: Final = "mlflow.spanInputs"
_OUTPUTS: Final = "mlflow.spanOutputs"
_USAGE: Final = "mlflow.chat.tokenUsage"
_REQUEST: Final = ("model", "tools", *exchange.SYSTEM, *exchange.PARAMETERS)
"""Attributes under which the fields of a request to the Responses API stand as such."""

_PLAIN: Final = frozenset({_INPUTS, _OUTPUTS, _USAGE, "mlflow.chat.messages", "usage", "id", *_REQUEST})
KINDS: Final = {
    "CHAT_MODEL": CallKind.MODEL,
    "LLM": CallKind.MODEL,
    "TOOL": CallKind.TOOL,
    "AGENT": CallKind.AGENT,
}


def _json(value: Any) -> Any:
    """Return the value behind JSON text, a text that is none as it is."""
    found = values.parsed(value) if isinstance(value, str) else value
    return value if found is MISSING else found


def _inside(read: Reader) -> Reader:
    """Return a reader of the value inside JSON text."""
    return lambda value, note: read(_json(value), note)


def _cost(value: Any, note: Note) -> Any:
    """Read the total of a cost, an object or a number."""
    return values.money(value.get("total_cost") if is_object(value) else value, note)


def _thread(value: Any, note: Note) -> Any:
    """Read the thread that LangChain's metadata names."""
    names = ("thread_id", "session_id", "conversation_id")
    ids = (values.text(value.get(name), note) for name in names if is_object(value))
    return next((each for each in ids if each is not MISSING), MISSING)


_WORD: Final = _inside(values.text)

ROWS: Final = (
    Row("model", ("mlflow.llm.model",), _WORD, MODELS_AND_AGENTS),
    Row("provider", ("mlflow.llm.provider",), _inside(values.provider), MODELS),
    Row("cost_usd", ("mlflow.llm.cost",), _inside(_cost), MODELS_AND_AGENTS),
    Row("tools", ("mlflow.chat.tools",), _inside(content.definitions), MODELS),
    Row("id", ("tool_call_id",), _WORD, TOOLS),
    Row("conversation", ("mlflow.trace.session", "session_id"), _WORD),
    Row("conversation", ("metadata",), _inside(_thread)),
    Row("agent_name", ("mlflow.agent.name",), _WORD, MODELS | TOOLS),
    Row("agent", ("mlflow.agent.name",), _WORD, AGENTS),
)


def marks(span: Span) -> bool:
    """Tell whether MLflow wrote an attribute of its own."""
    return any(name.startswith("mlflow.") for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what the span's type says; chains, retrievers and parsers are no calls."""
    kind = str(_json(span.attributes.get(_TYPE, ""))).upper()
    return KINDS.get(kind) or (Ignored(f"{kind} span") if kind else None)


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what input and output hold; older versions have the messages of a chat apart."""
    if kind is CallKind.TOOL:
        fields.setdefault("tool", span.name)
    elif kind is CallKind.AGENT:
        fields.setdefault("agent", span.name)
    found = {name: _json(value) for name, value in span.attributes.items() if name in _PLAIN}
    put_usage(found.get(_USAGE), fields)
    exchange.complete(span, kind, fields, note, given=found.get(_INPUTS), came=found.get(_OUTPUTS))
    if kind is not CallKind.MODEL:
        return
    exchange.put(fields, "input", content.input_messages(found.get("mlflow.chat.messages"), note))
    exchange.complete_request({name: found[name] for name in _REQUEST if name in found}, fields, note)
    put_usage(found.get("usage"), fields)
    exchange.put(fields, "response_id", text_of(found.get("id")) or None)


MLFLOW: Final = Dialect(
    name="mlflow",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=_PLAIN | {"options", "invocation_params", "batch_size", "color"},
    known_prefixes=("mlflow.",),
    about=About(
        title="MLflow",
        versions="2.x and 3.x",
        carries="inputs and outputs as JSON, tokens, cost, sessions",
        lacks="agents of LangGraph, which are chains; ids on tools' spans",
        generations=(
            Generation("2.x", ("mlflow.chat.messages",)),
            Generation("3.x", ("mlflow.message.format", "mlflow.chat.tokenUsage")),
        ),
    ),
)
