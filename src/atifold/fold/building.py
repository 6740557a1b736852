"""Build threads of calls: which calls are one agent's one history, and which ran for whom.

A thread becomes one document. The rules: an agent below a tool call is a subagent of that call; an
agent nested without a tool is a hand-off when control stays with it, else a subagent; a workflow of
one member is transparent, members that carry on one history share a thread, any other workflow is
a document of its own with its members as subagents; calls without an agent are split by history.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from atifold.calls import AgentCall, ModelCall, ToolCall
from atifold.fold.callers import Callers
from atifold.fold.continuity import Continuity, Piece, carries_on, crowded
from atifold.fold.control import Control, answered_by, asked_of, last_of
from atifold.fold.messages import arguments_mark, text_of
from atifold.fold.order import TimeKey
from atifold.fold.scopes import Scope, Scopes
from atifold.fold.threads import Child, Thread
from atifold.fold.utilities import utilities


def threads_of(scopes: Scopes, *, joins_agents: bool) -> tuple[list[Thread], list[Thread]]:
    """Return (the root threads in order, the threads that hold nothing)."""
    builder = _Builder(scopes)
    roots: list[Thread] = []
    for key in scopes.groups:
        found = builder.members(scopes.inside[key], joins_agents=joins_agents)
        roots += builder.with_apart(found)
    return roots, builder.empty


class _Builder:
    """Build threads from the inside out."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self.empty: list[Thread] = []
        self._apart: list[Thread] = []

    def with_apart(self, roots: list[Thread]) -> list[Thread]:
        """Return root threads with those that were kept apart from what is in them, in order of time."""
        apart, self._apart = self._apart, []
        return sorted([*roots, *apart], key=self._thread_rank) if apart else roots

    # ---- an agent ------------------------------------------------------------------------------

    def agent(self, agent: AgentCall) -> Thread:
        """Return the thread of an agent with all that belongs to it."""
        scope = self._scopes.inside.get(agent.key, Scope())
        legs = (agent, *self._scopes.legs.get(agent.key, ()))
        delegates = any(nested.delegated for nested in scope.agents)  # so it is an agent, and no wrapper of one
        if scope.agents and (agent.workflow or not (scope.models or scope.tools or delegates)):
            return self._container(legs, scope)
        if agent.workflow and scope.models:
            return self._container(legs, scope)
        models = self._without_utilities(scope.models, (), legs)
        thread = self._with_tools(Thread(agents=legs, models=models), scope.tools)
        return self._with_nested(thread, [self.agent(nested) for nested in scope.agents])

    def _without_utilities(
        self, models: Sequence[ModelCall], others: Sequence[ModelCall], agents: Sequence[AgentCall]
    ) -> tuple[ModelCall, ...]:
        """Return model calls without those that only serve the conversation: these become threads of their own."""
        answers = [text_of(last_of(agent.output or (), "assistant")) for agent in agents]
        serving = utilities(models, others, filter(None, answers))
        name = agents[0].agent if agents else None
        self._apart += [_hinted(Thread(models=(call,)), name) for call in models if call.key in serving]
        return tuple(call for call in models if call.key not in serving)

    def _container(self, legs: tuple[AgentCall, ...], scope: Scope) -> Thread:
        """Return the thread of a workflow, or of its only member."""
        members = self.members(scope, by_name=True, of=legs)
        if len(members) == 1:
            return replace(members[0], outer=(*members[0].outer, *legs))
        if not members:
            return Thread(agents=legs)
        children = tuple(Child(_hinted(member, legs[0].agent)) for member in members)
        return Thread(workflow=legs[0], outer=legs[1:], children=children)

    def _with_nested(self, thread: Thread, nested: Sequence[Thread]) -> Thread:
        """Return the thread with agents that ran directly inside it: subagents or hand-offs."""
        present = self._not_empty(nested)
        if not present:
            return thread
        callers = Callers(thread.tools)
        crowd = crowded([inner.piece for inner in present])
        control = Control(thread)
        one = [thread]
        children = list(thread.children)
        for at, inner in enumerate(present):
            under = callers.of(asked_of(inner), answered_by(inner), inner.piece)
            if under is None and control.passes_to(inner, crowd=at in crowd):
                control.goes_on(inner)
                one.append(inner)
                children += inner.children
            else:
                children.append(Child(inner, under))
        return replace(self._joined(one), children=tuple(children))

    def _with_tools(self, thread: Thread, tools: Sequence[ToolCall]) -> Thread:
        """Return the thread with its tool calls; what ran inside them becomes their subagents."""
        flat: list[ToolCall] = []
        children = list(thread.children)
        twins = dict(thread.twins)
        models = list(thread.models)
        queue = list(tools)
        for tool in queue:
            flat.append(tool)
            scope = self._scopes.inside.get(tool.key, Scope())
            under = twins.get(tool.key, tool.key)
            if scope.models and not scope.agents and carries_on(thread.models, scope.models):
                models += scope.models
            elif scope.models or scope.agents:
                name = _only_name(scope) or tool.tool
                children += [Child(_hinted(member, name), under) for member in self.members(scope)]
                continue
            twins.update({inner.key: under for inner in scope.tools if _is_twin(tool, inner)})
            queue += scope.tools
        models.sort(key=self._rank)
        flat.sort(key=self._rank)
        return replace(thread, models=tuple(models), tools=tuple(flat), children=tuple(children), twins=twins)

    # ---- the members of a workflow, a tool call or a trace -------------------------------------

    def members(
        self, scope: Scope, *, joins_agents: bool = False, by_name: bool = False, of: Sequence[AgentCall] = ()
    ) -> list[Thread]:
        """Return the threads inside a scope: agents and bare calls, joined by their histories.

        `of` are the legs of the workflow whose scope it is.
        """
        threads = self._not_empty([self.agent(agent) for agent in scope.agents])
        if len(threads) > 1 or scope.tools:
            threads = self._beside_callers(threads, scope.tools)
        models = tuple(scope.models)
        if of and models:
            models = self._without_utilities(models, [call for thread in threads for call in thread.models], of)
        pieces = [*threads, *(Thread(models=(call,)) for call in models)]
        pieces.sort(key=self._thread_rank)
        if len(pieces) == 1 and not scope.tools:
            return pieces
        continuity = Continuity(joins_agents=joins_agents, by_name=by_name)
        groups = continuity.group([thread.piece for thread in pieces])
        joined = [self._joined([pieces[at] for at in group]) for group in groups]
        return self._with_stray_tools(joined, scope.tools, continuity)

    def _with_stray_tools(
        self, threads: list[Thread], tools: Sequence[ToolCall], continuity: Continuity
    ) -> list[Thread]:
        """Give tool calls that no agent owns to the thread that asked for them, else to the one before."""
        homes: list[list[ToolCall]] = [[] for _ in threads]
        homeless: list[ToolCall] = []
        around = _Around([thread.piece for thread in threads] if tools else [])
        for tool in tools:
            at = continuity.asker(tool)
            if at is None:
                at = around.place(tool)
            (homeless if at is None else homes[at]).append(tool)
        done = [self._with_tools(t, own) if own else t for t, own in zip(threads, homes, strict=True)]
        if homeless:
            done.append(self._with_tools(Thread(), homeless))
        return sorted(done, key=self._thread_rank)

    def _beside_callers(self, threads: list[Thread], tools: Sequence[ToolCall]) -> list[Thread]:
        """Return the threads with each agent that ran for another one's tool call under that call."""
        callers = Callers([*tools, *(tool for thread in threads for tool in thread.tools)])
        ordered = sorted(threads, key=self._thread_rank)
        owner = {tool.key: at for at, thread in enumerate(ordered) for tool in thread.tools}
        called: list[list[Child]] = [[] for _ in ordered]
        free: list[Thread] = []
        for at in range(len(ordered) - 1, -1, -1):  # the last first: what it called is inside it by then
            thread = ordered[at]
            under = callers.of(asked_of(thread), answered_by(thread), thread.piece)
            host = owner.get(under, at) if under else at
            if called[at]:
                thread = replace(thread, children=(*thread.children, *called[at]))
            if host < at:
                called[host].append(Child(thread, under))
            else:
                free.append(thread)
        return free[::-1]

    # ---- joining -------------------------------------------------------------------------------

    def _joined(self, threads: Sequence[Thread]) -> Thread:
        """Return one thread of several that carry on one history, everything in order."""
        if len(threads) == 1:
            return threads[0]
        return Thread(
            agents=tuple(sorted((a for t in threads for a in t.agents), key=self._rank)),
            models=tuple(sorted((m for t in threads for m in t.models), key=self._rank)),
            tools=tuple(sorted((c for t in threads for c in t.tools), key=self._rank)),
            children=tuple(child for t in threads for child in t.children),
            outer=tuple(o for t in threads for o in t.outer),
            hint=next((t.hint for t in threads if t.hint), None),
            twins={key: twin for t in threads for key, twin in t.twins.items()},
        )

    def _not_empty(self, threads: Sequence[Thread]) -> list[Thread]:
        """Return the threads that hold something; the others are noted."""
        self.empty += [thread for thread in threads if thread.is_empty]
        return [thread for thread in threads if not thread.is_empty]

    def _rank(self, call: AgentCall | ModelCall | ToolCall) -> TimeKey:
        return self._scopes.rank[call.key]

    def _thread_rank(self, thread: Thread) -> TimeKey:
        return min(self._rank(call) for call in thread.calls)


def _only_name(scope: Scope) -> str | None:
    """Return the name of the only agent inside a tool: its calls may stand beside it, and not below (OpenLLMetry)."""
    names = {agent.agent for agent in scope.agents}
    return names.pop() if len(names) == 1 else None


def _hinted(thread: Thread, name: str | None) -> Thread:
    """Return the thread, named after what it ran in where nothing else names it."""
    return thread if thread.hint or not name else replace(thread, hint=name)


class _Around:
    """Find the thread that a tool call without an owner ran beside."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._bare = sorted((piece.start_ns, at) for at, piece in enumerate(pieces) if not piece.agents)
        self._only = pieces[0] if len(pieces) == 1 and not pieces[0].alone else None

    def place(self, tool: ToolCall) -> int | None:
        """Return the bare calls that began last before a tool call, else the only agent, if it ran in its time."""
        begun = bisect_right(self._bare, tool.start_ns, key=lambda pair: pair[0])
        if begun:
            return self._bare[begun - 1][1]
        only = self._only
        return 0 if only and only.start_ns <= tool.start_ns <= only.end_ns else None


def _is_twin(outer: ToolCall, inner: ToolCall) -> bool:
    """Tell whether a tool span inside another tells of the same call."""
    same_id = outer.id == inner.id or not outer.id or not inner.id
    same_arguments = not inner.arguments or arguments_mark(outer.arguments) == arguments_mark(inner.arguments)
    return outer.tool == inner.tool and same_id and same_arguments
