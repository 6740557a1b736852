"""Fold calls into trajectories: pure, independent of the order of the input, linear in its size.

Two stages. `building` finds which calls are one agent's one history and who ran for whom; `steps`
turns each thread into the steps of a document. What was inferred, merged, missing or left out is
said in the report (`report` has its shape).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from atifold.calls import AgentCall, Call, Reading
from atifold.fold.building import threads_of
from atifold.fold.continued import with_continuations
from atifold.fold.documents import Document, write
from atifold.fold.doubts import Doubts
from atifold.fold.groups import Groups, group_by_conversation, group_by_trace
from atifold.fold.kinship import kinship_of
from atifold.fold.linked import Linked, with_linked
from atifold.fold.pictures import Pictures
from atifold.fold.report import Heading, whole_report, with_words
from atifold.fold.scopes import scopes_of
from atifold.fold.spanwork import TWICE, SpanWork
from atifold.fold.threads import Thread, calls_of

__all__ = ["Document", "Folded", "fold", "kinship_of"]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a fold gives: the documents, in order of their start, and the report of the whole."""

    documents: tuple[Document, ...]
    report: dict[str, Any]


def fold(
    reading: Reading,
    *,
    group: Literal["trace", "conversation"] = "trace",
    files: bool = False,
) -> Folded:
    """Fold a reading into documents.

    With `trace` each trace is folded apart, except that a leg which resumes a paused agent joins
    that agent's document. With `conversation` traces of one conversation id are folded together, and
    those without one that plainly carry on another's messages or are linked to it, their agents joined in
    order where nothing speaks against it. `files` says that documents lie side by side in a folder: images
    that a trace holds as data become files of theirs (`Document.files`), and the document of a trace names
    the file of the one that carries it on; without, the data is left out.
    """
    links = with_linked(reading) if group == "conversation" else Linked(reading)
    reading = links.reading
    calls: tuple[Call, ...] = reading.calls
    groups = group_by_conversation(calls, links) if group == "conversation" else group_by_trace(calls)
    scopes = scopes_of(calls, groups.group_of)
    roots, empty = threads_of(scopes, joins_agents=group == "conversation")
    taken: set[str] = set()
    doubts = Doubts(scopes.calls)
    written = [write(root, scopes, doubts, taken, Pictures() if files else None) for root in roots]
    work = SpanWork(reading)
    there = [(root, _told(document, work.of(calls_of(root)), groups)) for root, document in _present(roots, written)]
    documents = with_continuations(calls, there) if files and group == "trace" else [document for _, document in there]
    stepless = [*empty, *(root for root, document in zip(roots, written, strict=True) if document is None)]
    left_out = [f"no step: {_name(thread.agents or thread.outer)}" for thread in stepless]
    about = {
        "dialects": dict(sorted(reading.dialects.items())),
        "ignored": dict(sorted(reading.ignored.items())),
        "notes": sorted(reading.notes),
        "unknown_keys": dict(sorted(reading.unknown_keys.items())),
    }
    return Folded(tuple(documents), whole_report([document.report for document in documents], about, left_out))


def _present(roots: Sequence[Thread], written: Sequence[Document | None]) -> list[tuple[Thread, Document]]:
    """Return the threads of which a document came, with it."""
    return [(root, document) for root, document in zip(roots, written, strict=True) if document is not None]


def _told(document: Document, spans: Mapping[str, Any], groups: Groups) -> Document:
    """Return the document with what there is to say of its spans, and of how its traces were grouped."""
    words: list[tuple[Heading, str]] = [groups.words[i] for i in document.trace_ids if i in groups.words]
    words += [("merged", TWICE)] * spans.get("merged", 0)
    report = with_words(document.report, words)
    head = {name: report.pop(name) for name in ("name", "trace_ids", "dialects")}
    return replace(document, report={**head, "spans": spans, **report})


def _name(agents: tuple[AgentCall, ...]) -> str:
    """Return what to call an agent that left no step."""
    return next((f"agent {a.agent}" if a.agent else a.name for a in agents), "calls without an agent")
