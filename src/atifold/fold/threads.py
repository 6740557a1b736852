"""Hold the calls of one document, and what ran inside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from atifold.calls import AgentCall, Call, ModelCall, ToolCall
from atifold.fold.continuity import Piece
from atifold.spans import SpanKey


@dataclass(frozen=True, slots=True)
class Child:
    """A thread that ran inside another: for the tool call `under`, or for none."""

    thread: Thread
    under: SpanKey | None = None


@dataclass(frozen=True)
class Thread:
    """The calls of one document.

    `agents` are those who ran here, legs of a pause included, in order; none for bare calls.
    `outer` are the transparent workflows and wrappers around them, innermost first. `workflow`
    is set where the thread is a workflow's own: it has no calls, its members are the children.
    `hint` names a thread that no agent names. `twins` gives, for a tool span inside another that tells of the
    same call, the outer one.
    """

    agents: tuple[AgentCall, ...] = ()
    models: tuple[ModelCall, ...] = ()
    tools: tuple[ToolCall, ...] = ()
    children: tuple[Child, ...] = ()
    outer: tuple[AgentCall, ...] = ()
    workflow: AgentCall | None = None
    hint: str | None = None
    twins: dict[SpanKey, SpanKey] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[AgentCall | ModelCall | ToolCall, ...]:
        """Return every call of the thread, those of its children left out."""
        own = (self.workflow,) if self.workflow else ()
        return (*self.outer, *own, *self.agents, *self.models, *self.tools)

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing is known that could become a step."""
        told = any(agent.input or agent.output for agent in self._everyone)
        return not (self.models or self.tools or self.children or told)

    @property
    def _everyone(self) -> tuple[AgentCall, ...]:
        """Return the agents, the workflow and all that is around them."""
        return (*self.agents, *self.outer, *((self.workflow,) if self.workflow else ()))

    @cached_property
    def piece(self) -> Piece:
        """Return the thread as what continuity joins."""
        return Piece(self.models, self.tools, self._everyone, alone=self.workflow is not None)


def calls_of(thread: Thread) -> Sequence[Call]:
    """Return the calls of a thread and of all that ran inside it."""
    found: list[Call] = []
    waiting = [thread]
    for at in waiting:
        found += at.calls
        waiting += [child.thread for child in at.children]
    return found
