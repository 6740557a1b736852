"""Read MLflow's spans: a type, one input and one output, every value of an attribute JSON text."""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects import content, exchange, values
from atifold.dialects.entity import opened
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
from atifold.dialects.values import Note
from atifold.kinds import is_object
from atifold.spans import Span

_TYPE: Final = "mlflow.spanType"
_INPUTS: Final = "mlflow.spanInputs"
_OUTPUTS: Final = "mlflow.spanOutputs"
_USAGE: Final = "mlflow.chat.tokenUsage"
KINDS: Final = {
    "CHAT_MODEL": CallKind.MODEL,
    "LLM": CallKind.MODEL,
    "TOOL": CallKind.TOOL,
    "AGENT": CallKind.AGENT,
}


def _word(value: Any, note: Note) -> Any:
    """Read a text inside JSON text."""
    return values.text(opened(value, note), note)


def _cost(value: Any, _note: Note) -> Any:
    """Read the total of a cost, an object or a number."""
    found = opened(value, Note())
    return values.money(found.get("total_cost") if is_object(found) else found, Note())


def _provider(value: Any, note: Note) -> Any:
    return values.provider(opened(value, note), note)


def _tools(value: Any, note: Note) -> Any:
    return content.definitions(opened(value, note), note)


def _thread(value: Any, note: Note) -> Any:
    """Read the thread that LangChain's metadata names."""
    found = opened(value, note)
    names = ("thread_id", "session_id", "conversation_id")
    ids = (values.text(found.get(name), note) for name in names if is_object(found))
    return next((each for each in ids if each is not MISSING), MISSING)


ROWS: Final = (
    Row("model", ("mlflow.llm.model",), _word, MODELS_AND_AGENTS),
    Row("provider", ("mlflow.llm.provider",), _provider, MODELS),
    Row("cost_usd", ("mlflow.llm.cost",), _cost, MODELS_AND_AGENTS),
    Row("tools", ("mlflow.chat.tools",), _tools, MODELS),
    Row("id", ("tool_call_id",), _word, TOOLS),
    Row("conversation", ("mlflow.trace.session", "session_id"), _word),
    Row("conversation", ("metadata",), _thread),
    Row("agent_name", ("mlflow.agent.name",), _word, MODELS | TOOLS),
    Row("agent", ("mlflow.agent.name",), _word, AGENTS),
)


def marks(span: Span) -> bool:
    """Tell whether MLflow wrote an attribute of its own."""
    return any(name.startswith("mlflow.") for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what the span's type says; chains, retrievers and parsers are no calls."""
    kind = str(opened(span.attributes.get(_TYPE, ""), Note())).upper()
    return KINDS.get(kind) or (Ignored(f"{kind} span") if kind else None)


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what input and output hold; older versions have the messages of a chat apart."""
    if kind is CallKind.TOOL:
        fields.setdefault("tool", span.name)
    elif kind is CallKind.AGENT:
        fields.setdefault("agent", span.name)
    usage = opened(span.attributes.get(_USAGE), note)
    put_usage(usage, fields)
    exchange.complete(span, kind, fields, note, given=_INPUTS, came=_OUTPUTS)
    if "mlflow.chat.messages" in span.attributes and kind is CallKind.MODEL:
        exchange.put(fields, "input", content.input_messages(span.attributes["mlflow.chat.messages"], note))


MLFLOW: Final = Dialect(
    name="mlflow",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known_prefixes=("mlflow.",),
)
