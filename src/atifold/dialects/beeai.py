"""Put together the spans of BeeAI's events: a call's start, its success and its end are spans of their own.

`backend.openai.chat.start-4` and `backend.openai.chat.success-4` tell of one call; all of them last until the run is
over. What an agent's own events tell stands in its model calls too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from atifold.spans import Attributes, LogRecord, Span, SpanKey, Status

CALL: Final = "atifold.beeai.call"
"""Marks the span of a call, which has no answer where its success was not exported."""

_EVENT: Final = re.compile(
    r"(?P<call>(?P<family>agent|backend|tool)\..+)"
    r"\.(?P<phase>start|success|error|finish|update|partial_update|new_token|retry)-(?P<number>\d+)"
)
_ANSWER: Final = re.compile(r"llm\.output_messages\.(\d+)\.message\.content")
_ANSWERS: Final = "llm.output_messages."
_NO_CALL: Final[Attributes] = {"openinference.span.kind": "CHAIN"}
_TOLD_AT_THE_END: Final = (_ANSWERS, "output.", "llm.token_count.", "langfuse.observation.output", "exception.")


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans, those of one call's events as one, and those of other events as no calls."""
    events = [(span, match) for span in spans.values() if (match := _EVENT.fullmatch(span.name)) is not None]
    if not events:
        return spans, logs
    found = {**spans, **{span.key: replace(span, attributes=_NO_CALL) for span, _ in events}}
    calls: defaultdict[tuple[str, str, str], dict[str, Span]] = defaultdict(dict)
    for span, match in events:
        if match["family"] != "agent":
            calls[span.trace_id, match["call"], match["number"]][match["phase"]] = span
    times = sorted(span.start_ns for span, _ in events)
    for (_, name, _), phases in calls.items():
        call = _call(phases, times)
        if call is not None:
            more = {CALL: True} if name.startswith("backend.") else _tool(name, call)
            found[call.key] = replace(call, attributes={**more, **call.attributes})
    return found, logs


def _tool(name: str, call: Span) -> Attributes:
    """Return what a tool's events tell under names of their own."""
    given = call.attributes.get("tool.parameters")
    return {"tool.name": name.rpartition(".")[2], **({} if given is None else {"input.value": given})}


def _call(phases: Mapping[str, Span], times: Sequence[int]) -> Span | None:
    """Return one call's span: what its start tells, and how it ended; None where neither is at hand.

    One without an end ends where the next event begins; `times` are those of all events, in order.
    """
    end = phases.get("success", phases.get("error"))
    start = phases.get("start", end)
    if start is None:
        return None
    if end is None:
        following = bisect_right(times, start.start_ns)
        return replace(start, end_ns=times[following] if following < len(times) else start.end_ns)
    told = {name: value for name, value in end.attributes.items() if name.startswith(_TOLD_AT_THE_END)}
    failed = end is phases.get("error")
    return replace(
        start,
        attributes=_with_whole_answer({**start.attributes, **told}),
        end_ns=end.start_ns,
        status=Status.ERROR if failed else start.status,
        status_message=end.status_message if failed else start.status_message,
    )


def _with_whole_answer(attributes: Attributes) -> Attributes:
    """Return the attributes with the pieces of a streamed answer, each a message of its own, as one message.

    Of pieces whose first ones are lost, as a limit of attributes cuts them off, nothing is kept.
    """
    pieces = {int(match[1]): value for name, value in attributes.items() if (match := _ANSWER.fullmatch(name))}
    if len(pieces) < 2:  # noqa: PLR2004 - one message is whole
        return attributes
    found = {name: value for name, value in attributes.items() if not name.startswith(_ANSWERS)}
    if min(pieces) > 0:
        return found
    text = "".join(str(pieces[at]) for at in sorted(pieces))
    return {**found, f"{_ANSWERS}0.message.role": "assistant", f"{_ANSWERS}0.message.content": text}
