"""Read the events in which AWS's distribution of OpenTelemetry moves content off the spans (AgentCore).

One event or log record a span, named after the instrumentation's scope, holds
`{"input": {"messages": […]}, "output": {"messages": […]}}`; contents are JSON text of whatever the
instrumentation had written. It only adds to what a span's own dialect says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from atifold.calls import MISSING, Message
from atifold.dialects import entity, exchange
from atifold.dialects.about import About
from atifold.dialects.entity import opened
from atifold.dialects.logs import BODY
from atifold.dialects.messages import read_message
from atifold.dialects.table import CallKind, Dialect, Fields
from atifold.dialects.values import Note, is_placeholder
from atifold.dialects.vendor_parts import joined_texts
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_SIDES: Final = ("input", "output")
_INNER: Final = ("content", "message")


def marks(span: Span) -> bool:
    """Tell whether an event holds both sides of a span."""
    return any(_body(event.attributes) is not None for event in span.events)


def _body(attributes: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what an event holds, None for an event of another kind."""
    body = attributes.get(BODY)
    if isinstance(body, str) and '"messages"' in body:
        body = opened(body)
    if not is_object(body):
        return None
    sides = [body[side] for side in _SIDES if side in body]
    return body if sides and all(is_object(side) and is_list(side.get("messages")) for side in sides) else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the events hold of the two sides."""
    bodies = [body for event in span.events if (body := _body(event.attributes)) is not None]
    for body in bodies:
        told = {side: body[side]["messages"] for side in _SIDES if side in body}
        if kind is CallKind.TOOL:
            _complete_tool(told, span, fields, note)
            continue
        for side, speaker in (("input", "user"), ("output", "assistant")):
            messages = tuple(m for item in told.get(side, ()) for m in _messages(item, side, speaker, note))
            exchange.put(fields, side, messages or None)


def _complete_tool(told: Mapping[str, Any], span: Span, fields: Fields, note: Note) -> None:
    given, came = (next((_content(item) for item in told.get(side, ())), None) for side in _SIDES)
    exchange.put(fields, "arguments", entity.tool_arguments(given, note))
    found = opened(came)
    entity.put_result(joined_texts(found) if is_list(found) else came, span, fields)


def _content(item: Any) -> Any:
    """Return the content of a message, which may stand in one more object."""
    content = item.get("content") if is_object(item) else item
    return next((content[name] for name in _INNER if name in content), content) if is_object(content) else content


def _messages(item: Any, side: str, speaker: str, note: Note) -> Iterable[Message]:
    """Return the messages of one entry: those that its text holds, or itself."""
    content = _content(item)
    if is_placeholder(content):
        return ()
    found = opened(content)
    role = item.get("role", speaker) if is_object(item) else speaker
    if is_object(found):
        inside = (entity.asked if side == "input" else entity.said)(found, note)
        if inside is not MISSING:
            return tuple(inside)
    blocks = is_list(found) and all(is_object(block) for block in found)
    return read_message({"role": role, "content": found if blocks else content}, note, speaker)


ADOT: Final = Dialect(
    name="adot",
    marks=marks,
    rows=(),
    complete=complete,
    marks_events=True,
    about=About(
        title="AWS's distribution of OpenTelemetry (AgentCore)",
        versions="content in events and log records named after the scope",
        carries="messages that were moved off the spans of other dialects",
        lacks="all else, which those dialects say",
    ),
)
