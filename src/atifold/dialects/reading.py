"""Read spans into calls: one pass over the spans, then the tree, then calls that were traced twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from atifold.calls import AgentCall, Call, ModelCall, Reading
from atifold.dialects.adopting import adopted
from atifold.dialects.call import Recognised, make, verdict
from atifold.dialects.choices import chosen
from atifold.dialects.content import TRUNCATED
from atifold.dialects.cut_messages import CUT, completed
from atifold.dialects.frames import frames
from atifold.dialects.linked import linked
from atifold.dialects.logs import attach, distinct
from atifold.dialects.lookups import is_lookup, with_lookups
from atifold.dialects.merge import merge
from atifold.dialects.openinference import OPENINFERENCE, is_node
from atifold.dialects.parents import Parent, resolve
from atifold.dialects.placing import placed, with_own_tools
from atifold.dialects.registry import DIALECTS
from atifold.dialects.rounds import fill
from atifold.dialects.shape import settle
from atifold.dialects.spoken import spoken
from atifold.dialects.table import CallKind, uses_of
from atifold.dialects.unread import holds_content
from atifold.dialects.values import Note
from atifold.spans import LogRecord, Span, SpanKey

NO_ROOT: Final = "no_root"
"""The reason for which a call is incomplete that hangs from a span which is not there, in a trace without a root."""

_NOISE: Final = (
    ("http.request.method", "http"),
    ("http.method", "http"),
    ("db.system.name", "database"),
    ("db.system", "database"),
    ("rpc.system.name", "rpc"),
    ("rpc.system", "rpc"),
    ("messaging.system", "messaging"),
)
"""Attribute names that tell what a span that no dialect speaks is about."""

_INDEX: Final = re.compile(r"(?<=\.)\d+(?=\.|$)")


class _Tally:
    """What is counted and said while spans are read."""

    def __init__(self) -> None:
        self.ignored: dict[SpanKey, str] = {}
        self.dialects: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.notes: list[str] = []
        self.memory = Note().memory


def read(spans: Iterable[Span], logs: Iterable[LogRecord] = ()) -> Reading:
    """Return the calls that spans and log records tell of, whatever dialects they speak, each call once.

    Spans may come in any order and of any number of traces; two with the same ids are one span. A log
    record is part of the span that it names; of the others each dialect may make spans.
    Never raises for what a span holds: what cannot be read is left out or kept as text, and said in
    the notes.
    """
    at_hand, rounds = _all(spans, logs)
    tally = _Tally()
    recognised = {key: found for key, span in at_hand.items() if (found := _recognise(span, tally)) is not None}
    for key in frames(at_hand, recognised.keys()):
        recognised[key] = Recognised(CallKind.AGENT, spoken(at_hand[key]), OPENINFERENCE.name)
        del tally.ignored[key]
    beside = [key for key, span in at_hand.items() if key not in recognised and is_lookup(span)]
    plain, cut = resolve(at_hand, recognised.keys(), tally.ignored)
    parents = adopted(at_hand, plain, {key: each.kind for key, each in recognised.items()})
    tally.notes += [f"{at_hand[key].name}: parents that form a circle, taken as a root" for key in cut]
    calls = [_read_span(at_hand[key], found, parents[key], tally) for key, found in recognised.items()]
    merged, notes, into = merge(completed(_real(calls, at_hand, tally)))
    single, several = chosen(merged)
    told = with_lookups(fill(single, rounds), [(at_hand[key], parents[key].key) for key in beside])
    return Reading(
        calls=tuple(_without_root(settle(with_own_tools(placed(told))), at_hand)),
        ignored=dict(sorted(Counter(tally.ignored.values()).items())),
        dialects=dict(sorted(tally.dialects.items())),
        notes=_counted(tally.notes + notes + several),
        unknown_keys=dict(sorted(tally.unknown.items())),
        merged=into,
        passed_over=_passed_over(tally.ignored, parents, into),
        linked=_kept(linked(at_hand, recognised.keys(), parents), into),
    )


def _kept(found: Mapping[SpanKey, SpanKey], into: Mapping[SpanKey, SpanKey]) -> dict[SpanKey, SpanKey]:
    """Return what is linked to what, of the calls that are left of those that were traced twice."""
    return {into.get(key, key): into.get(target, target) for key, target in found.items()}


def _without_root(calls: Iterable[Call], spans: Mapping[SpanKey, Span]) -> list[Call]:
    """Return the calls, each that hangs by itself from a root which never came marked so.

    An agent is whole without what is around it, as in a program that another one called.
    """
    rooted = {trace_id for (trace_id, _), span in spans.items() if span.parent_id is None}
    return [replace(call, incomplete=(*call.incomplete, NO_ROOT)) if _hangs(call, rooted) else call for call in calls]


def _hangs(call: Call, rooted: Collection[str]) -> bool:
    return call.orphan and call.parent is None and not isinstance(call, AgentCall) and call.key[0] not in rooted


def _passed_over(
    ignored: Mapping[SpanKey, str], parents: Mapping[SpanKey, Parent], into: Mapping[SpanKey, SpanKey]
) -> dict[SpanKey, Counter[str]]:
    """Count spans that are no calls, by reason, for each call around them, (trace id, "") for none."""
    found: dict[SpanKey, Counter[str]] = {}
    for key, reason in ignored.items():
        around = parents[key].key
        while around is not None and around in ignored:  # what first looked like a call
            around = parents[around].key
        home = (key[0], "") if around is None else into.get(around, around)
        found.setdefault(home, Counter())[reason] += 1
    return found


def _all(spans: Iterable[Span], logs: Iterable[LogRecord]) -> tuple[Mapping[SpanKey, Span], list[Sequence[SpanKey]]]:
    """Return (each span once, and which of them are parts of one, in their order).

    Log records are part of the spans that they name; of the others dialects make spans.
    """
    found, records = _gathered(_distinct(spans), distinct(logs))
    at_hand, loose = attach(found, records)
    made = [span for dialect in DIALECTS for span in dialect.from_logs(loose)] if loose else []
    at_hand = {**at_hand, **{span.key: span for span in made}} if made else at_hand
    several = {key: parts for key, span in at_hand.items() if len(parts := _parts(span)) > 1}
    if several:
        at_hand = {part.key: part for key, span in at_hand.items() for part in several.get(key, (span,))}
    return at_hand, [[part.key for part in parts] for parts in several.values()]


def _gathered(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    """Return the spans and the records as the dialects put them together whose calls are told by several."""
    for dialect in DIALECTS:
        spans, logs = dialect.gather(spans, logs)
    return spans, logs


def _real(calls: list[Call], spans: Mapping[SpanKey, Span], tally: _Tally) -> list[Call]:
    """Return the calls without agents that are none: nameless nodes of a graph around nothing.

    LangChain's instrumentation takes whatever holds the word `agent` in its name for one.
    """
    around = {call.parent for call in calls}
    nodes = {
        call.key
        for call in calls
        if isinstance(call, AgentCall) and call.agent is None and call.key not in around and is_node(spans[call.key])
    }
    if not nodes:
        return calls
    tally.ignored |= dict.fromkeys(nodes, "graph node")
    tally.dialects -= Counter(call.dialect for call in calls if call.key in nodes)
    return [call for call in calls if call.key not in nodes]


def _parts(span: Span) -> Sequence[Span]:
    """Return the calls that a span stands for, as spans: itself, unless its events tell of several."""
    if len(span.events) > 1:
        for dialect in spoken(span):
            parts = dialect.divide(span)
            if len(parts) > 1:
                return parts
    return (span,)


def _counted(notes: list[str]) -> tuple[str, ...]:
    """Return the notes in the order of their text, each once with how often it was made."""
    counts = Counter(notes)
    return tuple(note if counts[note] == 1 else f"{note} ({counts[note]} times)" for note in sorted(counts))


def _distinct(spans: Iterable[Span]) -> Mapping[SpanKey, Span]:
    """Return each span once; of two exports of one span the fuller one counts."""
    found: dict[SpanKey, Span] = {}
    for span in spans:
        other = found.get(span.key)
        if other is None or (span != other and _fullness(span) > _fullness(other)):
            found[span.key] = span
    return found


def _fullness(span: Span) -> tuple[bool, int, int, str]:
    """Order exports of one span: ended before open, more before less, and by their text when all is equal."""
    return span.end_ns is not None, len(span.attributes), len(span.events), repr(span)


def _recognise(span: Span, tally: _Tally) -> Recognised | None:
    """Return what makes a span a call; None for one that is none, which is counted."""
    spoken_here = spoken(span)
    said, dialect = verdict(span, spoken_here)
    if isinstance(said, CallKind):
        return Recognised(said, spoken_here, dialect)
    reason = said.reason if said is not None else _noise(span, speaks=bool(spoken_here))
    tally.ignored[span.key] = reason
    return None


def _read_span(span: Span, recognised: Recognised, parent: Parent, tally: _Tally) -> Call:
    note = Note(memory=tally.memory)
    call = make(span, recognised, parent, note)
    tally.dialects[recognised.dialect] += 1
    tally.notes += [f"{span.name}: {remark}" for remark in note.remarks]
    unknown = uses_of(tuple(span.attributes), recognised.spoken).unknown
    if unknown:
        tally.unknown.update(_INDEX.sub("N", name) for name in unknown)
    if isinstance(call, ModelCall) and call.input is None and call.output is None and holds_content(span, unknown):
        call = replace(call, content_unread=True)
    if any(TRUNCATED in remark for remark in note.remarks):
        return replace(call, incomplete=(*call.incomplete, CUT))
    return call


def _noise(span: Span, *, speaks: bool) -> str:
    if speaks:
        return "no call"
    return next((what for name, what in _NOISE if name in span.attributes), "no dialect")
