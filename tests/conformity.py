"""Hold our own spans against `atifold.testing`, and against what we promise beyond the conventions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

from atifold.semconv import OPERATION, OWN_OPERATION
from atifold.spans import Kind, Span
from atifold.testing import Fault, faults
from atifold.testing.conventions import CONTENT, TYPES
from atifold.testing.values import is_flat

NAMESPACES = ("agentfootprint.", "atifold.")
"""What names may begin with beside those of the conventions."""

OWN_SPANS = {"tools.discovery": "agentfootprint.tools.provider_id"}
"""Spans that the conventions have no type for, by `agentfootprint.operation`, and what their names end with."""


def check(spans: Iterable[Span], *, content: bool, sessions: Collection[str] = ()) -> list[str]:
    """Return what is wrong with spans, a line each; `sessions` are the conversation ids that there were."""
    told = list(spans)
    found = faults(spans=told, content=None if content else False, sessions=sessions, namespaces=NAMESPACES)
    found += [Fault(span.name, *pair) for span in told for pair in ours(span)]
    return [str(fault) for fault in found]


def ours(span: Span) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a span by our own rules."""
    if OPERATION not in span.attributes:
        yield from of_own_span(span)
    for name, value in span.attributes.items():
        if TYPES.get(name) == "any" and not isinstance(value, str):
            yield name, "structure is JSON text on spans of ours: not every backend takes more"
        elif name in CONTENT and name != "gen_ai.tool.call.result" and not is_json(value):
            yield name, "no JSON"
        elif name.startswith(NAMESPACES) and not is_flat(value):
            yield name, f"not every backend takes {value!r}"
        elif name.startswith("gen_ai.usage.") and span.attributes.get(OPERATION) == "invoke_agent":
            yield name, "tokens of an agent are those of its calls: they would count twice"


def of_own_span(span: Span) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a span that the conventions have no type for."""
    operation = str(span.attributes.get(OWN_OPERATION))
    if operation not in OWN_SPANS:
        yield OPERATION, "each span of ours has one, or an operation of ours"
        return
    wanted = f"{operation} {span.attributes.get(OWN_SPANS[operation]) or ''}".strip()
    if span.name != wanted:
        yield "name", f"{wanted!r} was wanted"
    if span.kind is not Kind.INTERNAL:
        yield "kind", "INTERNAL was wanted"
    for name in span.attributes:
        if not name.startswith((*NAMESPACES, "error.type")):
            yield name, "not ours"


def is_json(text: str) -> bool:
    """Tell whether a text is JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
