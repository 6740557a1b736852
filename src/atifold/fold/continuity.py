"""Tell which calls and agents carry on one history.

A piece (an agent's calls, or one model call that no agent owns) carries on an earlier one when its
first request holds an answer that the earlier one gave, or a result of a call that it asked for.
Bare calls are one history too when they begin alike (same instructions, same first message). What
tells nothing of its history is taken to go on where the last such call ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from atifold.calls import AgentCall, ModelCall, ToolCall, ToolRequest, ToolResponse
from atifold.fold.messages import (
    Mark,
    arguments_mark,
    assistant_marks,
    body_of,
    parts_of,
    plain_id,
    requests_of,
    system_texts,
    user_marks,
)
from atifold.fold.order import LOOK_BACK, last_answer

_TRANSFER: Final = re.compile(r"transfer|hand.?off|hand.?over", re.IGNORECASE)
"""What a tool is called that passes control on: `transfer_to_desk`, `handoff_to_agent`, `handover`."""


def asks_transfer(models: Sequence[ModelCall], tools: Sequence[ToolCall]) -> bool:
    """Tell whether the last model call, or any tool call, asks for a transfer of control, as frameworks name it."""
    names = [request.name for model in models[-1:] for request in requests_of(model.output or ())]
    return any(_TRANSFER.search(name) for name in (*names, *(tool.tool for tool in tools)))


@dataclass(frozen=True)
class Piece:
    """What is joined as a whole: its agents (none for a bare call), model calls and tool calls.

    `alone` says that it is joined with nothing: a workflow's own document.
    """

    models: tuple[ModelCall, ...]
    tools: tuple[ToolCall, ...] = ()
    agents: tuple[AgentCall, ...] = ()
    alone: bool = False

    @property
    def name(self) -> str | None:
        """Return the member that a bare call names as its own, None for agents and for a nameless call."""
        return self.models[0].agent_name if self.models and not self.agents else None

    @property
    def returns(self) -> bool:
        """Tell whether an agent of the piece goes back to whoever called it."""
        return any(agent.delegated for agent in self.agents)

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

    member: str = ""
    bare: bool = False
    alone: bool = False
    returns: bool = False
    pieces: list[int] = field(default_factory=list)
    end_ns: int = 0
    transfers: bool = False


class Continuity:
    """Group pieces, given in order of time, by the history that they carry on."""

    def __init__(self, *, joins_agents: bool = False, by_name: bool = False) -> None:
        """Start empty.

        `joins_agents`: agents that tell no history carry on the one before. `by_name`: bare calls that
        name different members are different histories, whatever they say.
        """
        self._joins_agents = joins_agents
        self._by_name = by_name
        self._groups: list[_Group] = []
        self._said: dict[tuple[str, Mark], int] = {}
        self._asked: dict[tuple[str, str], int] = {}
        self._begun: dict[tuple[str, tuple[Mark, ...]], int] = {}
        self._askers: dict[str, int] = {}
        self._rivals: set[str] = set()
        self._requests: dict[int, tuple[int, ToolRequest]] = {}
        self._by_told: dict[tuple[str, str], int] | None = None

    def group(self, pieces: Sequence[Piece]) -> list[list[int]]:
        """Return the indexes of the pieces, group by group, in order of first appearance."""
        crowd = crowded(pieces)
        for index, piece in enumerate(pieces):
            at = self._home(piece)
            if at is None and index not in crowd:
                at = self._transferred(piece)
            if at is None:
                at = len(self._groups)
                self._groups.append(_Group(self._member(piece), not piece.agents, piece.alone, piece.returns))
            self._take(at, index, piece)
        return [group.pieces for group in self._groups]

    def asker(self, tool: ToolCall) -> int | None:
        """Return the group that asked for a tool call by its id or its name, None where none did.

        Of several that asked so, the one that gave its arguments.
        """
        known = plain_id(tool.id) if tool.id and plain_id(tool.id) in self._askers else "name:" + tool.tool
        if known in self._rivals:
            told = self._told_requests().get((known, arguments_mark(tool.arguments)))
            if told is not None:
                return told
        return self._askers.get(known)

    def _told_requests(self) -> dict[tuple[str, str], int]:
        """Return the group that asked last, by id or name and by arguments; made when it is first asked for."""
        if self._by_told is None:
            self._by_told = {}
            for at, request in self._requests.values():
                for known in _known_by(request):
                    self._by_told[known, arguments_mark(request.arguments)] = at
        return self._by_told

    def _member(self, piece: Piece) -> str:
        """Return the member whose histories alone a piece may carry on; "" where names tell nothing."""
        return (piece.name or "") if self._by_name else ""

    def _home(self, piece: Piece) -> int | None:
        """Return the group that a piece carries on, None for a new history."""
        if piece.alone:
            return None
        if any(agent.handoff for agent in piece.agents):
            return next((at for at in range(len(self._groups) - 1, -1, -1) if not self._groups[at].alone), None)
        first = next((call for call in piece.models if call.input is not None), None)
        if first is None:
            asked = self._served(piece)
            return self._silent_home(piece) if asked is None else asked
        continued = self._continued(first, self._member(piece))
        if continued is not None or (piece.agents and not self._joins_agents) or piece.returns:
            return continued
        if first.input_base or _begins_midway(first):
            return self._last_bare(piece)
        return self._last_agent(piece) if piece.agents else self._begun_bare(first, piece)

    def _transferred(self, piece: Piece) -> int | None:
        """Return the group whose last agent asked to pass control on before another agent ran, next to it.

        Its history may be rewritten (ADK) or not captured.
        """
        at = None if piece.alone or piece.returns or not piece.agents else self._last_agent(piece)
        return at if at is not None and self._groups[at].transfers else None

    def _begun_bare(self, first: ModelCall, piece: Piece) -> int | None:
        """Return the group of bare calls that began as a call does, of the same member where they name one."""
        at = self._begun.get((self._member(piece), _beginning(first)))
        return at if at is not None and self._groups[at].bare else None

    def _continued(self, first: ModelCall, member: str) -> int | None:
        """Return the group whose answer or tool call stands in a request."""
        for mark in sorted(last_answer(first)):
            if (member, mark) in self._said:
                return self._said[member, mark]
        recent = (first.input or ())[-LOOK_BACK:]
        ids = [p.id for p in parts_of(recent, ToolResponse) if p.id] + [r.id for r in requests_of(recent) if r.id]
        known = ((member, plain_id(i)) for i in reversed(ids))
        asked = next((self._asked[i] for i in known if i in self._asked), None)
        if asked is None and any(message.role == "assistant" for message in recent):
            return self._begun.get((member, _beginning(first)))  # answers that were rewritten, under the same beginning
        return asked

    def _served(self, piece: Piece) -> int | None:
        """Return the group that asked, by ids, for all tools of a piece that called no model (a graph's node)."""
        if piece.models or not piece.tools or piece.returns:
            return None
        member = self._member(piece)
        homes = {self._asked.get((member, plain_id(tool.id))) if tool.id else None for tool in piece.tools}
        return homes.pop() if len(homes) == 1 else None

    def _silent_home(self, piece: Piece) -> int | None:
        """Return the group of a piece whose messages were not captured."""
        if piece.agents:
            return self._last_agent(piece) if self._joins_agents and not piece.returns else None
        if self._member(piece) and not any(call.input_base for call in piece.models):
            return None  # a member that calls a model on its own runs anew each time
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
            alike = group.bare == bare and group.member == self._member(piece)
            if alike and not group.alone and not group.returns and group.end_ns <= piece.start_ns:
                return at
        return None

    def _take(self, at: int, index: int, piece: Piece) -> None:
        """Put a piece into a group and note what it says and asks for."""
        group, member = self._groups[at], self._member(piece)
        group.pieces.append(index)
        group.end_ns = max(group.end_ns, piece.end_ns)
        group.transfers = bool(piece.agents) and asks_transfer(piece.models, piece.tools)
        for call in piece.models:
            for mark in assistant_marks(call.output or ()):
                self._said[member, mark] = at
            for request in requests_of((*(call.output or ()), *(call.input or ())[-LOOK_BACK:])):
                self._requests[id(request)] = (at, request)
                for known in _known_by(request):
                    if self._askers.setdefault(known, at) != at:
                        self._rivals.add(known)
                    self._askers[known] = at
                if request.id:
                    self._asked[member, plain_id(request.id)] = at
        if piece.models and piece.models[0].input:
            self._begun.setdefault((member, _beginning(piece.models[0])), at)


def _known_by(request: ToolRequest) -> tuple[str, ...]:
    """Return what a tool call is known by: its name, and its id where it has one."""
    name = "name:" + request.name
    return (name, plain_id(request.id)) if request.id else (name,)


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
