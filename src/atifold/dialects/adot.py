"""Read the events in which AWS's distribution of OpenTelemetry moves content off the spans (AgentCore).

One event or log record a span, named after the instrumentation's scope, holds
`{"input": {"messages": […]}, "output": {"messages": […]}}`; contents are JSON text of whatever the
instrumentation had written. They add to what a span's own dialect says; where the spans are not at hand, as in
CloudWatch's log group of a runtime, `adot_logs` makes spans of the records.
Of messages that were events of one name (Strands) the last is kept, the model's earlier ones stand among its answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from atifold.calls import MISSING, Message, ToolRequest, ToolResponse
from atifold.dialects import entity, exchange
from atifold.dialects.about import About
from atifold.dialects.adot_logs import ID, KIND, OWN, TOOL, content_of, from_logs, sides_of
from atifold.dialects.entity import opened
from atifold.dialects.logs import BODY
from atifold.dialects.messages import read_message, read_messages
from atifold.dialects.table import ALL, TOOLS, CallKind, Dialect, Fields, Row, Verdict
from atifold.dialects.values import Note, is_placeholder
from atifold.dialects.vendor_parts import joined_texts
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_SIDES: Final = (("input", "user"), ("output", "assistant"))
_ANSWER: Final = "message"
"""What the content of an answer holds beside messages of the history (Strands)."""


def marks(span: Span) -> bool:
    """Tell whether an event holds both sides of a span."""
    return any(sides_of(event.attributes.get(BODY)) is not None for event in span.events)


def classify(span: Span) -> Verdict:
    """Say what the record of a span was that is not at hand; of all others their own dialects tell."""
    kind = span.attributes.get(KIND)
    return CallKind(kind) if isinstance(kind, str) and kind in {each.value for each in CallKind} else None


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what the events hold of the two sides."""
    for told in (sides_of(event.attributes.get(BODY)) for event in span.events):
        if told is None:
            continue
        if kind is CallKind.TOOL:
            _complete_tool(told, span, fields, note)
            continue
        read = {side: [_messages(item, side, speaker, note) for item in told.get(side, ())] for side, speaker in _SIDES}
        earlier = _earlier(told.get("output", ()))
        before = [m for at in earlier for m in read["output"][at]]
        after = [m for at, messages in enumerate(read["output"]) if at not in earlier for m in messages]
        exchange.put(fields, "input", _history([m for messages in read["input"] for m in messages], before) or None)
        exchange.put(fields, "output", tuple(after) or None)


def _earlier(outputs: Sequence[Any]) -> list[int]:
    """Return the places of what the model said in earlier calls: the messages beside an answer that is marked so."""
    answers = [_is_answer(item) for item in outputs]
    return [at for at, is_answer in enumerate(answers) if not is_answer] if any(answers) else []


def _is_answer(item: Any) -> bool:
    content = item.get("content") if is_object(item) else None
    return is_object(content) and _ANSWER in content


def _history(asked: Sequence[Message], before: Sequence[Message]) -> tuple[Message, ...]:
    """Return what was asked with what the model had said: before its calls' results, else before the person's turn."""
    if not before:
        return tuple(asked)
    parts = [part for message in before for part in message.parts]
    calls = {part.id for part in parts if isinstance(part, ToolRequest)}
    answered = {id(m) for m in asked for part in m.parts if isinstance(part, ToolResponse) and part.id in calls}
    asked = [m for m in asked if answered or m.role != "tool"]  # a result of a turn before
    turn = (id(message) in answered if answered else message.role == "user" for message in asked)
    place = next((at for at, begins in enumerate(turn) if begins), len(asked))
    return (*asked[:place], *before, *asked[place:])


def _complete_tool(told: Mapping[str, Any], span: Span, fields: Fields, note: Note) -> None:
    given, came = (next((content_of(item) for item in told.get(side, ())), None) for side, _ in _SIDES)
    exchange.put(fields, "arguments", entity.tool_arguments(given, note))
    found = opened(came)
    entity.put_result(joined_texts(found) if is_list(found) else came, span, fields)


def _messages(item: Any, side: str, speaker: str, note: Note) -> Sequence[Message]:
    """Return the messages of one entry: those that its text holds, or itself."""
    content = content_of(item)
    if is_placeholder(content):
        return ()
    found = opened(content)
    role = item.get("role", speaker) if is_object(item) else speaker
    if is_object(found):
        inside = (entity.asked if side == "input" else entity.said)(found, note)
        if inside is not MISSING:
            return tuple(inside)
    blocks = is_list(found) and all(is_object(block) for block in found)
    if blocks and found and all("role" in block for block in found):
        return tuple(read_messages(found, note, speaker) or ())
    return read_message({"role": role, "content": found if blocks else content}, note, speaker)


ADOT: Final = Dialect(
    name="adot",
    marks=marks,
    rows=(
        Row("conversation", ("session.id",), kinds=ALL),
        Row("tool", (TOOL,), kinds=TOOLS),
        Row("id", (ID,), kinds=TOOLS),
    ),
    classify=classify,
    complete=complete,
    known_prefixes=(OWN,),
    marks_events=True,
    from_logs=from_logs,
    about=About(
        title="AWS's distribution of OpenTelemetry (AgentCore)",
        versions="content in events and log records named after the scope, with the spans or alone (CloudWatch)",
        carries="messages that were moved off the spans of other dialects; alone also what tools were given and gave",
        lacks="of messages of one kind all but the last; all else, which those dialects say",
    ),
)
