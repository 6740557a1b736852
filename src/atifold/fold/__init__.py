"""Fold calls into trajectories: pure, independent of the order of the input, linear in its size.

Two stages. `threads` finds which calls are one agent's one history and who ran for whom; `steps`
turns each thread into the steps of a document. What was inferred, merged, missing or left out is
said in the report (`report` has its shape).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from atifold.calls import AgentCall, Call, Reading
from atifold.fold.documents import Document, write
from atifold.fold.doubts import Doubts
from atifold.fold.groups import group_by_conversation
from atifold.fold.pictures import Pictures
from atifold.fold.report import whole_report
from atifold.fold.scopes import scopes_of
from atifold.fold.threads import threads_of

__all__ = ["Document", "Folded", "fold"]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a fold gives: the documents, in order of their start, and the report of the whole."""

    documents: tuple[Document, ...]
    report: dict[str, Any]


def fold(reading: Reading, *, group: Literal["trace", "conversation"] = "trace", files: bool = False) -> Folded:
    """Fold a reading into documents.

    With `trace` each trace is folded apart, except that a leg which resumes a paused agent joins
    that agent's document. With `conversation` traces of one conversation id are folded together,
    their agents joined in order where nothing speaks against it. With `files` images that a trace holds
    as data become files of the documents (`Document.files`); without, their data is left out.
    """
    calls: tuple[Call, ...] = reading.calls
    groups = group_by_conversation(calls) if group == "conversation" else {}
    scopes = scopes_of(calls, lambda trace_id: groups.get(trace_id, trace_id))
    roots, empty = threads_of(scopes, joins_agents=group == "conversation")
    taken: set[str] = set()
    doubts = Doubts(scopes.calls)
    written = [write(root, scopes, doubts, taken, Pictures() if files else None) for root in roots]
    documents = tuple(document for document in written if document is not None)
    stepless = [*empty, *(root for root, document in zip(roots, written, strict=True) if document is None)]
    left_out = [f"no step: {_name(thread.agents or thread.outer)}" for thread in stepless]
    about = {
        "dialects": dict(sorted(reading.dialects.items())),
        "ignored": dict(sorted(reading.ignored.items())),
        "notes": sorted(reading.notes),
        "unknown_keys": dict(sorted(reading.unknown_keys.items())),
    }
    return Folded(documents, whole_report([document.report for document in documents], about, left_out))


def _name(agents: tuple[AgentCall, ...]) -> str:
    """Return what to call an agent that left no step."""
    return next((f"agent {a.agent}" if a.agent else a.name for a in agents), "calls without an agent")
