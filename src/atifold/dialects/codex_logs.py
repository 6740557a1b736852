"""Make the calls of Codex out of its log records: turns, requests and tools of each conversation.

Records of requests name no span, and the tracing spans repeat their figures without saying whose they are:
so where records tell of requests, they alone are calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects import values
from atifold.dialects.logs import event_of
from atifold.dialects.records import begun_ns, made_span_id, made_trace_id, named, span_of
from atifold.dialects.values import Note, number
from atifold.kinds import is_list, is_object
from atifold.spans import LogRecord, Span, SpanKey

OWN: Final = "codex.made"
"""What a span that was made of records is: `turn`, `request` or `tool`."""

TRACING: Final = "codex.tracing"
"""Marks tracing spans whose calls records tell."""

TRACED: Final = "codex.traced"
"""Marks tracing spans that are calls, which may bear no name of Codex's own."""

FAILED_TRY: Final = "codex.failed_try"
"""The event of a request that tells one try of it that failed."""

KIND: Final = "event.kind"
CALL_ID: Final = "call_id"
PROMPT: Final = "prompt"
TOOL_PHASE: Final = "codex.tool.phase"
DISPATCH: Final = "dispatch"
TURN_USAGE: Final = "codex.turn.token_usage."

_PREFIX: Final = "codex."
_CONVERSATION: Final = "conversation.id"
_COMPLETED: Final = ("response.completed", "response.failed", "response.incomplete")
_FIGURE: Final = "input_token_count"
_WHY: Final = "error.message"
_USAGE: Final = "gen_ai.usage.input_tokens"
_EFFORT: Final = "codex.request.reasoning_effort"
_REQUEST: Final = "sampling_request"
_STATUS: Final = "http.response.status_code"
_ERRORS_FROM: Final = 400


def is_tracing(span: Span) -> bool:
    """Tell whether Codex wrote a tracing span that could be a call."""
    found = span.attributes
    if _USAGE in found and (span.scope_name.startswith("codex") or _EFFORT in found):
        return True
    if TURN_USAGE + "input_tokens" in found:
        return True
    return found.get(TOOL_PHASE) == DISPATCH and CALL_ID in found


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans with those that were made of records, the tracing spans marked, and the records of others."""
    own = [record for record in logs if record.name.startswith(_PREFIX)]
    traced = {key: span for key, span in spans.items() if is_tracing(span)}
    if not own and not traced:
        return spans, logs
    told = _conversations(own)
    made: dict[SpanKey, Span] = {}
    for name, records in told.items():
        made |= {span.key: span for span in _Conversation(name, records).spans()}
    has_requests = any(span.attributes[OWN] == "request" for span in made.values())
    tools = {named(span.attributes, CALL_ID) for span in made.values()}
    told_tools = {key for key, span in traced.items() if TOOL_PHASE in span.attributes and _call_id(span) in tools}
    marked = {
        key: _hidden(span) if has_requests or key in told_tools else _from_its_begin(span, spans)
        for key, span in traced.items()
    }
    linked = _with_callers(made)
    return {**spans, **marked, **linked}, [record for record in logs if not record.name.startswith(_PREFIX)]


def _call_id(span: Span) -> str | None:
    return named(span.attributes, CALL_ID)


def _hidden(span: Span) -> Span:
    """Return a tracing span marked as none of the calls: records tell it."""
    return replace(span, attributes={TRACING: True})


def _from_its_begin(span: Span, spans: Mapping[SpanKey, Span]) -> Span:
    """Return a tracing span marked as a call, a request from its begin on."""
    start_ns = span.start_ns if TOOL_PHASE in span.attributes else _asked_ns(span, spans)
    return replace(span, start_ns=start_ns, attributes={**span.attributes, TRACED: True})


def _asked_ns(span: Span, spans: Mapping[SpanKey, Span]) -> int:
    """Return when a request began: the span of its figures begins when they come, after the tools it asked for."""
    seen: set[SpanKey] = set()
    at: SpanKey = (span.trace_id, span.parent_id or "")
    while at in spans and at not in seen:
        seen.add(at)
        if _REQUEST in spans[at].name:
            return min(span.start_ns, spans[at].start_ns)
        at = (at[0], spans[at].parent_id or "")
    return span.start_ns


def _conversations(own: Sequence[LogRecord]) -> Mapping[str, Sequence[LogRecord]]:
    """Return the records of each conversation in order of time."""
    found: defaultdict[str, list[LogRecord]] = defaultdict(list)
    for record in sorted(own, key=lambda each: each.time_ns):
        found[str(record.attributes.get(_CONVERSATION, ""))].append(record)
    return found


class _Conversation:
    """Walk through the records of one conversation and make its spans."""

    def __init__(self, name: str, records: Sequence[LogRecord]) -> None:
        self._name = name
        self._records = records
        told = next((r.trace_id for r in records if r.name == "codex.user_prompt" and r.trace_id), None)
        self._trace_id: str = told or made_trace_id(_PREFIX, name)
        self._turn: Span | None = None
        self._done: dict[SpanKey, Span] = {}
        self._before = 0
        self._tries: list[LogRecord] = []

    def spans(self) -> Iterator[Span]:
        """Return the turns, requests and tools that the records tell of."""
        for record in self._records:
            if record.name == "codex.user_prompt":
                self._begin(record)
            elif record.name == "codex.api_request":
                self._take_sent(record)
            elif record.name == "codex.sse_event" and _is_end(record):
                self._take_end(record)
            elif record.name in ("codex.tool_result", "codex.tool_decision"):
                self._take_tool(record)
        self._give_up()
        yield from self._done.values()

    def _begin(self, record: LogRecord) -> None:
        self._give_up()
        self._turn = self._span(record, "turn", None, start_ns=record.time_ns)
        self._done[self._turn.key] = self._turn

    def _take_sent(self, record: LogRecord) -> None:
        """Note when a request was sent, and a try that failed: another one may follow."""
        if _failed(record):
            self._tries.append(record)
        elif not self._before:
            self._before = begun_ns(record)

    def _take_end(self, record: LogRecord) -> None:
        """Make the call that ends with a record, with the tries that failed before."""
        if _WHY in record.attributes:
            self._tries.append(record)
            return
        first = min([self._before or record.time_ns, *map(begun_ns, self._tries)])
        self._add(record, start_ns=first, tries=self._tries)
        self._before, self._tries = 0, []

    def _give_up(self) -> None:
        """Make a call of tries none of which had an answer."""
        if self._tries:
            *tries, last = self._tries
            why = named(last.attributes, _WHY) or f"status {named(last.attributes, _STATUS)}"
            self._add(last, start_ns=begun_ns(self._tries[0]), tries=tries, **{_WHY: why})
        self._before, self._tries = 0, []

    def _take_tool(self, record: LogRecord) -> None:
        """Take a tool's result, or what was decided on it; one that was not allowed may have no result."""
        told = named(record.attributes, CALL_ID) or str(record.time_ns)
        key = (self._trace_id, made_span_id(_PREFIX, self._name, "tool", told))
        known = self._done.get(key)
        parent = self._turn.key if self._turn else None
        about = {**(known.attributes if known else {}), **record.attributes, OWN: "tool"}
        start = min(begun_ns(record), known.start_ns) if known else begun_ns(record)
        span = span_of(record, key, parent, "tool_call", about, start_ns=start)
        events = known.events if known else ()
        is_decision = record.name == "codex.tool_decision"
        self._put(replace(span, events=(*events, event_of(record)) if is_decision else events))

    def _add(self, record: LogRecord, *, start_ns: int, tries: Sequence[LogRecord], **more: str) -> None:
        parent = self._turn.key if self._turn else None
        span = self._span(record, "request", parent, start_ns=start_ns)
        failed = tuple(replace(event_of(each), name=FAILED_TRY) for each in tries)
        self._put(replace(span, attributes={**span.attributes, **more}, events=failed))

    def _put(self, span: Span) -> None:
        """Keep a span, and let its turn last as long."""
        self._done[span.key] = span
        if self._turn is not None:
            ended = max(self._turn.end_ns or 0, span.end_ns or 0)
            agent = {name: span.attributes[name] for name in ("agent_name",) if name in span.attributes}
            self._turn = replace(self._turn, end_ns=ended, attributes={**agent, **self._turn.attributes})
            self._done[self._turn.key] = self._turn

    def _span(self, record: LogRecord, kind: str, parent: SpanKey | None, *, start_ns: int) -> Span:
        key = (self._trace_id, made_span_id(kind, record.time_ns, record.attributes))
        return span_of(record, key, parent, f"codex.{kind}", {**record.attributes, OWN: kind}, start_ns=start_ns)


def _failed(record: LogRecord) -> bool:
    """Tell whether a request had no answer."""
    status = number(record.attributes.get(_STATUS))
    return _WHY in record.attributes or (status is not None and status >= _ERRORS_FROM)


def _is_end(record: LogRecord) -> bool:
    """Tell whether an answer's end tells its figures or its failure; another record of the end tells only its time."""
    found = record.attributes
    return found.get(KIND) in _COMPLETED and (_FIGURE in found or _WHY in found)


# ---- agents that agents call -------------------------------------------------------------------------


def _with_callers(made: Mapping[SpanKey, Span]) -> Mapping[SpanKey, Span]:
    """Return the spans, each conversation that a tool's result names under that tool, in its trace."""
    by_conversation: defaultdict[str, list[Span]] = defaultdict(list)
    for span in made.values():
        by_conversation[str(span.attributes.get(_CONVERSATION, ""))].append(span)
    callers: dict[str, Span] = {}
    for span in made.values():
        if span.attributes[OWN] == "tool":
            for named in _named(span.attributes.get("output")):
                if named in by_conversation and named != span.attributes.get(_CONVERSATION):
                    callers.setdefault(named, span)
    moved: dict[SpanKey, Span] = {}
    for name, spans in by_conversation.items():
        caller, trace_id = callers.get(name), _root_trace(name, callers)
        for span in spans:
            under = caller.span_id if caller and span.parent_id is None else span.parent_id
            placed = replace(span, trace_id=trace_id or span.trace_id, parent_id=under)
            moved[placed.key] = placed
    return moved


def _root_trace(name: str, callers: Mapping[str, Span]) -> str | None:
    """Return the trace of the outermost caller of a conversation, None for one that nobody called."""
    seen: set[str] = set()
    trace_id: str | None = None
    while name in callers and name not in seen:
        seen.add(name)
        trace_id = callers[name].trace_id
        name = str(callers[name].attributes.get(_CONVERSATION, ""))
    return trace_id


def _named(output: Any) -> list[str]:
    """Return the texts that stand alone in a tool's result of JSON, as an id of a conversation does."""
    found = (
        values.arguments(output, Note()) if isinstance(output, str) and output.lstrip()[:1] in ("{", "[") else MISSING
    )
    if is_object(found):
        return [each for each in found.values() if isinstance(each, str)]
    return [each for each in found if isinstance(each, str)] if is_list(found) else []
