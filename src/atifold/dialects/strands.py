"""Read what Strands Agents writes beside the conventions: what tools were given and gave, in span events.

Contents are blocks of Bedrock's converse API as JSON text. The spans of event-loop cycles repeat what
their model calls and tools say, and in newer modes lose it; they are no calls.
"""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING, Failure, Message, ToolResponse
from atifold.dialects import values
from atifold.dialects.about import About
from atifold.dialects.failure import failure
from atifold.dialects.genai_events import CHOICE, DETAILS, details
from atifold.dialects.messages import read_messages
from atifold.dialects.table import CallKind, Dialect, Fields, Ignored, Row, Verdict
from atifold.dialects.values import Note, is_placeholder
from atifold.dialects.vendor_parts import joined_texts
from atifold.jsontext import text_of
from atifold.kinds import is_list
from atifold.spans import Span

_CYCLE: Final = "execute_event_loop_cycle"
_MARKS: Final = ("gen_ai.event.start_time", "event_loop.cycle_id", "gen_ai.tool.status", "tool.status")
_STATUS: Final = ("gen_ai.tool.status", "tool.status")
_ARGUMENTS: Final = "gen_ai.tool.message"

ROWS: Final = (Row("conversation", ("session.id",)),)


def marks(span: Span) -> bool:
    """Tell whether Strands wrote an attribute of its own, or told of a tool as of a message and its answer."""
    return any(name in span.attributes for name in _MARKS) or _is_told_in_events(span)


def _is_told_in_events(span: Span) -> bool:
    is_tool = span.attributes.get("gen_ai.operation.name") == "execute_tool"
    return is_tool and any(event.name in (_ARGUMENTS, CHOICE) for event in span.events)


def classify(span: Span) -> Verdict:
    """Say that a cycle of the event loop is no call."""
    named = _CYCLE in (span.name, span.attributes.get("gen_ai.operation.name"))
    is_cycle = named or "event_loop.cycle_id" in span.attributes
    return Ignored("event loop cycle") if is_cycle else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in a tool's arguments and result, and its failure, which its status alone may tell."""
    if kind is not CallKind.TOOL:
        return
    for event in span.events:
        if event.name == _ARGUMENTS and "arguments" not in fields:
            _put(fields, "arguments", values.arguments(event.attributes.get("content"), note))
        elif event.name == CHOICE and "result" not in fields:
            _put(fields, "result", values.result(event.attributes.get("message"), note))
        elif event.name == DETAILS and "result" not in fields:
            _put(fields, "result", _response(details(event).get("gen_ai.output.messages"), note))
    if "result" in fields:
        fields["result"] = _opened(fields["result"])
    status = next((text_of(span.attributes[name]) for name in _STATUS if name in span.attributes), None)
    if status == "error" and failure(span) is None:
        result = fields.get("result")
        fields.setdefault("failure", Failure(None, result if isinstance(result, str) else None))


def _put(fields: Fields, field: str, value: Any) -> None:
    if value is not MISSING:
        fields[field] = value


def _response(value: Any, note: Note) -> Any:
    """Return the first result among messages, MISSING where there is none."""
    if is_placeholder(value):
        return MISSING
    found = values.parsed(value) if isinstance(value, str) else value
    messages: tuple[Message, ...] = () if found is MISSING else read_messages(found, note)
    parts = (part for message in messages for part in message.parts)
    return next((part.result for part in parts if isinstance(part, ToolResponse)), MISSING)


def _opened(result: Any) -> Any:
    """Return the text that the text blocks of a result make, any other result as it is."""
    found = values.parsed(result) if isinstance(result, str) and result.startswith("[{") else result
    joined = joined_texts(found) if is_list(found) else result
    return joined if isinstance(joined, str) else result


STRANDS: Final = Dialect(
    name="strands",
    marks_events=True,
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=frozenset({"user.id", "session.id"}),
    known_prefixes=(
        "gen_ai.event.",
        "event_loop.",
        "gen_ai.server.",
        "gen_ai.agent.tools",
        "gen_ai.tool.json_schema",
        *_MARKS,
    ),
    about=About(
        title="Strands Agents",
        versions="1.x, beside the conventions",
        carries="what tools were given and gave, in span events; the rest is the conventions'",
        lacks="a cost; images",
    ),
)
