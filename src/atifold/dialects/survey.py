"""Say what spans and log records speak: dialects, versions, and what nobody reads of them.

A span counts for the dialect that says what it is, else for the first whose mark it bears. A log record
that names a span at hand counts for that span's dialect; one that does not, for the dialect that makes
spans of records of its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from atifold.calls import Reading
from atifold.dialects.call import verdict
from atifold.dialects.logs import attach
from atifold.dialects.reading import read
from atifold.dialects.registry import DIALECTS
from atifold.dialects.spoken import spoken
from atifold.dialects.table import CallKind, Dialect
from atifold.spans import LogRecord, Span


@dataclass(slots=True)
class Spoken:
    """What is there of one dialect.

    `spans` say in it what they are, `beside` bear its mark and say that in another one; `calls` are
    those of `spans` that are calls. `versions` counts spans by what their attributes tell, `scopes` by
    instrumentation and its version.
    """

    dialect: Dialect
    spans: int = 0
    beside: int = 0
    calls: int = 0
    log_records: int = 0
    versions: Counter[str] = field(default_factory=Counter[str])
    scopes: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class Unspoken:
    """Spans, or log records, that speak no dialect: how many, of which scopes, with which keys or names."""

    number: int = 0
    scopes: Counter[str] = field(default_factory=Counter[str])
    keys: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class Survey:
    """What there is, in the order of the registry; `reading` is what was made of it."""

    spans: int
    log_records: int
    dialects: dict[str, Spoken]
    unspoken: Unspoken
    loose: Unspoken
    reading: Reading


def survey(spans: Sequence[Span], logs: Sequence[LogRecord]) -> Survey:
    """Return what spans and log records speak; each span counts once."""
    distinct = {span.key: span for span in spans}
    found = {dialect.name: Spoken(dialect) for dialect in DIALECTS}
    unspoken, loose = Unspoken(), Unspoken()
    at_hand, _ = attach(distinct, logs)
    homes = {key: _take(span, found, unspoken) for key, span in at_hand.items()}
    stray: dict[str, list[LogRecord]] = {}
    for record in logs:
        home = homes.get((record.trace_id or "", record.span_id or ""))
        if home is not None:
            found[home].log_records += 1
        else:
            stray.setdefault(record.name, []).append(record)
    for records in stray.values():
        maker = next((dialect.name for dialect in DIALECTS if any(dialect.from_logs(records))), None)
        if maker is not None:
            found[maker].log_records += len(records)
        for record in records if maker is None else ():
            _add(loose, _scope(record), [record.name or "(no name)"])
    there = {name: one for name, one in found.items() if one.spans or one.beside or one.log_records}
    return Survey(len(distinct), len(logs), there, unspoken, loose, read(spans, logs))


def _take(span: Span, found: dict[str, Spoken], unspoken: Unspoken) -> str | None:
    """Count a span, and return the dialect that it counts for; None for none."""
    speaks = spoken(span)
    if not speaks:
        _add(unspoken, _scope(span), span.attributes)
        return None
    said, name = verdict(span, speaks)
    home = name or speaks[0].name
    for dialect in speaks:
        one = found[dialect.name]
        one.spans += dialect.name == home
        one.beside += dialect.name != home
        one.scopes[_scope(span)] += 1
        if version := dialect.about.generation_of(span):
            one.versions[version] += 1
    found[home].calls += isinstance(said, CallKind)
    return home


def _add(unspoken: Unspoken, scope: str, keys: Iterable[str]) -> None:
    unspoken.number += 1
    unspoken.scopes[scope] += 1
    unspoken.keys.update(list(keys))  # of a mapping its values would be added


def _scope(item: Span | LogRecord) -> str:
    """Return an instrumentation scope with its version, as `scope 1.0`."""
    return f"{item.scope_name or '(no scope)'} {item.scope_version}".rstrip()
