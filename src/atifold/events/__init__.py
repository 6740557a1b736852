"""Type the agent events of agentfootprint's catalogue: 128 names, their payloads and their envelope.

    event = parse({"type": "agentfootprint.stream.llm_end", "payload": {...}, "meta": {...}})
    event.payload.usage.input, event.meta.time_ns, event.lacking

`EVENTS` maps a full name to its payload model; a model is imported when it is first asked for, one
module a domain (`atifold.events.stream`, `.agent`, `.cost`, ...). Importing this package loads none.
"""

from __future__ import annotations

from atifold.events.envelope import Event, Meta, NotAnEventError, UnknownEvent, build, parse
from atifold.events.marks import Mark, leaves, marks
from atifold.events.registry import DOMAINS, EVENTS, full_name, model_of, validate

__all__ = [
    "DOMAINS",
    "EVENTS",
    "Event",
    "Mark",
    "Meta",
    "NotAnEventError",
    "UnknownEvent",
    "build",
    "full_name",
    "leaves",
    "marks",
    "model_of",
    "parse",
    "validate",
]
