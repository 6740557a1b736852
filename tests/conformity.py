"""Hold our own spans against `atifold.testing`, and against what we promise beyond the conventions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

from atifold.semconv import OPERATION
from atifold.spans import Span
from atifold.testing import Fault, faults
from atifold.testing.conventions import CONTENT, TYPES
from atifold.testing.values import is_flat

NAMESPACES = ("agentfootprint.", "atifold.")


def check(spans: Iterable[Span], *, content: bool, sessions: Collection[str] = ()) -> list[str]:
    """Return what is wrong with spans, a line each; `sessions` are the conversation ids that there were."""
    told = list(spans)
    found = faults(spans=told, content=None if content else False, sessions=sessions, namespaces=NAMESPACES)
    found += [Fault(span.name, *pair) for span in told for pair in ours(span)]
    return [str(fault) for fault in found]


def ours(span: Span) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a span by our own rules."""
    if OPERATION not in span.attributes:
        yield OPERATION, "each span of ours has one"
    for name, value in span.attributes.items():
        if TYPES.get(name) == "any" and not isinstance(value, str):
            yield name, "structure is JSON text on spans of ours: not every backend takes more"
        elif name in CONTENT and name != "gen_ai.tool.call.result" and not is_json(value):
            yield name, "no JSON"
        elif name.startswith(NAMESPACES) and not is_flat(value):
            yield name, f"not every backend takes {value!r}"
        elif name.startswith("gen_ai.usage.") and span.attributes.get(OPERATION) == "invoke_agent":
            yield name, "tokens of an agent are those of its calls: they would count twice"


def is_json(text: str) -> bool:
    """Tell whether a text is JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
