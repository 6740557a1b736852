"""Find what each call belongs to: its nearest enclosing agent or tool, else its trace.

A leg that resumes a paused agent is that agent: what lies below the leg lies below it, also across
traces. A call below a model call belongs to what that one belongs to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from atifold.calls import AgentCall, Call, ModelCall, ToolCall
from atifold.fold.order import TimeKey, time_key
from atifold.nesting import depths
from atifold.spans import SpanKey

MAX_NESTING: Final = 50
"""How deep agents and tools may nest: what lies deeper is a trajectory beside the others."""

ScopeKey = tuple[str, str]
"""The key of an agent or tool call, or ("", group) for what no agent and no tool encloses."""


@dataclass(slots=True)
class Scope:
    """The calls directly inside one agent, tool or group of traces, each list in order of time."""

    models: list[ModelCall] = field(default_factory=list)
    tools: list[ToolCall] = field(default_factory=list)
    agents: list[AgentCall] = field(default_factory=list)

    def add(self, call: Call) -> None:
        """Take in one call."""
        match call:
            case ModelCall():
                self.models.append(call)
            case ToolCall():
                self.tools.append(call)
            case AgentCall():
                self.agents.append(call)


@dataclass(frozen=True, slots=True)
class Scopes:
    """All calls of a fold and where they belong.

    `legs` holds, by the key of a paused agent, the later legs that resume it, in order of time.
    """

    calls: Mapping[SpanKey, Call]
    inside: Mapping[ScopeKey, Scope]
    legs: Mapping[SpanKey, tuple[AgentCall, ...]]
    place: Mapping[SpanKey, ScopeKey]
    rank: Mapping[SpanKey, TimeKey]
    groups: tuple[ScopeKey, ...]

    def owner(self, key: SpanKey) -> AgentCall | None:
        """Return the nearest agent around a call, through any tools; None where there is none."""
        place = self.place.get(key)
        while place is not None and place in self.calls:
            call = self.calls[place]
            if isinstance(call, AgentCall):
                return call
            place = self.place.get(place)
        return None


def scopes_of(calls: Iterable[Call], group_of: Callable[[SpanKey], str]) -> Scopes:
    """Place every call; `group_of` names the group of what a call encloses that nothing else does."""
    unique = _unique(calls)
    nesting = depths(unique)
    rank = {key: time_key(call, nesting[key]) for key, call in unique.items()}
    ordered = sorted(unique.values(), key=lambda call: rank[call.key])
    firsts = _first_legs(unique)
    place = _shallow(_places(unique, firsts, group_of), group_of)
    inside: dict[ScopeKey, Scope] = defaultdict(Scope)
    legs: dict[SpanKey, list[AgentCall]] = defaultdict(list)
    for call in ordered:
        if call.key in firsts and isinstance(call, AgentCall):
            legs[firsts[call.key]].append(call)
        else:
            inside[place[call.key]].add(call)
    groups = sorted((key for key in inside if not key[0]), key=lambda key: _first(inside[key], rank))
    frozen_legs = {key: tuple(found) for key, found in legs.items()}
    return Scopes(unique, dict(inside), frozen_legs, place, rank, tuple(groups))


def _first(scope: Scope, rank: Mapping[SpanKey, TimeKey]) -> TimeKey:
    """Return the place in time of a scope's first call."""
    return min(rank[call.key] for call in (*scope.models, *scope.tools, *scope.agents))


def _unique(calls: Iterable[Call]) -> dict[SpanKey, Call]:
    """Return the calls by key, each once; of two that differ always the same one, whatever the order."""
    found: dict[SpanKey, Call] = {}
    for call in calls:
        other = found.get(call.key)
        if other is None or (other != call and repr(call) > repr(other)):
            found[call.key] = call
    return found


def _first_legs(calls: Mapping[SpanKey, Call]) -> dict[SpanKey, SpanKey]:
    """Return, for each leg whose paused agent is here, the key of the first leg."""
    before = {
        call.key: call.resumes
        for call in calls.values()
        if isinstance(call, AgentCall) and call.resumes and isinstance(calls.get(call.resumes), AgentCall)
    }
    firsts: dict[SpanKey, SpanKey] = {}
    for key in before:
        at, seen = key, {key}
        while at in before and before[at] not in seen:
            at = before[at]
            seen.add(at)
        if at not in before:  # else a ring: no leg is first
            firsts[key] = at
    return firsts


def _places(
    calls: Mapping[SpanKey, Call], firsts: Mapping[SpanKey, SpanKey], group_of: Callable[[SpanKey], str]
) -> dict[SpanKey, ScopeKey]:
    """Return the scope of each call; chains of model calls are walked once."""
    places: dict[SpanKey, ScopeKey] = {}
    for key in calls:
        path: dict[SpanKey, None] = {}
        at: SpanKey = key
        while at not in places:
            path[at] = None
            parent = calls[at].parent
            if parent is None or parent not in calls or parent in path:
                places[at] = ("", group_of(at))
            elif isinstance(calls[parent], ModelCall):
                at = parent
            else:
                places[at] = firsts.get(parent, parent)
        for step in path:
            places[step] = places[at]
    return _without_rings(places, group_of)


def _without_rings(places: dict[SpanKey, ScopeKey], group_of: Callable[[SpanKey], str]) -> dict[SpanKey, ScopeKey]:
    """Return the places with every ring of scopes opened at its smallest key."""
    safe: set[SpanKey] = set()
    for key in sorted(places):
        path: dict[SpanKey, None] = {}
        at = key
        while at in places and at not in safe and at not in path:
            path[at] = None
            at = places[at]
        if at in path:
            opened = min(list(path)[list(path).index(at) :])
            places[opened] = ("", group_of(opened))
        safe.update(path)
    return places


def _shallow(places: dict[SpanKey, ScopeKey], group_of: Callable[[SpanKey], str]) -> dict[SpanKey, ScopeKey]:
    """Return the places with scopes nested deeper than `MAX_NESTING` put at the top of their trace."""
    deep: dict[SpanKey, int] = {}
    for key in sorted(places):
        path: list[SpanKey] = []
        at = key
        while at in places and at not in deep:
            path.append(at)
            at = places[at]
        for step in reversed(path):
            deep[step] = deep.get(places[step], 0) + 1
            if deep[step] > MAX_NESTING:
                places[step], deep[step] = ("", group_of(step)), 1
    return places
