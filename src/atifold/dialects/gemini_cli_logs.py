"""Bring Gemini CLI's log records to the spans of their calls, and make spans where none were exported.

A record of an answer names no span: it is known by the session, its figures and its time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.dialects.genai_events import DETAILS
from atifold.dialects.logs import event_of
from atifold.dialects.records import begun_ns, made_span_id, made_trace_id, named, span_of
from atifold.dialects.values import number, word
from atifold.spans import LogRecord, Span, SpanEvent, SpanKey

PREFIXES: Final = ("gemini_cli.", "qwen-code.", "qwen_code.")
ASKED: Final = "gemini_cli.api_request"
ANSWERED: Final = "gemini_cli.api_response"
FAILED: Final = "gemini_cli.api_error"
RAN: Final = "gemini_cli.tool_call"
OPERATION: Final = "gemini_cli.operation"
"""What a span that was made of records is, in the word that `gen_ai.operation.name` has for it."""

PREFIXED: Final = "gemini_cli.prefixed_ids"
"""Marks requests of a session whose tools' ids begin with the tool's name, which the history leaves out."""

_PROMPT: Final = "gemini_cli.user_prompt"
_CONVERSATION: Final = "gen_ai.conversation.id"
_TOOL_ID: Final = "gen_ai.tool.call_id"
_SLACK_NS: Final = 2_000_000_000
_FIGURES: Final = (
    ("function_name", "gen_ai.tool.name"),
    ("input_token_count", "gen_ai.usage.input_tokens"),
    ("output_token_count", "gen_ai.usage.output_tokens"),
)


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans with what records tell of them, those that were made of records, and the other records."""
    scopes = {record.scope_name for record in logs if record.name.startswith(PREFIXES)}
    told = [(name, record) for record in logs if (name := _name(record, scopes))] if scopes else []
    requests = [span for span in spans.values() if span.attributes.get("gen_ai.operation.name") == "llm_call"]
    if not told and not requests:
        return spans, logs
    told.sort(key=lambda pair: pair[1].time_ns)
    prefixed = _prefixed(spans)
    found = {**spans, **{span.key: _marked(span) for span in requests if _session(span) in prefixed}}
    if requests:
        tools = [span for span in spans.values() if _TOOL_ID in span.attributes]
        events = _events(told, requests, tools)
        found |= {key: replace(found[key], events=(*found[key].events, *more)) for key, more in events.items()}
    else:
        found |= {span.key: span for span in _made(told)}
    return found, [record for record in logs if not _name(record, scopes)]


def _name(record: LogRecord, scopes: Collection[str]) -> str | None:
    """Return a record's name as Gemini CLI itself writes it, None for anybody else's; `scopes` are its own."""
    if record.name == DETAILS:  # of an answer without a span's id, of what was asked beside what its span tells
        return DETAILS if record.scope_name in scopes else None
    prefix = next((prefix for prefix in PREFIXES if record.name.startswith(prefix)), None)
    return None if prefix is None else PREFIXES[0] + record.name.removeprefix(prefix)


def _session(span: Span) -> str | None:
    return named(span.attributes, _CONVERSATION)


def _prefixed(spans: Mapping[SpanKey, Span]) -> set[str | None]:
    """Return the sessions some tool of which has an id that begins with the tool's name."""
    tools = [span for span in spans.values() if _TOOL_ID in span.attributes]
    return {
        _session(span)
        for span in tools
        if str(span.attributes[_TOOL_ID]).startswith(f"{span.attributes.get('gen_ai.tool.name')}__")
    }


def _marked(span: Span) -> Span:
    return replace(span, attributes={**span.attributes, PREFIXED: True})


def _events(
    told: Sequence[tuple[str, LogRecord]], requests: Sequence[Span], tools: Sequence[Span]
) -> Mapping[SpanKey, Sequence[SpanEvent]]:
    """Return what records tell of answers, failures and tools, by the span of the call."""
    found: defaultdict[SpanKey, list[SpanEvent]] = defaultdict(list)
    candidates = {ANSWERED: requests, FAILED: requests, RAN: tools}
    for name, record in told:
        free = [s for s in candidates.get(name, ()) if s.key not in found and _may_be(record, s)]
        call = min(free, key=lambda span: (_distance(record, span), span.key), default=None)
        if call is not None:
            found[call.key].append(replace(event_of(record), name=name))
    return found


def _may_be(record: LogRecord, span: Span) -> bool:
    """Tell whether nothing that both state differs: the session, the figures, the time."""
    if _distance(record, span) > _SLACK_NS:
        return False
    sessions = {named(record.attributes, "session.id"), _session(span)} - {None}
    pairs = ((_plain(record.attributes.get(a)), _plain(span.attributes.get(b))) for a, b in _FIGURES)
    figures = all(told == own or told is None or own is None for told, own in pairs)
    return len(sessions) < 2 and figures  # noqa: PLR2004  one is the same


def _plain(value: Any) -> Any:
    """Return the number behind a figure, a name as it is."""
    found = number(value)
    return value if found is None else found


def _distance(record: LogRecord, span: Span) -> int:
    return abs(record.time_ns - (span.end_ns or span.start_ns))


# ---- without spans -----------------------------------------------------------------------------------


class _Made:
    """Make spans of records alone: prompts, requests and tools, in the session's trace."""

    def __init__(self) -> None:
        self._prompts: dict[Any, Span] = {}
        self._asked: dict[Any, list[SpanEvent]] = {}
        self._calls: list[Span] = []

    def take(self, name: str, record: LogRecord) -> None:
        """Take a record; records come in order of time."""
        turn = (named(record.attributes, "session.id"), named(record.attributes, "prompt_id"))
        event = replace(event_of(record), name=name)
        if name == _PROMPT:
            self._prompts[turn] = _span(record, "user_prompt", None, ())
        elif name == ASKED:
            self._asked[turn] = [event]
        elif name == DETAILS:
            next((events for of, events in reversed(self._asked.items()) if of[0] == turn[0]), []).append(event)
        elif name in (ANSWERED, FAILED):
            events = (*self._asked.pop(turn, ()), event)
            self._calls.append(_span(record, "llm_call", self._prompts.get(turn), events))
        elif name == RAN:
            self._calls.append(_span(record, "tool_call", self._prompts.get(turn), (event,)))
        if turn in self._prompts:
            ended = max(self._prompts[turn].end_ns or 0, record.time_ns)
            self._prompts[turn] = replace(self._prompts[turn], end_ns=ended)

    def spans(self) -> Sequence[Span]:
        """Return what was made."""
        return [*self._prompts.values(), *self._calls]


def _made(told: Sequence[tuple[str, LogRecord]]) -> Sequence[Span]:
    """Return the spans that records alone tell of."""
    made = _Made()
    for name, record in told:
        made.take(name, record)
    return made.spans()


def _span(record: LogRecord, operation: str, above: Span | None, events: tuple[SpanEvent, ...]) -> Span:
    """Return the span of a record's call; what is long stands in its events."""
    session = named(record.attributes, "session.id")
    names = ("session.id", "model", "function_name", "prompt")
    about = {name: record.attributes[name] for name in names if word(record.attributes.get(name))}
    key = (made_trace_id(PREFIXES[0], session), made_span_id(operation, record.time_ns, record.attributes))
    start = record.time_ns if operation == "user_prompt" else begun_ns(record)
    agent = {"gen_ai.agent.name": record.resource.get("service.name", "gemini-cli")}
    span = span_of(
        record, key, above.key if above else None, operation, {**agent, **about, OPERATION: operation}, start_ns=start
    )
    return replace(span, events=events)
