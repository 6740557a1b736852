"""Read OpenLLMetry (Traceloop): the flat messages of 0.40 to 0.5x, and what `traceloop.*` adds to newer ones.

Newer versions write the conventions' messages; of them this dialect reads the kind of a span, its
entity and the association properties only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects import entity, values
from atifold.dialects.about import About, Generation
from atifold.dialects.flat import Tree, trees
from atifold.dialects.flat_messages import flat_definitions, flat_finish_reasons, read_flat
from atifold.dialects.table import AGENTS, MODELS, TOOLS, CallKind, Dialect, Fields, Ignored, Row, Verdict
from atifold.dialects.values import Note
from atifold.kinds import is_object
from atifold.spans import Span

_KIND: Final = "traceloop.span.kind"
KINDS: Final = {"tool": CallKind.TOOL, "agent": CallKind.AGENT, "workflow": CallKind.WORKFLOW}
_REQUESTS: Final = frozenset({"chat", "completion"})
_INPUT: Final = "traceloop.entity.input"
_OUTPUT: Final = "traceloop.entity.output"
_PROMPTS: Final = "gen_ai.prompt."
_COMPLETIONS: Final = "gen_ai.completion."
_FUNCTIONS: Final = "llm.request.functions."
_FLAT: Final = re.compile(r"gen_ai\.(?:prompt|completion)\.\d")
_PREFIXES: Final = ("traceloop.", _FUNCTIONS, "llm.request.type", "llm.usage.")
_PROPERTIES: Final = "traceloop.association.properties."


def _thread(value: Any, note: Note) -> Any:
    """Read the thread that LangChain's metadata inside an entity's input names."""
    found = values.parsed(value) if isinstance(value, str) and value.startswith("{") else value
    metadata = found.get("metadata") if is_object(found) else None
    if not is_object(metadata):
        return MISSING
    ids = (values.text(metadata.get(key), note) for key in ("thread_id", "session_id", "conversation_id"))
    return next((each for each in ids if each is not MISSING), MISSING)


ROWS: Final = (
    Row("tool", ("traceloop.entity.name",), kinds=TOOLS),
    Row("agent", ("traceloop.entity.name", "traceloop.workflow.name"), kinds=AGENTS),
    Row("agent_name", (_PROPERTIES + "lc_agent_name",), kinds=MODELS | TOOLS),
    Row("usage.prompt", ("llm.usage.prompt_tokens",), values.count, MODELS),
    Row("usage.completion", ("llm.usage.completion_tokens",), values.count, MODELS),
    Row("reasoning_effort", ("llm.request.reasoning_effort",), values.effort, MODELS),
    Row(
        "conversation",
        (_PROPERTIES + "session_id", _PROPERTIES + "conversation_id", _PROPERTIES + "thread_id"),
    ),
    Row("conversation", (_INPUT,), _thread),
)

KNOWN: Final = frozenset({"llm.request.type", "llm.is_streaming", "llm.headers"})


def marks(span: Span) -> bool:
    """Tell whether OpenLLMetry wrote an attribute of its own, or flat messages stand here."""
    return any(name.startswith(_PREFIXES) or _FLAT.match(name) for name in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what the span's kind says, or that it is the request of a chat; a task is a node and no call."""
    kind = str(span.attributes.get(_KIND, "")).lower()
    if kind in KINDS:
        return KINDS[kind]
    if kind:
        return Ignored(f"{kind} span")
    request = span.attributes.get("llm.request.type")
    if isinstance(request, str) and request not in _REQUESTS:
        return Ignored(f"{request} request")
    return CallKind.MODEL if request is not None or any(_FLAT.match(name) for name in span.attributes) else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in flat messages and definitions, and what an entity's input and output hold."""
    if kind is CallKind.TOOL:
        _complete_tool(span, fields, note)
    elif kind is CallKind.MODEL:
        _complete_model(span, fields, note)
    else:
        for field, name, read in (("input", _INPUT, entity.asked), ("output", _OUTPUT, entity.said)):
            if name in span.attributes and field not in fields:
                _put(fields, field, read(entity.restored(span.attributes[name], note), note))
        _put_messages(span, fields, note)


def _complete_model(span: Span, fields: Fields, note: Note) -> None:
    found = _put_messages(span, fields, note)
    _put(fields, "tools", flat_definitions(found[_FUNCTIONS]))
    _put(fields, "finish_reasons", flat_finish_reasons(found[_COMPLETIONS]) or MISSING)


def _put_messages(span: Span, fields: Fields, note: Note) -> Mapping[str, Tree]:
    """Fill in flat messages, also of an agent's span onto which its calls wrote theirs; return what is flat."""
    found = trees(span.attributes, (_PROMPTS, _COMPLETIONS, _FUNCTIONS))
    _put(fields, "input", read_flat(found[_PROMPTS], note, "user"))
    _put(fields, "output", read_flat(found[_COMPLETIONS], note, "assistant"))
    return found


def _complete_tool(span: Span, fields: Fields, note: Note) -> None:
    """Open LangChain's wrappers around arguments and result, which newer versions put under the conventions' names."""
    found = span.attributes
    given = found.get(_INPUT, found.get("gen_ai.tool.call.arguments"))
    arguments = entity.tool_arguments(given, note)
    if arguments is not MISSING:
        fields["arguments"] = arguments
    fields.pop("result", None)
    entity.put_result(found.get(_OUTPUT, found.get("gen_ai.tool.call.result")), span, fields)


def _put(fields: Fields, field: str, value: Any) -> None:
    if value is not MISSING:
        fields.setdefault(field, value)


OPENLLMETRY: Final = Dialect(
    name="openllmetry",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=KNOWN,
    known_prefixes=(
        "traceloop.",
        _PROMPTS,
        _COMPLETIONS,
        _FUNCTIONS,
        "llm.usage.",
        "gen_ai.task.",
        "gen_ai.headers",
        "gen_ai.is_streaming",
    ),
    about=About(
        title="OpenLLMetry (Traceloop)",
        versions="0.40 to 0.62",
        carries="calls, tokens, messages (flat or the conventions'), inputs and outputs of entities, sessions",
        lacks="a cost; ids of tool calls on tools' spans; tokens of older streams; images",
        generations=(
            Generation("up to 0.5x, flat messages", (_PROMPTS, _COMPLETIONS, "llm.request.type")),
            Generation("0.6x, messages of the conventions", ("gen_ai.input.messages", "gen_ai.operation.name")),
        ),
    ),
)
