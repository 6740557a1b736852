"""Tell Mastra's generations from their steps: a generation of several steps is no call of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from atifold.spans import LogRecord, Span, SpanKey

TYPE: Final = "mastra.span.type"
_GENERATION: Final = "model_generation"
_STEP: Final = "model_step"
_USAGE: Final = "gen_ai.usage."
_COMMON: Final = ("gen_ai.request.model", "gen_ai.response.model", "gen_ai.provider.name", "gen_ai.system")
_ONE_STEP: Final = "model_step_of_one"
_SEVERAL: Final = "model_generation_of_several"


def gather(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans, of each generation either itself or its steps as model calls.

    One step is its generation, which tells more. Several steps are the calls: what is common to them stands
    on the generation, and where no step has figures of its own those go to the agent around it.
    """
    steps: defaultdict[SpanKey, list[Span]] = defaultdict(list)
    for span in spans.values():
        if span.attributes.get(TYPE) == _STEP and span.parent_id is not None:
            steps[span.trace_id, span.parent_id].append(span)
    changed: dict[SpanKey, Span] = {}
    for key, inner in steps.items():
        generation = spans.get(key)
        if generation is not None and generation.attributes.get(TYPE) == _GENERATION:
            changed |= {span.key: span for span in _told_once(generation, inner, spans)}
    return ({**spans, **changed} if changed else spans), logs


def _told_once(generation: Span, steps: Sequence[Span], spans: Mapping[SpanKey, Span]) -> Sequence[Span]:
    if len(steps) == 1:
        return [_with(steps[0], **{TYPE: _ONE_STEP})]
    common = {name: generation.attributes[name] for name in _COMMON if name in generation.attributes}
    found = [replace(step, attributes={**common, **step.attributes}) for step in steps]
    usage = {name: value for name, value in generation.attributes.items() if name.startswith(_USAGE)}
    around = spans.get((generation.trace_id, generation.parent_id or ""))
    if around is not None and not any(name.startswith(_USAGE) for step in steps for name in step.attributes):
        found.append(replace(around, attributes={**usage, **around.attributes}))
    left = {TYPE: _SEVERAL}
    return [*found, replace(generation, attributes=left)]


def _with(span: Span, **more: str) -> Span:
    """Return a span with other words for what it is, and no operation that says more."""
    rest = {name: value for name, value in span.attributes.items() if not name.startswith("gen_ai.")}
    return replace(span, attributes={**rest, **more})
