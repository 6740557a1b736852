"""Bring Claude Code's log records to the spans of their calls, and make spans where none were exported.

The records name the interaction's span, or that of a subagent's tool, never a request's own: a record of a
request is known by its figures, its time and what encloses it; one of a tool by the call's id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.dialects.claude_code_made import (
    ASKED,
    ENDS,
    PREFIX,
    SUBAGENT,
    TYPE,
    UTILITY,
    Made,
    Source,
    source_of,
    tool_id,
)
from atifold.dialects.logs import event_of
from atifold.dialects.records import named
from atifold.dialects.values import number, word
from atifold.spans import LogRecord, Span, SpanEvent, SpanKey

ASKED_FOR: Final = PREFIX + "asked_for"
"""The event of a request that tells one call which it asked for, where no record tells its whole answer."""

EXECUTED: Final = PREFIX + "tool.execution"
DECIDED: Final = PREFIX + "tool.blocked_on_user"

_SCOPE: Final = "com.anthropic.claude_code"
_ANSWERS: Final = ("assistant_response", "api_response_body")
_TOOLS: Final = ("tool_decision", "tool_result")
_SIGNS: Final = (
    "terminal.type",
    "llm_request.context",
    "interaction.sequence",
    "tool_use_id",
    "user_prompt",
    "session.id",
    "tool_name",
    "input_tokens",
)
_FIGURES: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
_SLACK_NS: Final = 2_000_000_000
"""How far a record may lie from the begin or end of its span."""


def is_own(span: Span) -> bool:
    """Tell whether the span says its type as Claude Code does; others write `span.type` too."""
    return TYPE in span.attributes and any(name in span.attributes for name in _SIGNS)


def kind_of(record: LogRecord) -> str | None:
    """Return what a record of Claude Code tells, None for anybody else's."""
    if record.name.startswith(PREFIX):
        return record.name.removeprefix(PREFIX)
    own = record.scope_name.startswith(_SCOPE) or record.body == PREFIX + record.name
    return record.name if own else None


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans with the events that records and inner spans are, and the records of others."""
    own = sorted(((kind, r) for r in logs if (kind := kind_of(r))), key=lambda pair: _order(*pair))
    typed = [span for span in spans.values() if is_own(span)]
    if not own and not typed:
        return spans, logs
    gathering = _Gathering(spans, typed)
    gathering.take_inner(typed)
    for kind, record in sorted(own, key=lambda pair: pair[0] == ASKED and gathering.has_requests):
        gathering.take(kind, record)
    return gathering.spans(), [record for record in logs if kind_of(record) is None]


def _order(kind: str, record: LogRecord) -> tuple[int, float, bool]:
    """Order records by their time and their count; where nothing counts them, the end goes before the answer."""
    return record.time_ns, number(record.attributes.get("event.sequence")) or 0, kind in _ANSWERS


class _Gathering:
    """Put records to spans, in order of time."""

    def __init__(self, spans: Mapping[SpanKey, Span], typed: Sequence[Span]) -> None:
        self._spans = spans
        self._requests = [span for span in typed if span.attributes[TYPE] == "llm_request"]
        self._tools = {str(tool_id(s.attributes)): s for s in typed if s.attributes[TYPE] == "tool"}
        self._events: defaultdict[SpanKey, list[SpanEvent]] = defaultdict(list)
        self._done: defaultdict[str, set[SpanKey]] = defaultdict(set)
        self._last: dict[Source, SpanKey] = {}
        self._source: dict[SpanKey, str] = {}
        self._named: dict[SpanKey, str | None] = {}
        self._made = Made(spans)

    @property
    def has_requests(self) -> bool:
        """Tell whether requests have spans: what was asked is then brought to them last, when all else is known."""
        return bool(self._requests)

    def take_inner(self, typed: Iterable[Span]) -> None:
        """Bring to each tool how it was decided on and executed, which are spans inside it."""
        for span in typed:
            if PREFIX + str(span.attributes[TYPE]) in (EXECUTED, DECIDED) and span.parent_id is not None:
                event = SpanEvent(PREFIX + str(span.attributes[TYPE]), span.start_ns, span.attributes)
                failed = {"error": span.status_message} if span.status_message else {}
                key = (span.trace_id, span.parent_id)
                self._events[key] += [replace(event, attributes={**failed, **span.attributes}), *span.events]

    def take(self, kind: str, record: LogRecord) -> None:
        """Bring one record to its span, or to the span that is made of it."""
        event = replace(event_of(record), name=PREFIX + kind)
        if kind in _TOOLS:
            tool = self._tools.get(str(tool_id(record.attributes)))
            self._events[tool.key].append(event) if tool else self._made.tool(record, event)
        elif kind in (ASKED, *ENDS, *_ANSWERS):
            self._take_request(kind, record, event)
        elif kind == "user_prompt":
            self._take_prompt(record, event)

    def _take_prompt(self, record: LogRecord, event: SpanEvent) -> None:
        at = (record.trace_id or "", record.span_id or "")
        if at in self._spans:
            self._events[at].append(replace(event, name="user_prompt"))
        elif not self._requests:
            self._made.prompt(record, event)

    def _take_request(self, kind: str, record: LogRecord, event: SpanEvent) -> None:
        source = source_of(record)
        key = self._last.get(source) if kind in _ANSWERS else self._request(kind, record)
        if key is None:
            self._made.request(kind, record, event)
            return
        self._done[kind].add(key)
        self._source[key] = source[1] or ""
        if kind in ENDS:
            self._last[source] = key
            self._named[key] = named(record.attributes, "agent.name")
        self._events[key].append(event)

    def _request(self, kind: str, record: LogRecord) -> SpanKey | None:
        """Return the request that a record tells of: by its figures, what encloses it, and its time."""
        free = [span for span in self._requests if span.key not in self._done[kind] and _may_be(kind, record, span)]
        if kind == ASKED:
            source = source_of(record)[1] or ""
            free = [span for span in free if self._source.get(span.key, source) == source]
        inside = [span for span in free if span.parent_id == record.span_id]
        found = min(inside or free, key=lambda span: (_distance(kind, record, span), span.key), default=None)
        return found.key if found else None

    def spans(self) -> Mapping[SpanKey, Span]:
        """Return all spans, with their events, and those that were made."""
        found = dict(self._spans)
        for key, events in self._events.items():
            if key in found:
                found[key] = replace(found[key], events=(*found[key].events, *events))
        for span in (*self._requests, *self._tools.values()):
            found[span.key] = self._placed(found[span.key])
        found |= {span.key: span for span in self._made.spans()}
        return _with_what_was_asked(found)

    def _placed(self, span: Span) -> Span:
        """Return a request beside the conversation without its parent, one of a subagent with its name."""
        source = self._source.get(span.key, "")
        if UTILITY.search(source):
            return replace(span, parent_id=None)
        if "agent_id" not in span.attributes or "subagent_type" in span.attributes:
            return span
        name = (
            self._type_above(span)
            or self._named.get(span.key)
            or (source.rpartition(":")[2] if source.startswith(SUBAGENT) else None)
        )
        return replace(span, attributes={**span.attributes, "subagent_type": name}) if name else span

    def _type_above(self, span: Span) -> str | None:
        """Return the kind of subagent that the nearest span around tells."""
        seen: set[SpanKey] = set()
        at: SpanKey = (span.trace_id, span.parent_id or "")
        while at in self._spans and at not in seen:
            seen.add(at)
            if word(self._spans[at].attributes.get("subagent_type")):
                return word(self._spans[at].attributes["subagent_type"])
            at = (at[0], self._spans[at].parent_id or "")
        return None


def _may_be(kind: str, record: LogRecord, span: Span) -> bool:
    """Tell whether nothing that both state differs: the session, the figures, the time."""
    if _distance(kind, record, span) > _SLACK_NS:
        return False
    sessions = {named(record.attributes, "session.id"), named(span.attributes, "session.id")} - {None}
    if len(sessions) > 1 or (record.trace_id is not None and record.trace_id != span.trace_id):
        return False
    models = {named(record.attributes, "model"), named(span.attributes, "gen_ai.request.model", "model")} - {None}
    if len(models) > 1:
        return False
    told, own = ([number(each.get(name)) for name in _FIGURES] for each in (record.attributes, span.attributes))
    return all(a == b or a is None or b is None for a, b in zip(told, own, strict=True))


def _distance(kind: str, record: LogRecord, span: Span) -> int:
    """Return how far a record lies from where it should: what was asked at the begin, all else at the end."""
    return abs(record.time_ns - (span.start_ns if kind == ASKED else span.end_ns or span.start_ns))


def _with_what_was_asked(spans: dict[SpanKey, Span]) -> Mapping[SpanKey, Span]:
    """Return the spans, each request of whose answer the text alone is told with the tools that ran after it."""
    beside: defaultdict[tuple[str, str | None], list[Span]] = defaultdict(list)
    for span in spans.values():
        if span.attributes.get(TYPE) in ("llm_request", "tool") and is_own(span):
            beside[span.trace_id, span.parent_id].append(span)
    for members in beside.values():
        request: Span | None = None
        for span in sorted(members, key=lambda each: (each.start_ns, each.key)):
            if span.attributes[TYPE] == "llm_request":
                request = span
            elif request is not None and _tells_text_alone(request):
                asked = SpanEvent(ASKED_FOR, span.start_ns, {"id": tool_id(span.attributes), "name": _tool_name(span)})
                request = spans[request.key] = replace(request, events=(*request.events, asked))
    return spans


def _tells_text_alone(request: Span) -> bool:
    names = {event.name for event in request.events}
    return PREFIX + "assistant_response" in names and PREFIX + "api_response_body" not in names


def _tool_name(span: Span) -> Any:
    found = (
        attributes.get("tool_name") for attributes in (span.attributes, *(event.attributes for event in span.events))
    )
    return next((name for name in found if name), "")
