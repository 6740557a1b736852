"""Make the spans of Claude Code's interactions, requests, tools and subagents out of log records alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from atifold.dialects.records import made_span_id, made_trace_id, named, span_of
from atifold.spans import LogRecord, Span, SpanEvent, SpanKey

PREFIX: Final = "claude_code."
TYPE: Final = "span.type"
ASKED: Final = "api_request_body"
ENDS: Final = ("api_request", "api_error")
"""Records that tell the end of a request; those of its answer follow."""

UTILITY: Final = re.compile(r"title|summar|topic|suggest|quota|count_tokens|naming|classif|compact|away|extract")
"""What requests beside the conversation are made for, as `query_source` names it."""

SUBAGENT: Final = "agent:"
_SESSION: Final = "session.id"
_SOURCE: Final = "query_source"
_TOOL_ID: Final = ("tool_use_id", "gen_ai.tool.call.id")
_CALLS_AGENTS: Final = frozenset({"Agent", "Task"})

Source = tuple[str | None, ...]
"""Who asks: requests of one source follow one another."""


def source_of(record: LogRecord) -> Source:
    """Return whose request a record tells of."""
    return named(record.attributes, _SESSION), named(record.attributes, _SOURCE), record.span_id


def tool_id(attributes: Mapping[str, Any]) -> str | None:
    """Return the id of the call that a tool's span or record names."""
    return named(attributes, *_TOOL_ID)


@dataclass(slots=True)
class _Told:
    """What records tell of one request for which no span is at hand."""

    record: LogRecord
    events: list[SpanEvent] = field(default_factory=list)


class Made:
    """Make spans of records: an interaction for each prompt, a request for each price, a tool for each result."""

    def __init__(self, spans: Mapping[SpanKey, Span]) -> None:
        """Begin with nothing; `spans` are those at hand, which records may name."""
        self._spans = spans
        self._prompts: dict[SpanKey, Span] = {}
        self._requests: dict[SpanKey, _Told] = {}
        self._asked: dict[Source, SpanEvent] = {}
        self._last: dict[Source, SpanKey] = {}
        self._tools: dict[SpanKey, _Told] = {}

    def prompt(self, record: LogRecord, event: SpanEvent) -> None:
        """Begin an interaction."""
        key = _interaction(record)
        about = {**_common(record), TYPE: "interaction"}
        span = span_of(record, key, None, PREFIX + "interaction", about, end_ns=record.time_ns)
        self._prompts[key] = replace(span, events=(replace(event, name="user_prompt"),))

    def request(self, kind: str, record: LogRecord, event: SpanEvent) -> None:
        """Take a record of a request: what was asked waits for the end, the answer follows it."""
        source = source_of(record)
        if kind == ASKED:
            self._asked[source] = event
        elif kind in ENDS:
            key = (_interaction(record)[0], made_span_id(kind, record.time_ns, record.attributes))
            asked = self._asked.pop(source, None)
            self._requests[key] = _Told(record, [event] if asked is None else [asked, event])
            self._last[source] = key
        elif source in self._last:
            self._requests[self._last[source]].events.append(event)

    def tool(self, record: LogRecord, event: SpanEvent) -> None:
        """Take a record of a tool's call; the last one tells its time."""
        key = (_interaction(record)[0], made_span_id("tool", tool_id(record.attributes)))
        told = self._tools.setdefault(key, _Told(record))
        told.record = record
        told.events.append(event)

    def spans(self) -> Iterator[Span]:
        """Yield the spans, each under what it ran in."""
        tools = {key: self._tool_span(key, told) for key, told in self._tools.items()}
        agents: dict[tuple[Any, ...], list[Span]] = defaultdict(list)
        for key, told in self._requests.items():
            source = named(told.record.attributes, _SOURCE) or ""
            span = self._request_span(key, told, source)
            if source.startswith(SUBAGENT):
                agents[_interaction(told.record), source].append(span)
            else:
                yield span
        subagents: list[Span] = []
        for (above, source), requests in agents.items():
            first, *rest = _subagent(above, source, requests, tools.values())
            subagents.append(first)
            yield from (first, *rest)
        yield from (_inside(tool, subagents) for tool in tools.values())
        yield from self._ended()

    def _ended(self) -> Iterator[Span]:
        """Yield the interactions, which end with the last that ran in them."""
        ends = {key: span.end_ns or 0 for key, span in self._prompts.items()}
        for told in (*self._requests.values(), *self._tools.values()):
            key = _interaction(told.record)
            if key in ends:
                ends[key] = max(ends[key], told.record.time_ns)
        yield from (replace(span, end_ns=ends[key]) for key, span in self._prompts.items())

    def _request_span(self, key: SpanKey, told: _Told, source: str) -> Span:
        about = {**_common(told.record), TYPE: "llm_request", "model": told.record.attributes.get("model")}
        parent = None if UTILITY.search(source) else self._parent(told.record)
        span = span_of(told.record, key, parent, PREFIX + "llm_request", about)
        return replace(span, events=tuple(told.events))

    def _tool_span(self, key: SpanKey, told: _Told) -> Span:
        about = {**_common(told.record), TYPE: "tool"}
        about |= {
            name: told.record.attributes[name]
            for name in ("tool_name", "tool_use_id")
            if told.record.attributes.get(name)
        }
        span = span_of(told.record, key, self._parent(told.record), PREFIX + "tool", about)
        return replace(span, events=tuple(told.events))

    def _parent(self, record: LogRecord) -> SpanKey | None:
        at = (record.trace_id or "", record.span_id or "")
        if at in self._spans:
            return at
        return _interaction(record) if _interaction(record) in self._prompts else None


def _subagent(above: SpanKey, source: str, requests: Sequence[Span], tools: Iterable[Span]) -> Iterator[Span]:
    """Yield a subagent and its requests, under the tool in whose time it ran."""
    start, end = min(r.start_ns for r in requests), max(r.end_ns or r.start_ns for r in requests)
    callers = (t for t in tools if named(t.attributes, "tool_name") in _CALLS_AGENTS)
    caller = next((t for t in callers if t.start_ns <= start and end <= (t.end_ns or 0)), None)
    first = requests[0]
    about = {TYPE: "subagent", "subagent_type": source.rpartition(":")[2]}
    about |= {name: first.attributes[name] for name in ("session.id",) if name in first.attributes}
    span_id = made_span_id(above, source)
    parent_id = caller.span_id if caller else first.parent_id
    yield replace(
        first, span_id=span_id, parent_id=parent_id, name=PREFIX + "subagent", start_ns=start, end_ns=end,
        attributes=about, events=(),
    )  # fmt: skip
    yield from (replace(request, parent_id=span_id) for request in requests)


def _inside(tool: Span, subagents: Sequence[Span]) -> Span:
    """Return a tool under the only subagent in whose time it began: whoever called that one waits for it."""
    around = [agent for agent in subagents if agent.start_ns <= tool.start_ns <= (agent.end_ns or 0)]
    return replace(tool, parent_id=around[0].span_id) if len(around) == 1 else tool


def _interaction(record: LogRecord) -> SpanKey:
    """Return the key of the interaction that a record belongs to, as it is made of records alone."""
    session = named(record.attributes, _SESSION)
    trace_id = record.trace_id or made_trace_id(PREFIX, session)
    return trace_id, made_span_id("interaction", session, named(record.attributes, "prompt.id"))


def _common(record: LogRecord) -> dict[str, Any]:
    return {"session.id": record.attributes["session.id"]} if "session.id" in record.attributes else {}
