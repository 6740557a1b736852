"""Remember where ended spans were, for what is said of them afterwards."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple, TypeVar

from opentelemetry.trace import SpanContext

MOST_ENDED: Final = 10_000  # spans of one kind of name that are remembered

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class EndedRun(NamedTuple):
    """The outermost span of a run that has ended."""

    run_id: str
    session_id: str | None
    at: SpanContext


class EndedChat(NamedTuple):
    """An inference that has ended, and the provider's id of its answer."""

    at: SpanContext
    response_id: str | None


class Ended:
    """The contexts of ended spans, by what events name: run, call, stage, iteration; the oldest are forgotten."""

    def __init__(self) -> None:
        """Start with none."""
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self.runs: dict[str, EndedRun] = {}
        self.last_runs: dict[str | None, EndedRun] = {}  # by session
        self.stages: dict[tuple[str, str], SpanContext] = {}
        self.calls: dict[tuple[str, str], SpanContext] = {}
        self.session_calls: dict[tuple[str | None, str], SpanContext | None] = {}
        self.chats: dict[tuple[str, int], EndedChat] = {}

    def add_run(self, run_id: str, session_id: str | None, at: SpanContext) -> None:
        """Remember an agent or composition; the outermost of a run ends last and stays."""
        run = EndedRun(run_id, session_id, at)
        _keep(self.runs, run_id, run)
        _keep(self.last_runs, session_id, run)

    def add_call(self, run_id: str, session_id: str | None, call_id: str, at: SpanContext) -> None:
        """Remember a tool execution; an id that two calls of a session (or without one) had names none there."""
        _keep(self.calls, (run_id, call_id), at)
        for session in {session_id, None}:
            key = session, call_id
            _keep(self.session_calls, key, None if key in self.session_calls else at)

    def add_stage(self, run_id: str, stage_id: str, at: SpanContext) -> None:
        """Remember what a stage of the runner did."""
        _keep(self.stages, (run_id, stage_id), at)

    def add_chat(self, run_id: str, iteration: int, chat: EndedChat) -> None:
        """Remember the inference of an iteration."""
        _keep(self.chats, (run_id, iteration), chat)


def _keep(known: dict[K, V], key: K, value: V) -> None:
    known.pop(key, None)
    if len(known) >= MOST_ENDED:
        del known[next(iter(known))]
    known[key] = value
