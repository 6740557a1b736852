"""Make spans of AgentCore's log records whose spans are not at hand: its runtime keeps the two in different places.

A record does not say what its span was. Its shape does: a tool's input bears the id of the call, an answer of a model
the reason to stop and blocks, an agent's answer the reason and a plain text; what remains are the spans around them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from atifold.dialects.entity import opened
from atifold.dialects.genai_events import CHOICE
from atifold.dialects.logs import event_of
from atifold.dialects.table import CallKind
from atifold.dialects.values import word
from atifold.jsontext import sorted_json
from atifold.kinds import is_list, is_object
from atifold.spans import LogRecord, Span

OWN: Final = "adot."
KIND: Final = OWN + "kind"
TOOL: Final = OWN + "tool"
ID: Final = OWN + "id"
"""Attributes of a span that was made: which kind of call it is, which tool ran, for which call."""

_SIDES: Final = ("input", "output")
_INNER: Final = ("content", "message")
_SESSION: Final = "session.id"
_NAMES: Final = {CallKind.MODEL: "chat", CallKind.TOOL: "execute_tool", CallKind.AGENT: "invoke_agent"}
_RUN: Final = "input_str"
"""What LangChain's input of a tool holds, and of nothing else."""


def sides_of(body: Any) -> Mapping[str, Sequence[Any]] | None:
    """Return the messages of each side that a record's body tells, None for a body of another kind."""
    if isinstance(body, str) and '"messages"' in body:
        body = opened(body)
    if not is_object(body):
        return None
    sides = {side: body[side] for side in _SIDES if side in body}
    if not sides or not all(is_object(side) and is_list(side.get("messages")) for side in sides.values()):
        return None
    return {side: told["messages"] for side, told in sides.items()}


def content_of(item: Any) -> Any:
    """Return the content of a message, which may stand in one more object."""
    content = item.get("content") if is_object(item) else item
    return next((content[name] for name in _INNER if name in content), content) if is_object(content) else content


def from_logs(records: Sequence[LogRecord]) -> Iterable[Span]:
    """Yield a span for each record that tells of a call.

    A trace whose model calls the client's own records tell of has no other ones; an agent's record counts where no
    call of a model is told.
    """
    traces: defaultdict[str, list[tuple[LogRecord, Mapping[str, Sequence[Any]]]]] = defaultdict(list)
    told_by_client: set[str] = set()
    for record in records:
        if record.trace_id is None or record.span_id is None:
            continue
        if record.name == CHOICE:
            told_by_client.add(record.trace_id)
        elif (sides := sides_of(record.body)) is not None:
            traces[record.trace_id].append((record, sides))
    for trace_id, told in traces.items():
        yield from _calls(told, told_by_client=trace_id in told_by_client)


def _calls(told: Sequence[tuple[LogRecord, Mapping[str, Sequence[Any]]]], *, told_by_client: bool) -> Iterable[Span]:
    tools = _tools(told)
    kinds = [_kind(sides) for _, sides in told]
    has_models = told_by_client or CallKind.MODEL in kinds
    said: set[bytes] = set()
    for (record, sides), kind in zip(told, kinds, strict=True):
        if kind is None or (kind is CallKind.MODEL and told_by_client) or (kind is CallKind.AGENT and has_models):
            continue
        answer = sorted_json([content_of(item) for item in sides.get("output", ())])
        if kind is CallKind.MODEL and not _marked(sides):
            if answer in said:  # by a span around the call, which ended later
                continue
            said.add(answer)
        yield _span(record, kind, _run(sides, tools) if kind is CallKind.TOOL else {})


def _contents(sides: Mapping[str, Sequence[Any]], side: str) -> list[Any]:
    return [item.get("content") if is_object(item) else item for item in sides.get(side, ())]


def _marked(sides: Mapping[str, Sequence[Any]]) -> list[Mapping[str, Any]]:
    """Return the answers that stand in objects of their own (Strands)."""
    return [content for content in _contents(sides, "output") if is_object(content) and "message" in content]


def _kind(sides: Mapping[str, Sequence[Any]]) -> CallKind | None:
    """Return what a record tells of, None for a span around calls, or one that says nothing."""
    given, came = _contents(sides, "input"), _contents(sides, "output")
    if any(is_object(content) and "id" in content for content in given):
        return CallKind.TOOL
    if marked := _marked(sides):
        if not any("finish_reason" in content for content in marked):
            return None
        return CallKind.MODEL if any(is_list(opened(content["message"])) for content in marked) else CallKind.AGENT
    found = [opened(content) for content in (*given, *came)]
    if any(is_object(content) and _RUN in content for content in found):
        return CallKind.TOOL
    return None if not came or any(is_object(content) for content in found) else CallKind.MODEL


def _tools(told: Iterable[tuple[LogRecord, Mapping[str, Sequence[Any]]]]) -> dict[str, str]:
    """Return the tools by the ids of calls that models asked for."""
    blocks = [opened(content_of(item)) for _, sides in told for item in sides.get("output", ())]
    uses = [block.get("toolUse") for listed in blocks if is_list(listed) for block in listed if is_object(block)]
    return {str(use["toolUseId"]): str(use.get("name", "")) for use in uses if is_object(use) and "toolUseId" in use}


def _run(sides: Mapping[str, Sequence[Any]], tools: Mapping[str, str]) -> dict[str, str]:
    """Return which call a tool ran for, and which tool it was, where that is told."""
    for content in _contents(sides, "input"):
        found = content if is_object(content) else opened(content)
        if is_object(found):
            about = found.get("kwargs")
            call_id = found.get("id", about.get("tool_call_id") if is_object(about) else None)
            tool = tools.get(str(call_id)) or _named(sides)
            return {**({ID: call_id} if isinstance(call_id, str) else {}), **({TOOL: tool} if tool else {})}
    return {}


def _named(sides: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the tool that LangChain's output of a run names."""
    for item in sides.get("output", ()):
        found = opened(content_of(item))
        about = found.get("kwargs") if is_object(found) else None
        if is_object(about) and (name := word(about.get("name"))) is not None:
            return name
    return None


def _span(record: LogRecord, kind: CallKind, more: Mapping[str, str]) -> Span:
    """Return the span of a call; a record is written when its span ends."""
    session = record.attributes.get(_SESSION)
    return Span(
        trace_id=record.trace_id or "",
        span_id=record.span_id or "",
        parent_id=None,
        name=_NAMES[kind],
        start_ns=record.time_ns,
        end_ns=record.time_ns,
        attributes={KIND: kind.value, **more, **({} if session is None else {_SESSION: session})},
        events=(event_of(record),),
        resource=record.resource,
        scope_name=record.scope_name,
        scope_version=record.scope_version,
    )
