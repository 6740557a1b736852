"""Read Langfuse's own spans over OTel: an observation's type, input, output, usage and cost.

Langfuse also adds its attributes to spans of other dialects; those say more of themselves and go before.
"""

from __future__ import annotations

import re
from typing import Any, Final

from atifold.calls import MISSING, Failure
from atifold.dialects import exchange, values
from atifold.dialects.about import About
from atifold.dialects.entity import opened
from atifold.dialects.failure import failure
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
from atifold.jsontext import text_of
from atifold.kinds import is_object
from atifold.spans import Span

_OBSERVATION: Final = "langfuse.observation."
_TYPE: Final = _OBSERVATION + "type"
_METADATA: Final = _OBSERVATION + "metadata."
_USAGE: Final = _OBSERVATION + "usage_details"
_AGENT: Final = _METADATA + "lc_agent_name"
_PARAMETERS: Final = _OBSERVATION + "model.parameters"
KINDS: Final = {"generation": CallKind.MODEL, "tool": CallKind.TOOL, "agent": CallKind.AGENT}
_NODES: Final = ("chain", "span")
_NO_CALLS: Final = frozenset({"embedding", "retriever", "evaluator", "guardrail", "event"})


_FOREIGN: Final = ("llm.", "openinference.", "input.", "output.")
_SPEAKER: Final = re.compile(r"^(developer|system|user|assistant|tool): ", re.MULTILINE)
_BEGINS: Final = re.compile(r"(?:developer|system|user): ")


def _word(value: Any, note: Note) -> Any:
    """Read a text, which metadata holds as JSON text."""
    return values.text(opened(value), note)


def _cost(value: Any, note: Note) -> Any:
    """Read the total of the costs, the sum of all where none is stated."""
    found = opened(value)
    if not is_object(found):
        return MISSING
    costs = [cost for each in found.values() if (cost := values.number(each)) is not None]
    return values.money(found.get("total", sum(costs)), note)


ROWS: Final = (
    Row("model", (_OBSERVATION + "model.name",), kinds=MODELS_AND_AGENTS),
    Row("cost_usd", (_OBSERVATION + "cost_details",), _cost, MODELS_AND_AGENTS),
    Row("id", (_METADATA + "tool_call_id",), _word, TOOLS),
    Row("agent", (_AGENT,), _word, AGENTS),
    Row("agent_name", (_AGENT,), _word, MODELS | TOOLS),
    Row("conversation", ("session.id", "langfuse.session.id", "langfuse.trace.session_id")),
    Row("conversation", (_METADATA + "thread_id", "langfuse.trace.metadata.thread_id"), _word),
)


def marks(span: Span) -> bool:
    """Tell whether Langfuse wrote an observation here."""
    return any(name.startswith(_OBSERVATION) for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what the observation's type says.

    A chain that bears the agent's name is the agent; a chain or span without a parent is the run as a whole,
    any other span says nothing.
    """
    kind = str(span.attributes.get(_TYPE, "")).lower()
    if kind == "chain" and _word(span.attributes.get(_AGENT), Note()) == span.name:
        return CallKind.AGENT
    if kind in _NODES and span.parent_id is None:
        return CallKind.WORKFLOW
    if kind == "chain":
        return Ignored("chain span")
    return KINDS.get(kind) or (Ignored(f"{kind} observation") if kind in _NO_CALLS else None)


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what input and output hold, the counts, and why a level of `ERROR` was given."""
    found = span.attributes
    if kind is CallKind.TOOL:
        fields.setdefault("tool", span.name)
    elif kind is not CallKind.MODEL:
        fields.setdefault("agent", span.name)
    given, came = (found.get(_OBSERVATION + side) for side in ("input", "output"))
    if kind is not CallKind.TOOL:
        _put_usage(opened(found.get(_USAGE)), opened(came), fields, foreign=any(n.startswith(_FOREIGN) for n in found))
    if kind is CallKind.MODEL:
        given, came = _transcript(given), _transcript(came)
    exchange.complete(span, kind, fields, note, given=given, came=came)
    if kind is CallKind.MODEL and _PARAMETERS in found:
        fields.setdefault("extra.model_parameters", opened(found[_PARAMETERS]))
    if str(found.get(_OBSERVATION + "level")).upper() == "ERROR" and failure(span) is None:
        fields.setdefault("failure", Failure(None, text_of(found.get(_OBSERVATION + "status_message")) or None))


def _put_usage(counted: Any, response: Any, fields: Fields, *, foreign: bool) -> None:
    """Fill in the counts: a raw response's own where there is one, for Langfuse then may have estimated its.

    What it counts on a `foreign` span that counts nothing itself is an estimate.
    """
    own: Fields = {}
    put_usage(response.get("usage") if is_object(response) and "choices" in response else None, own)
    told: Fields = {}
    put_usage(counted, told)
    if any(own.get(name, count) != count for name, count in told.items()):
        fields.pop("cost_usd", None)  # the price of the estimate
    if foreign and told and not own and "usage.prompt" not in fields and "usage.completion" not in fields:
        fields["usage.surplus"] = True
    for name, count in {**told, **own}.items():
        fields.setdefault(name, count)


def _transcript(value: Any) -> Any:
    """Return a prompt that was written as lines of `role: text` as messages, an answer that is `None` as none."""
    if not isinstance(value, str):
        return value
    if value.strip() == "None":
        return None
    if not _BEGINS.match(value):
        return value
    parts = _SPEAKER.split(value)[1:]
    told = [(role, text.removesuffix("\n")) for role, text in zip(parts[::2], parts[1::2], strict=True)]
    return [{"role": role, "content": text} for role, text in told if text != "None"]


LANGFUSE: Final = Dialect(
    name="langfuse",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=frozenset({"user.id", "session.id"}),
    known_prefixes=("langfuse.",),
    about=About(
        title="Langfuse",
        versions="3 to 5 of its SDK",
        carries="inputs and outputs as JSON, tokens, cost, sessions, levels of failure",
        lacks="ids of tool calls, but through LangChain; instructions apart from messages",
    ),
)
