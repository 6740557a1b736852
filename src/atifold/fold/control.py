"""Tell whether control passes from an agent to one inside it, and what a thread was asked and answered."""

from __future__ import annotations

from collections.abc import Sequence

from atifold.calls import Message
from atifold.fold.continuity import asks_transfer, begins_with, said_by
from atifold.fold.messages import Mark, text_of
from atifold.fold.threads import Thread


class Control:
    """Tell whether control went from an agent to one nested in it for good."""

    def __init__(self, thread: Thread) -> None:
        """Start with the agent that has control."""
        self._said: set[Mark] = set()
        self._last_ns = 0
        self._transfers = False
        self.goes_on(thread)

    def goes_on(self, thread: Thread) -> None:
        """Take in what the agent, or the one that it handed over to, did."""
        self._said |= said_by(thread.models)
        self._last_ns = max([self._last_ns, *(call.start_ns for call in (*thread.models, *thread.tools))])
        self._transfers = asks_transfer(thread.models, thread.tools)

    def passes_to(self, inner: Thread, *, crowd: bool) -> bool:
        """Tell whether control stays with a nested agent; in a `crowd`, others ran at its time.

        It does by the agent's own word, or where nobody is called after it and a transfer was asked
        for or its history continues what was said.
        """
        if any(agent.delegated for agent in inner.agents) or inner.workflow is not None:
            return False
        if any(agent.handoff for agent in inner.agents):
            return True
        if self._last_ns >= inner.piece.end_ns:
            return False
        return begins_with(inner.models, self._said) or (self._transfers and not crowd)


def asked_of(thread: Thread) -> str:
    """Return the user text that a thread began with; "" where it is not known."""
    told = next((call.input for call in thread.models if call.input), None)
    told = told or next((agent.input for agent in thread.agents if agent.input), ())
    return text_of(last_of(told, "user")).strip()


def answered_by(thread: Thread) -> str:
    """Return the text that a thread ended with; "" where it is not known."""
    if thread.models and thread.models[-1].output:
        return text_of(thread.models[-1].output).strip()
    told = next((agent.output for agent in reversed(thread.agents) if agent.output), ())
    return text_of(last_of(told, "assistant")).strip()


def last_of(messages: Sequence[Message], role: str) -> tuple[Message, ...]:
    """Return the last message of a role, as a tuple of none or one."""
    return tuple(m for m in messages if m.role == role)[-1:]
