"""Read teams of AutoGen, whose messages stand on the spans of its runtime: who processed which message.

One message is processed by several members, each in a trace of its own that a link ties to the run. The run
becomes one history: what has figures of usage is a call of a model, and what tools gave goes to their spans.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from atifold.calls import Failure
from atifold.dialects import values
from atifold.dialects.about import About
from atifold.dialects.entity import opened
from atifold.dialects.failure import failure
from atifold.dialects.messages import read_messages
from atifold.dialects.records import made_span_id
from atifold.dialects.table import AGENTS, MODELS, CallKind, Dialect, Fields, Ignored, Row, Verdict
from atifold.dialects.values import Note, word
from atifold.jsontext import sorted_json, text_of
from atifold.kinds import is_list, is_object
from atifold.spans import LogRecord, Span, SpanKey

_OWN: Final = "autogen.made"
_MESSAGE: Final = "message"
_ROLES: Final = ("recipient_agent_type", "sender_agent_type", "messaging.operation")
_SYSTEM: Final = "gen_ai.system"
_TOOL_ID: Final = "gen_ai.tool.call.id"
_INPUT: Final = "autogen.input"
_OUTPUT: Final = "autogen.output"
_FAILED: Final = "autogen.is_error"
_USER: Final = "user"
_REQUEST: Final = "ToolCallRequestEvent"
_EXECUTION: Final = "ToolCallExecutionEvent"
_THOUGHT: Final = "ThoughtEvent"
_SUMMARY: Final = "ToolCallSummaryMessage"

ROWS: Final = (
    Row("usage.prompt", ("autogen.prompt_tokens",), values.count, MODELS),
    Row("usage.completion", ("autogen.completion_tokens",), values.count, MODELS),
    Row("agent_name", ("autogen.source",), kinds=MODELS),
    Row("agent", ("autogen.source",), kinds=AGENTS),
)


def marks(span: Span) -> bool:
    """Tell whether the runtime wrote the span, or it was made of what its spans tell."""
    return _OWN in span.attributes or ("messaging.operation" in span.attributes and _MESSAGE in span.attributes)


def classify(span: Span) -> Verdict:
    """Say what was made of messages; sending and processing are no calls."""
    made = span.attributes.get(_OWN)
    kinds: dict[str, Verdict] = {"request": CallKind.MODEL, "run": CallKind.AGENT, "tool": CallKind.TOOL}
    return kinds.get(str(made)) or Ignored("AutoGen member" if made else "AutoGen runtime")


def complete(span: Span, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill in what went into a run or a request and what came out."""
    if kind is CallKind.TOOL:
        if _FAILED in span.attributes and failure(span) is None:
            fields["failure"] = Failure(None, word(span.attributes.get("gen_ai.tool.call.result")))
        return
    for field, name, speaker in (("input", _INPUT, "user"), ("output", _OUTPUT, "assistant")):
        if name in span.attributes:
            fields.setdefault(field, read_messages(span.attributes[name], note, speaker))
    if kind is CallKind.MODEL and "input" in fields:
        fields["input_base"] = span.attributes.get("autogen.base", 0)


# ---- from messages to calls ------------------------------------------------------------------------


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans, those of each run of a team as one trace with the calls that its messages tell."""
    runtime = [
        span for span in spans.values() if _MESSAGE in span.attributes and any(n in span.attributes for n in _ROLES)
    ]
    told = [span for span in runtime if any(_messages(opened(span.attributes[_MESSAGE])))]
    if not told:
        return spans, logs
    trace_of = _joined_traces(runtime)
    by_run: defaultdict[str, list[Span]] = defaultdict(list)
    for span in told:
        by_run[trace_of.get(span.trace_id, span.trace_id)].append(span)
    found = dict(spans)
    for trace_id, runtime_spans in by_run.items():
        members = [span for span in spans.values() if trace_of.get(span.trace_id, span.trace_id) == trace_id]
        for span in _run(trace_id, runtime_spans, members):
            found[span.key] = span
        for span in members:
            if span.trace_id != trace_id and _TOOL_ID in span.attributes:
                found.pop(span.key, None)
    return found, logs


def _joined_traces(spans: Any) -> Mapping[str, str]:
    """Return for each trace the one that stands for all that links tie to it, the smallest by its id."""
    found: dict[str, str] = {}

    def root(trace_id: str) -> str:
        while found.setdefault(trace_id, trace_id) != trace_id:
            trace_id = found[trace_id]
        return trace_id

    for span in spans:
        own = root(span.trace_id)
        for link in span.links:
            other = root(link.trace_id)
            low, high = sorted((own, other))
            found[high] = own = low
    return {trace_id: root(trace_id) for trace_id in found}


def _run(trace_id: str, runtime: Sequence[Span], members: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans of one run: the run, its requests, its tools; the agents' own spans tell nothing more."""
    messages = _in_order(runtime)
    first = min(members, key=lambda span: span.start_ns)
    end = max(span.end_ns or span.start_ns for span in members)
    run_id = made_span_id("autogen", trace_id)
    asked = [m for m in messages if m["source"] == _USER]
    base = replace(first, trace_id=trace_id, parent_id=run_id, events=(), links=(), status_message="")
    written = {message["source"] for message in messages} - {_USER}
    about = {_OWN: "run", _INPUT: [_as_user(m) for m in asked[:1]]}
    about |= {"autogen.source": next(iter(written))} if len(written) == 1 else {}
    yield replace(base, span_id=run_id, parent_id=None, name="autogen run", end_ns=end, attributes=about)
    yield from _requests(messages, base)
    results = {
        str(each.get("call_id")): {**each, "at_ns": message["at_ns"]}
        for message in messages
        if message["type"] == _EXECUTION
        for each in _items(message)
    }
    yield from _tools(messages, results, members, base)
    for span in members:
        if span.attributes.get(_SYSTEM) == "autogen" and span.attributes.get("gen_ai.operation.name") == "invoke_agent":
            yield replace(span, attributes={_OWN: "member"})


def _requests(messages: Sequence[Mapping[str, Any]], base: Span) -> Iterator[Span]:
    """Yield a model call for each message that a model wrote, with what people said since the last one."""
    told: list[dict[str, Any]] = []
    thoughts: list[dict[str, Any]] = []
    before = base.start_ns
    for at, message in enumerate(messages):
        if message["source"] == _USER:
            told.append(_as_user(message))
        elif message["type"] == _THOUGHT:
            thoughts.append({"type": "reasoning", "content": text_of(message["content"]) or ""})
        elif message["type"] not in (_EXECUTION, _SUMMARY) and _is_written(message):
            usage = message.get("models_usage")
            figures = {f"autogen.{name}": count for name, count in usage.items()} if is_object(usage) else {}
            about = {_OWN: "request", "autogen.source": message["source"], _OUTPUT: [_as_answer(message, thoughts)]}
            about |= {_INPUT: told, "autogen.base": at - len(told)} if told else {}
            end = message["at_ns"]
            yield replace(
                base, span_id=made_span_id("autogen", "request", message["key"]), name=f"chat {message['source']}",
                start_ns=min(before, end), end_ns=end, attributes={**about, **figures},
            )  # fmt: skip
            told, thoughts = [], []
        before = message["at_ns"]


def _is_written(message: Mapping[str, Any]) -> bool:
    return is_object(message.get("models_usage")) or message["type"] in ("TextMessage", _REQUEST)


def _tools(
    messages: Sequence[Mapping[str, Any]], results: Mapping[str, Mapping[str, Any]], members: Sequence[Span], base: Span
) -> Iterator[Span]:
    """Yield each tool's span with its arguments and its result, made where there is none."""
    traced = {str(span.attributes[_TOOL_ID]): span for span in members if _TOOL_ID in span.attributes}
    for message in messages:
        for call in _items(message) if message["type"] == _REQUEST else ():
            call_id = str(call.get("id"))
            result = results.get(call_id, {})
            if not result and call_id not in traced:
                continue  # the request tells as much
            span = traced.pop(call_id, None) or replace(
                base, span_id=made_span_id("autogen", call_id), name="execute_tool",
                start_ns=message["at_ns"], end_ns=max(message["at_ns"], result["at_ns"]),
            )  # fmt: skip
            about = {"gen_ai.tool.name": call.get("name"), _TOOL_ID: call_id, _OWN: "tool"}
            about |= {"gen_ai.tool.call.arguments": call["arguments"]} if "arguments" in call else {}
            about |= {"gen_ai.tool.call.result": result["content"]} if "content" in result else {}
            about |= {_FAILED: True} if result.get("is_error") is True else {}
            yield replace(
                span, trace_id=base.trace_id, parent_id=base.parent_id, attributes={**about, **span.attributes}
            )
    for span in traced.values():
        yield replace(span, trace_id=base.trace_id, parent_id=base.parent_id)


def _as_user(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": message["content"]}


def _as_answer(message: Mapping[str, Any], thoughts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a message as an assistant's: its thoughts, its text, the calls that it asks for."""
    calls = [{"type": "tool_call", **call} for call in _items(message)] if message["type"] == _REQUEST else []
    content = message["content"]
    said = (
        []
        if calls
        else [{"type": "text", "content": content}]
        if isinstance(content, str)
        else list(content)
        if is_list(content)
        else []
    )
    return {"role": "assistant", "parts": [*thoughts, *said, *calls]}


# ---- the messages of a run -------------------------------------------------------------------------


def _in_order(runtime: Sequence[Span]) -> list[dict[str, Any]]:
    """Return each message once, in the order of its time."""
    found: dict[str, dict[str, Any]] = {}
    for span in sorted(runtime, key=lambda each: (each.start_ns, each.key)):
        for message in _messages(opened(span.attributes[_MESSAGE])):
            told = (message["source"], message["type"], message["content"], message.get("created_at"))
            key = str(message.get("id") or sorted_json(told))
            found.setdefault(key, {**message, "key": key, "at_ns": _time(message.get("created_at"), span.start_ns)})
    return sorted(found.values(), key=lambda message: int(message["at_ns"]))


def _messages(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of the chat in what the runtime passed on, however deep they stand."""
    if is_list(value):
        for each in value:
            yield from _messages(each)
    elif is_object(value):
        if isinstance(value.get("source"), str) and isinstance(value.get("type"), str) and "content" in value:
            yield value
        else:
            for each in value.values():
                yield from _messages(each)


def _items(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the calls or results of a message that holds some."""
    content = message["content"]
    return [each for each in content if is_object(each)] if is_list(content) else []


def _time(value: Any, default: int) -> int:
    """Return when a message was made, in nanoseconds; `default` where it does not say."""
    try:
        made = datetime.fromisoformat((word(value) or "").replace("Z", "+00:00"))
    except ValueError:
        return default
    return int(made.timestamp() * 1_000_000) * 1000 if made.tzinfo else default


AUTOGEN: Final = Dialect(
    name="autogen",
    marks=marks,
    rows=ROWS,
    classify=classify,
    complete=complete,
    known=frozenset({_MESSAGE, "message_context", *_ROLES, "recipient_agent_class", "sender_agent_class"}),
    known_prefixes=("autogen.", "messaging."),
    gather=gather,
    about=About(
        title="AutoGen",
        versions="0.4 and later, teams on its runtime",
        carries="messages of all members as one history, tokens, tools' calls and results",
        lacks="a cost; ids of sessions; which request of a model a message answers",
    ),
)
