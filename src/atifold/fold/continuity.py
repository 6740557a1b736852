"""Tell which calls and agents carry on one history.

A piece (an agent's calls, or one model call that no agent owns) carries on an earlier one when its
first request holds an answer that the earlier one gave, or a result of a call that it asked for.
Bare calls are one history too when they begin alike (same instructions, same first message). What
tells nothing of its history is taken to go on where the last such call ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

from atifold.calls import AgentCall, ModelCall, ToolCall, ToolResponse
from atifold.fold.messages import (
    Mark,
    assistant_marks,
    body_of,
    parts_of,
    plain_id,
    requests_of,
    system_texts,
    user_marks,
)
from atifold.fold.order import LOOK_BACK, last_answer
from atifold.spans import SpanKey


@dataclass(frozen=True)
class Piece:
    """What is joined as a whole: its agents (none for a bare call), model calls and tool calls.

    `alone` says that it is joined with nothing: a workflow's own document.
    """

    models: tuple[ModelCall, ...]
    tools: tuple[ToolCall, ...] = ()
    agents: tuple[AgentCall, ...] = ()
    alone: bool = False

    @cached_property
    def start_ns(self) -> int:
        """Return when the piece began."""
        return min(call.start_ns for call in (*self.models, *self.tools, *self.agents))

    @cached_property
    def end_ns(self) -> int:
        """Return when the piece ended, as far as its ends are known."""
        return max(call.end_ns or call.start_ns for call in (*self.models, *self.tools, *self.agents))


@dataclass(slots=True)
class _Group:
    """Pieces that carry on one history so far."""

    members: list[int] = field(default_factory=list)
    bare: bool = False
    alone: bool = False
    end_ns: int = 0


class Continuity:
    """Group pieces, given in order of time, by the history that they carry on."""

    def __init__(self, *, joins_agents: bool = False) -> None:
        """Start empty; `joins_agents`: agents that tell no history carry on the one before."""
        self._joins_agents = joins_agents
        self._groups: list[_Group] = []
        self._said: dict[Mark, int] = {}
        self._asked: dict[str, int] = {}
        self._begun: dict[tuple[Mark, ...], int] = {}

    def group(self, pieces: Sequence[Piece]) -> list[list[int]]:
        """Return the indexes of the pieces, group by group, in order of first appearance."""
        for index, piece in enumerate(pieces):
            at = self._home(piece)
            if at is None:
                at = len(self._groups)
                self._groups.append(_Group(bare=not piece.agents, alone=piece.alone))
            self._take(at, index, piece)
        return [group.members for group in self._groups]

    def asker(self, tool: ToolCall) -> int | None:
        """Return the group that asked for a tool call by its id or its name, None where none did."""
        if tool.id and plain_id(tool.id) in self._asked:
            return self._asked[plain_id(tool.id)]
        return self._asked.get("name:" + tool.tool)

    def _home(self, piece: Piece) -> int | None:
        """Return the group that a piece carries on, None for a new history."""
        if piece.alone:
            return None
        if any(agent.handoff for agent in piece.agents):
            return next((at for at in range(len(self._groups) - 1, -1, -1) if not self._groups[at].alone), None)
        first = next((call for call in piece.models if call.input is not None), None)
        if first is None:
            return self._silent_home(piece)
        continued = self._continued(first)
        if continued is not None or (piece.agents and not self._joins_agents):
            return continued
        if first.input_base or _begins_midway(first):
            return self._last_bare(piece)
        return self._last_agent(piece) if piece.agents else self._begun_bare(first)

    def _begun_bare(self, first: ModelCall) -> int | None:
        """Return the group of bare calls that began as a call does."""
        at = self._begun.get(_beginning(first))
        return at if at is not None and self._groups[at].bare else None

    def _continued(self, first: ModelCall) -> int | None:
        """Return the group whose answer or tool call stands in a request."""
        for mark in sorted(last_answer(first)):
            if mark in self._said:
                return self._said[mark]
        recent = (first.input or ())[-LOOK_BACK:]
        ids = [p.id for p in parts_of(recent, ToolResponse) if p.id] + [r.id for r in requests_of(recent) if r.id]
        asked = next((self._asked[plain_id(i)] for i in reversed(ids) if plain_id(i) in self._asked), None)
        if asked is None and any(message.role == "assistant" for message in recent):
            return self._begun.get(_beginning(first))  # answers that were rewritten, under the same beginning
        return asked

    def _silent_home(self, piece: Piece) -> int | None:
        """Return the group of a piece whose messages were not captured."""
        if piece.agents:
            return self._last_agent(piece) if self._joins_agents else None
        return self._last_bare(piece)

    def _last_bare(self, piece: Piece) -> int | None:
        """Return the last group of bare calls that had ended when the piece began."""
        return self._last(piece, bare=True)

    def _last_agent(self, piece: Piece) -> int | None:
        """Return the last group of agents that had ended when the piece began."""
        return self._last(piece, bare=False)

    def _last(self, piece: Piece, *, bare: bool) -> int | None:
        """Return the latest fitting group."""
        for at in range(len(self._groups) - 1, -1, -1):
            group = self._groups[at]
            if group.bare == bare and not group.alone and group.end_ns <= piece.start_ns:
                return at
        return None

    def _take(self, at: int, index: int, piece: Piece) -> None:
        """Put a piece into a group and note what it says and asks for."""
        group = self._groups[at]
        group.members.append(index)
        group.end_ns = max(group.end_ns, piece.end_ns)
        for call in piece.models:
            for mark in assistant_marks(call.output or ()):
                self._said[mark] = at
            for request in requests_of((*(call.output or ()), *(call.input or ())[-LOOK_BACK:])):
                self._asked["name:" + request.name] = at
                if request.id:
                    self._asked[plain_id(request.id)] = at
        if piece.models and piece.models[0].input:
            self._begun.setdefault(_beginning(piece.models[0]), at)


def _begins_midway(call: ModelCall) -> bool:
    """Tell whether a request begins with a turn of the model or of a tool: its head is elsewhere."""
    body = body_of(call)
    return bool(body) and (body[0].role in ("assistant", "tool") or any(parts_of(body[:1], ToolResponse)))


def _beginning(call: ModelCall) -> tuple[Mark, ...]:
    """Return what two requests share when they begin alike."""
    body = body_of(call)
    return (("system", *system_texts(call)), *(user_marks(body[0]) if body else ()))


def carries_on(earlier: Sequence[ModelCall], later: Sequence[ModelCall]) -> bool:
    """Tell whether the first of the later calls continues one of the earlier ones."""
    return bool(earlier) and begins_with(later, said_by(earlier))


def said_by(calls: Iterable[ModelCall]) -> set[Mark]:
    """Return the marks of all that the calls answered."""
    return {mark for call in calls for mark in assistant_marks(call.output or ())}


def begins_with(calls: Sequence[ModelCall], said: AbstractSet[Mark]) -> bool:
    """Tell whether the last answer in the first request that is known is among the marks of what was said."""
    first = next((call for call in calls if call.input is not None), None)
    return first is not None and not said.isdisjoint(last_answer(first))


def crowded(pieces: Sequence[Piece]) -> set[int]:
    """Return the places of those pieces that ran at the same time as another one."""
    found: set[int] = set()
    longest, until = -1, 0
    for at in sorted(range(len(pieces)), key=lambda at: (pieces[at].start_ns, pieces[at].end_ns)):
        if longest >= 0 and pieces[at].start_ns < until:
            found |= {longest, at}
        if longest < 0 or pieces[at].end_ns > until:
            longest, until = at, pieces[at].end_ns
    return found


class Callers:
    """Find the tool call that an agent beside it answers.

    Known by content and time together: the agent ran within the tool's time, and its user text is
    an argument string of the call, or its answer the call's result.
    """

    def __init__(self, tools: Sequence[ToolCall]) -> None:
        """Take the tool calls that may have called an agent."""
        self._by_text: dict[str, list[ToolCall]] = {}
        for tool in tools:
            for text in {*_strings(tool.arguments), *_strings(tool.result)}:
                self._by_text.setdefault(text, []).append(tool)

    def of(self, asked: str, answered: str, piece: Piece) -> SpanKey | None:
        """Return the key of the call that `piece` answers, None where there is none."""
        candidates = [tool for text in (answered, asked) if text for tool in self._by_text.get(text, ())]
        own = {call.key for call in piece.tools}
        for tool in candidates:
            end_ns = tool.end_ns or tool.start_ns
            if tool.key not in own and tool.start_ns <= piece.start_ns and piece.end_ns <= end_ns:
                return tool.key
        return None


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value that says something."""
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
