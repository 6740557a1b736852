"""Read what OpenLIT writes beside the conventions, and where it writes them in its own way.

A chat span names the tools that the model asked for, joined by commas; tools have Python reprs for values;
what the model thought has an attribute of its own.
"""

from __future__ import annotations

import re
from typing import Any, Final

from atifold.calls import MISSING, Failure, Message, Reasoning, ToolRequest
from atifold.dialects import values
from atifold.dialects.about import About
from atifold.dialects.entity import opened
from atifold.dialects.failure import failure
from atifold.dialects.reprs import from_repr
from atifold.dialects.table import MODELS, TOOLS, CallKind, Dialect, Fields
from atifold.dialects.values import Note, word
from atifold.kinds import is_list
from atifold.spans import Span

_SIGNS: Final = (
    "gen_ai.sdk.version",
    "gen_ai.application_name",
    "gen_ai.content.reasoning",
    "gen_ai.client.token.usage",
)
_NAMES: Final = "gen_ai.tool.name"
_IDS: Final = "gen_ai.tool.call.id"
_ARGUMENTS: Final = "gen_ai.tool.args"
_MESSAGE: Final = re.compile(r"content=(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?= |$)(?P<rest>.*)", re.DOTALL)
"""How Python writes a message of LangChain as a text: `content='…' name='…' tool_call_id='…'`."""

_FIELD: Final = re.compile(r"(\w+)='([^']*)'")


def marks(span: Span) -> bool:
    """Tell whether OpenLIT wrote an attribute of its own."""
    return any(name in _SIGNS or name.startswith("openlit.") for name in span.attributes)


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the model asked for and thought, and put the values behind reprs in their place."""
    if kind in TOOLS:
        _complete_tool(span, fields, note)
    elif kind in MODELS:
        _put_requests(span, fields, note)
        _put_thought(span, fields)


# ---- a request to the model ------------------------------------------------------------------------


def _put_requests(span: Span, fields: Fields, note: Note) -> None:
    """Add the calls that the span's own attributes tell to an answer that tells none."""
    output: tuple[Message, ...] = fields.get("output") or ()
    names = _listed(span.attributes.get(_NAMES))
    if not names or any(isinstance(part, ToolRequest) for message in output for part in message.parts):
        return
    ids, given = _listed(span.attributes.get(_IDS)), _arguments(span.attributes.get(_ARGUMENTS), len(names))
    requests = tuple(
        ToolRequest(ids[at] if at < len(ids) else None, name, values.arguments(given[at], note))
        for at, name in enumerate(names)
    )
    fields["output"] = (*output[:-1], Message("assistant", (*(output[-1].parts if output else ()), *requests)))


def _listed(value: Any) -> list[str]:
    """Return the words that commas join."""
    text = word(value)
    return [each.strip() for each in text.split(",") if each.strip()] if text else []


def _arguments(value: Any, count: int) -> list[Any]:
    """Return the arguments of each call: a list of them, objects joined by commas, or those of the only one."""
    found = opened(value)
    if isinstance(found, str) and count > 1:
        listed = opened(f"[{found}]")
        found = listed if is_list(listed) else MISSING
    if is_list(found) and len(found) == count:
        return list(found)
    return [value if count == 1 and value is not None else None] * count


def _put_thought(span: Span, fields: Fields) -> None:
    thought = word(span.attributes.get("gen_ai.content.reasoning"))
    output: tuple[Message, ...] = fields.get("output") or ()
    if thought is None or any(isinstance(part, Reasoning) for message in output for part in message.parts):
        return
    parts = output[0].parts if output else ()
    fields["output"] = (Message("assistant", (Reasoning(thought), *parts)), *output[1:])


# ---- a tool ----------------------------------------------------------------------------------------


def _complete_tool(span: Span, fields: Fields, note: Note) -> None:
    given = fields.get("arguments")
    if isinstance(given, str) and (read := from_repr(given)) is not MISSING:
        fields["arguments"] = read
    came = fields.get("result")
    message = _MESSAGE.match(came) if isinstance(came, str) else None
    if message is None:
        return
    told = dict(_FIELD.findall(message["rest"]))
    fields["result"] = values.result(from_repr(f"Text(text={message['text']})").get("text"), note)
    if told.get("tool_call_id"):
        fields.setdefault("id", told["tool_call_id"])
    if told.get("status") == "error" and failure(span) is None:
        fields["failure"] = Failure(None, str(fields["result"]))


OPENLIT: Final = Dialect(
    name="openlit",
    marks=marks,
    rows=(),
    complete=complete,
    known=frozenset({*_SIGNS, "gen_ai.environment", "gen_ai.client.operation.duration", "service.name"}),
    known_prefixes=("openlit.", "gen_ai.server.", "gen_ai.graph."),
    about=About(
        title="OpenLIT",
        versions="1.x, beside the conventions",
        carries="calls that a model asked for, what it thought, tools' values behind Python reprs",
        lacks="which result belongs to which of several calls, where ids are not written",
    ),
)
