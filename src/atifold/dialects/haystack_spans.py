"""Put into Haystack's spans what only their names, the spans around them or several calls at once tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

from atifold.dialects.entity import opened
from atifold.jsontext import to_json_text
from atifold.kinds import is_list, is_object
from atifold.spans import LogRecord, Span, SpanKey

OWN: Final = "haystack."
OPERATION: Final = OWN + "operation"
"""Where the name of a span is put: without content a model's span has no other attribute."""

NAME: Final = OWN + "component.name"
TYPE: Final = OWN + "component.type"
OUTPUT: Final = OWN + "component.output"
AGENT: Final = OWN + "agent.run"
TOOL: Final = OWN + "tool.name"
CALL_ID: Final = OWN + "tool.call.id"
FAILED: Final = OWN + "tool.error"
TOOL_INPUT: Final = OWN + "agent.step.tool.input"
TOOL_OUTPUT: Final = OWN + "agent.step.tool.output"
IS_AGENT: Final = "Agent"
_ID_BYTES: Final = 8


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans, agents with the names of their components, and one span for each tool that a component ran."""
    own = [span for span in spans.values() if span.name.startswith(OWN)]
    if not own:
        return spans, logs
    found = dict(spans)
    for span in own:
        more = {OPERATION: span.name, **(_agent(span, spans) if span.name == AGENT else {})}
        found[span.key] = replace(span, attributes={**more, **span.attributes})
        found |= {run.key: run for run in _runs(span)}
    return found, logs


def _agent(span: Span, spans: Mapping[SpanKey, Span]) -> dict[str, Any]:
    """Return the name of the component that an agent is, if it is part of a pipeline."""
    around = spans.get((span.trace_id, span.parent_id or ""))
    is_agent = around is not None and around.attributes.get(TYPE) == IS_AGENT
    return {NAME: around.attributes[NAME]} if is_agent and around is not None and NAME in around.attributes else {}


def _runs(span: Span) -> Iterator[Span]:
    """Yield a span for each result that the component for tools gave; before version 3 they have none of their own."""
    output = opened(span.attributes.get(OUTPUT))
    messages = output.get("tool_messages") if is_object(output) else None
    for message in messages if is_list(messages) else ():
        content = message.get("content", message.get("_content")) if is_object(message) else None
        for part in content if is_list(content) else ():
            result = part.get("tool_call_result") if is_object(part) else None
            origin = result.get("origin") if is_object(result) else None
            if is_object(result) and is_object(origin):
                yield _run(span, result, origin)


def _run(span: Span, result: Mapping[str, Any], origin: Mapping[str, Any]) -> Span:
    told = to_json_text([span.span_id, origin])
    attributes = {
        OPERATION: TOOL,
        TOOL: str(origin.get("tool_name", "")),
        TOOL_INPUT: to_json_text(origin.get("arguments")),
        TOOL_OUTPUT: result.get("result"),
        FAILED: result.get("error") is True,
        **({CALL_ID: origin["id"]} if isinstance(origin.get("id"), str) else {}),
    }
    made = blake2b(told.encode("utf-8", "replace"), digest_size=_ID_BYTES).hexdigest()
    return replace(span, span_id=made, parent_id=span.span_id, name=TOOL, attributes=attributes, events=(), links=())
