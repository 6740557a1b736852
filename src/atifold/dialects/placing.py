"""Place the calls of subagents that hang under another agent (GitHub Copilot, github/copilot-cli#4858).

Only a nested agent that has no model call of its own can miss some: those are known by the ids of its tools, or
by the prompt that it, or the tool call around it, was given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from atifold.calls import MISSING, AgentCall, Call, Message, ModelCall, Text, ToolCall, ToolRequest, ToolResponse
from atifold.nesting import around
from atifold.spans import SpanKey

_P = TypeVar("_P", ToolRequest, ToolResponse)


def placed(calls: Iterable[Call]) -> Sequence[Call]:
    """Return the calls, each model call under the agent whose tools it asked for, or whose prompt it answers."""
    found = list(calls)
    by_key = {call.key: call for call in found}
    busy = {call.parent for call in found if isinstance(call, ModelCall)}
    missing = [c for c in found if isinstance(c, AgentCall) and c.parent is not None and c.key not in busy]
    above = {agent.key: owner for agent in missing if (owner := _owner(agent, by_key)) in busy}
    if not above:
        return found
    by_id = _tool_owners(found, above)
    asked = {key: _prompts(key, by_key) for key in above}
    homes: dict[SpanKey, SpanKey | None] = {}
    for call in sorted((c for c in found if isinstance(c, ModelCall)), key=lambda c: (c.start_ns, c.key)):
        home = homes[call.key] = _home(call, by_id, asked, above, by_key)
        if home in above and home is not None:
            by_id.update({part.id: home for part in _parts(call.output, ToolRequest) if part.id})
    return [replace(c, parent=homes[c.key]) if c.key in homes else c for c in found]


def with_own_tools(calls: Sequence[Call]) -> Sequence[Call]:
    """Return the calls, each tool beside the one model call that asked for it, where it hangs under another agent.

    That agent must have model calls of its own, none of which asked for it; ids that several asked for tell nothing.
    """
    by_key = {call.key: call for call in calls}
    busy: set[SpanKey] = set()
    asked: dict[tuple[str, str], set[SpanKey | None]] = {}
    for call in calls:
        if isinstance(call, ModelCall):
            place = _place(call, by_key)
            busy |= {place} if place else set()
            for part in _parts(call.output, ToolRequest):
                if part.id:
                    asked.setdefault((call.key[0], part.id), set()).add(place)
    return [_beside_its_asker(call, asked, busy, by_key) if isinstance(call, ToolCall) else call for call in calls]


def _beside_its_asker(
    tool: ToolCall,
    asked: Mapping[tuple[str, str], set[SpanKey | None]],
    busy: Collection[SpanKey],
    by_key: Mapping[SpanKey, Call],
) -> Call:
    places = asked.get((tool.key[0], tool.id), set()) if tool.id else set()
    here = _place(tool, by_key)
    if len(places) != 1 or here is None or here not in busy or here in places:
        return tool
    place = next(iter(places))
    home = by_key.get(place) if place else None
    apart = isinstance(home, AgentCall) and isinstance(by_key[here], AgentCall)
    return replace(tool, parent=place) if apart else tool


def _place(call: Call, by_key: Mapping[SpanKey, Call]) -> SpanKey | None:
    """Return the nearest call around another that is no model call."""
    seen: set[SpanKey] = set()
    at = call.parent
    while at is not None and at not in seen and isinstance(by_key.get(at), ModelCall):
        seen.add(at)
        at = by_key[at].parent
    return at if at in by_key else None


def _owner(call: Call, by_key: Mapping[SpanKey, Call]) -> SpanKey | None:
    """Return the nearest agent around a call."""
    return next((outer.key for outer in around(call, by_key) if isinstance(outer, AgentCall)), None)


def _tool_owners(calls: Iterable[Call], above: Mapping[SpanKey, SpanKey | None]) -> dict[str, SpanKey]:
    """Return the agent inside which the tool of each id ran; an id of two places tells nothing."""
    found: dict[str, set[SpanKey | None]] = {}
    for call in calls:
        if isinstance(call, ToolCall) and call.id:
            found.setdefault(call.id, set()).add(call.parent)
    alone = ((call_id, next(iter(places))) for call_id, places in found.items() if len(places) == 1)
    return {call_id: place for call_id, place in alone if place is not None and place in above}


def _prompts(key: SpanKey, by_key: Mapping[SpanKey, Call]) -> frozenset[str]:
    """Return what an agent may have been asked: its own input, and the texts among the arguments of its tool call."""
    agent = by_key[key]
    own = _asked(agent.input) if isinstance(agent, AgentCall) else ""
    tool = by_key.get(agent.parent) if agent.parent else None
    given = tool.arguments if isinstance(tool, ToolCall) else MISSING
    values = given.values() if isinstance(given, Mapping) else (given,)
    return frozenset(text for value in (own, *values) if isinstance(value, str) and (text := value.strip()))


def _home(
    call: ModelCall,
    by_id: Mapping[str, SpanKey],
    prompts: Mapping[SpanKey, frozenset[str]],
    above: Mapping[SpanKey, SpanKey | None],
    by_key: Mapping[SpanKey, Call],
) -> SpanKey | None:
    known = next((by_id[call_id] for call_id in _ids(call) if call_id in by_id), None)
    if known is not None and known[0] == call.key[0]:
        return known
    asked = _asked(call.input)
    agents = (key for key, owner in above.items() if owner == call.parent and asked in prompts[key])
    fitting = [key for key in agents if _within(call, by_key[key])]
    return fitting[0] if len(fitting) == 1 else call.parent


def _ids(call: ModelCall) -> Iterator[str]:
    """Yield the ids of calls that a model call asked for, then of those whose results it was told."""
    yield from (part.id for part in _parts(call.output, ToolRequest) if part.id)
    yield from (part.id for part in _parts(call.input, ToolResponse) if part.id)


def _parts(messages: Sequence[Message] | None, kind: type[_P]) -> Iterator[_P]:
    return (part for message in messages or () for part in message.parts if isinstance(part, kind))


def _asked(messages: Sequence[Message] | None) -> str:
    """Return the last words of a user, "" where there are none."""
    told = [m for m in messages or () if m.role == "user"][-1:]
    return "\n".join(part.text for message in told for part in message.parts if isinstance(part, Text)).strip()


def _within(call: ModelCall, agent: Call) -> bool:
    return agent.start_ns <= call.start_ns and (agent.end_ns is None or call.start_ns <= agent.end_ns)
