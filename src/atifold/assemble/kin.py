"""Know which traces at hand may be of one history, by the facts that their folds gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from atifold.assemble.trace import SETTLED, Group, Job, Trace

if TYPE_CHECKING:
    from atifold.fold.kinship import Kinship

MOST: Final = 8
"""How many traces share a fact, or are folded beside another one: with more the latest count."""


class Kin:
    """An index of the traces at hand by what they give and take."""

    def __init__(self) -> None:
        """Start with none."""
        self._givers: dict[int, dict[str, Trace]] = {}
        self._takers: dict[int, dict[str, Trace]] = {}
        self._told: dict[str, int] = {}  # what was written last of documents that are folded again and again

    def note(self, trace: Trace, found: Sequence[Kinship]) -> Sequence[Trace]:
        """Take what the fold of a trace found; return the traces that are its kin and were not known to be."""
        self._leave(trace)
        gives = frozenset[int]().union(*(one.gives for one in found))
        takes = frozenset[int]().union(*(one.takes for one in found))
        trace.facts = gives, takes
        met = [*_met(self._givers, takes), *_met(self._takers, gives)]
        fresh = [other for other in dict.fromkeys(met) if other is not trace and other not in trace.kin]
        for other in fresh:
            trace.kin.add(other)
            other.kin.add(trace)
        for index, facts in ((self._givers, gives), (self._takers, takes)):
            for fact in facts:
                known = index.setdefault(fact, {})
                known[trace.id] = trace
                if len(known) > MOST:
                    del known[next(iter(known))]
        return fresh

    def beside(self, group: Group, max_bytes: int) -> Sequence[Trace]:
        """Return finished traces of which all is written and that are kin of a group's, or kin of these, nearest first.

        With the group they hold no more than `max_bytes`.
        """
        found: list[Trace] = []
        size, seen, waiting = group.size, {id(group)}, [*group.members.values()]
        for at in waiting:
            for other in sorted(at.kin, key=lambda trace: trace.id):
                near = other.group
                if id(near) in seen or len(found) >= MOST or size + near.size > max_bytes:
                    continue
                seen.add(id(near))
                members = list(near.members.values())
                if not near.changed and all(m.queue in SETTLED and not m.reasons() for m in members):
                    size += near.size
                    found += members
                    waiting += members
        return found

    def changed(self, digests: Mapping[str, int]) -> set[str]:
        """Return the names of documents that are not as they were when they were last seen here."""
        found = {name for name, digest in digests.items() if self._told.get(name) != digest}
        self._told.update(digests)
        return found

    def forget(self, trace: Trace) -> None:
        """Let go of a trace."""
        self._leave(trace)
        for other in trace.kin:
            other.kin.discard(trace)
        trace.kin.clear()
        for name in trace.names:
            self._told.pop(name, None)

    def _leave(self, trace: Trace) -> None:
        if trace.facts is None:
            return
        for index, facts in zip((self._givers, self._takers), trace.facts):  # noqa: B905 - a pair each
            for fact in facts:
                known = index.get(fact)
                if known is not None and known.pop(trace.id, None) is not None and not known:
                    del index[fact]


def _met(index: Mapping[int, Mapping[str, Trace]], facts: frozenset[int]) -> Iterator[Trace]:
    return (trace for fact in facts for trace in index.get(fact, {}).values())


def kinship_in(trace: Trace, job: Job, found: Mapping[str, Kinship]) -> list[Kinship]:
    """Return what a fold found of a trace: under its id, of records without a trace what is no other trace's."""
    ids = found.keys() - {other.id for other in job.traces} if trace.sessional else found.keys() & {trace.id}
    return [found[name] for name in ids]
