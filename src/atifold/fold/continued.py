"""Say in a document of one trace where its history goes on in that of a later trace.

What a fold by conversation would join is one history: there the documents of single traces name the
next one's file (`continued_trajectory_ref`), as they lie side by side in a folder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from atifold.calls import Call
from atifold.filename import file_stem
from atifold.fold.building import threads_of
from atifold.fold.documents import Document
from atifold.fold.groups import Groups, group_by_conversation
from atifold.fold.scopes import scopes_of
from atifold.fold.threads import Thread
from atifold.spans import SpanKey

_BEFORE: Final = ("subagent_trajectories", "extra")
"""The fields of a document that stand after the reference."""

Written = tuple[Thread, Document]


def with_continuations(calls: Iterable[Call], written: Sequence[Written]) -> list[Document]:
    """Return the documents of single traces, each with the file of the one that carries it on, where there is one."""
    after = _followers(tuple(calls), written) if len(written) > 1 else {}
    return [
        _referring(document, after[document.name]) if document.name in after else document for _, document in written
    ]


def _followers(calls: Sequence[Call], written: Sequence[Written]) -> dict[str, str]:
    """Return the name of the document that follows each one in one history, by its name."""
    groups = group_by_conversation(calls)
    if not groups.join:
        return {}
    homes = _homes(calls, groups)
    histories: dict[int, list[Written]] = defaultdict(list)
    for thread, document in written:
        found = {homes.get(call.key) for call in thread.calls}
        home = found.pop() if len(found) == 1 else None
        if home is not None:
            histories[home].append((thread, document))
    after: dict[str, str] = {}
    for parts in histories.values():
        parts.sort(key=lambda part: (part[0].piece.start_ns, part[1].name))
        for (one, document), (other, following) in pairwise(parts):
            if one.piece.end_ns <= other.piece.start_ns and document.trace_ids != following.trace_ids:
                after[document.name] = following.name
    return after


def _homes(calls: Sequence[Call], groups: Groups) -> dict[SpanKey, int]:
    """Return the thread of each call, by number, where traces are joined by conversation."""
    scopes = scopes_of(calls, groups.group_of)
    roots, _ = threads_of(scopes, joins_agents=True)
    return {call.key: number for number, thread in enumerate(roots) for call in thread.calls}


def _referring(document: Document, following: str) -> Document:
    """Return the document with a reference, at its place in ATIF's order."""
    fields: Mapping[str, Any] = document.trajectory
    later = {name: fields[name] for name in fields if name in _BEFORE}
    head = {name: value for name, value in fields.items() if name not in later}
    return replace(document, trajectory={**head, "continued_trajectory_ref": f"{file_stem(following)}.json", **later})
