"""Hold what a dialect is, as data, and apply it to a span.

A dialect is a marker (does this span speak it), a classifier (which kind of call it is), rows (which
attribute names, newest first, feed which field of the call) and, where the shape needs it, a reader
that builds messages out of several attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple, Union

from atifold.calls import MISSING
from atifold.dialects.about import About
from atifold.dialects.values import Note, Reader, text
from atifold.spans import Attributes, LogRecord, Span, SpanKey


class CallKind(Enum):
    """Which record a span becomes."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"
    WORKFLOW = "workflow"

    __hash__ = object.__hash__  # there is one of each; Enum's own is Python code, and every span asks for it


class Ignored(NamedTuple):
    """Why a span of a known dialect is no call, in the word under which it is counted."""

    reason: str


Verdict = Union[CallKind, Ignored, None]
"""What a classifier says; None leaves the span to the next dialect."""

ALL: Final = frozenset(CallKind)
AGENTS: Final = frozenset({CallKind.AGENT, CallKind.WORKFLOW})
MODELS: Final = frozenset({CallKind.MODEL})
TOOLS: Final = frozenset({CallKind.TOOL})
MODELS_AND_AGENTS: Final = MODELS | AGENTS


class Row(NamedTuple):
    """Feed one field of a call from the first of some attributes that says something.

    `field` is a field of the call, or `usage.X` for a field X of its usage. `names` stand newest
    first. `kinds` are the calls that the row is for.
    """

    field: str
    names: tuple[str, ...]
    read: Reader = text
    kinds: frozenset[CallKind] = ALL


Fields = dict[str, Any]
"""Fields of a call in the making, by name; usage figures as `usage.X`, entries of `extra` as `extra.X`."""

Complete = Callable[[Span, CallKind, Fields, Note], None]
"""Fill in what no single attribute holds; fields that are there already stay."""


def _complete_nothing(_span: Span, _kind: CallKind, _fields: Fields, _note: Note) -> None:
    return


def _make_none(_logs: Sequence[LogRecord]) -> Iterable[Span]:
    return ()


def _leave_whole(span: Span) -> Sequence[Span]:
    return (span,)


Gather = Callable[[Mapping[SpanKey, Span], Sequence[LogRecord]], "tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]"]
"""Return all spans and the records that are left, of all spans and all records."""


def _gather_nothing(
    spans: Mapping[SpanKey, Span], logs: Sequence[LogRecord]
) -> tuple[Mapping[SpanKey, Span], Sequence[LogRecord]]:
    return spans, logs


def _say_nothing(_span: Span) -> Verdict:
    return None


_UNTOLD: Final = About()


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One way of writing an agent's work into spans.

    `marks` looks at the names of attributes only, never at scope or producer; with `marks_events` at events too.
    `classify` says what the span states outright, `guess` what can be told from the names of its
    attributes when no dialect says anything outright.
    `kept` are attributes that go into `extra` under their own names; `known` and `known_prefixes`
    are those that are read in another way or left out on purpose, and so are no unknown keys.
    `raw_usage` are prefixes of figures that `Usage.raw` keeps.
    `from_logs` makes spans of the log records that belong to no span at hand, for a program that tells
    of its work in records alone; their ids must depend on the records only. `divide` takes a span apart
    that stands for several calls, as its events tell; the span's own key stays with one of the parts.
    `gather` comes before both, for a dialect whose calls are told by several spans and records together:
    it gives back the spans with what belongs to them, and those that it made of records; spans and records
    of other dialects stay as they are. `about` is for people: README's table is made of it.
    """

    name: str
    marks: Callable[[Span], bool]
    rows: tuple[Row, ...]
    classify: Callable[[Span], Verdict] = _say_nothing
    guess: Callable[[Span], Verdict] = _say_nothing
    complete: Complete = _complete_nothing
    kept: frozenset[str] = frozenset()
    kept_prefixes: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    known_prefixes: tuple[str, ...] = ()
    raw_usage: tuple[str, ...] = ()
    marks_events: bool = False
    from_logs: Callable[[Sequence[LogRecord]], Iterable[Span]] = _make_none
    divide: Callable[[Span], Sequence[Span]] = _leave_whole
    about: About = _UNTOLD
    gather: Gather = _gather_nothing
    row_names: frozenset[str] = field(init=False, default=frozenset())
    rows_by_kind: Mapping[CallKind, tuple[Row, ...]] = field(
        init=False, default_factory=dict[CallKind, tuple[Row, ...]]
    )
    rows_by_name: Mapping[CallKind, Mapping[str, tuple[int, ...]]] = field(
        init=False, default_factory=dict[CallKind, "Mapping[str, tuple[int, ...]]"]
    )

    def __post_init__(self) -> None:
        """Index the rows by the kind of call that they are for, and their places there by attribute."""
        names = frozenset(name for row in self.rows for name in row.names)
        by_kind = {kind: tuple(row for row in self.rows if kind in row.kinds) for kind in CallKind}
        by_name = {
            kind: {name: tuple(at for at, row in enumerate(rows) if name in row.names) for name in names}
            for kind, rows in by_kind.items()
        }
        object.__setattr__(self, "row_names", names)
        object.__setattr__(self, "rows_by_kind", by_kind)
        object.__setattr__(self, "rows_by_name", by_name)

    def reads(self, name: str) -> bool:
        """Tell whether an attribute of this name is read, or left out on purpose."""
        return (
            name in self.row_names
            or name in self.kept
            or name in self.known
            or name.startswith(self.known_prefixes + self.kept_prefixes)
        )

    def keeps(self, name: str) -> bool:
        """Tell whether an attribute of this name goes into `extra`."""
        return name in self.kept or (
            name.startswith(self.kept_prefixes)
            and name not in self.row_names
            and name not in self.known
            and not name.startswith(self.raw_usage)
        )


_MOST_SHAPES: Final = 1024
"""Sets of attribute names that are remembered, with what becomes of them."""


class Uses(NamedTuple):
    """Names of attributes, in order, by what becomes of them beside the rows: kept, a raw figure, known to nobody."""

    kept: tuple[str, ...]
    raw_usage: tuple[str, ...]
    unknown: tuple[str, ...]


@lru_cache(maxsize=_MOST_SHAPES)
def uses_of(names: tuple[str, ...], spoken: tuple[Dialect, ...]) -> Uses:
    """Return what the dialects that a span speaks make of the names of its attributes."""
    names = tuple(sorted(names))
    return Uses(
        tuple(name for name in names if any(dialect.keeps(name) for dialect in spoken)),
        tuple(name for name in names if any(name.startswith(dialect.raw_usage) for dialect in spoken)),
        tuple(name for name in names if not any(dialect.reads(name) for dialect in spoken)),
    )


def apply_rows(dialect: Dialect, attributes: Attributes, kind: CallKind, fields: Fields, note: Note) -> None:
    """Fill the fields that a dialect's rows can feed and that are not filled yet."""
    for row in _rows_for(dialect, kind, tuple(attributes)):
        if row.field not in fields:
            value = read_row(row, attributes, note)
            if value is not MISSING:
                fields[row.field] = value


@lru_cache(maxsize=_MOST_SHAPES)
def _rows_for(dialect: Dialect, kind: CallKind, names: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the rows that attributes of these names can feed: a program's spans have few sets of them."""
    rows, places = dialect.rows_by_kind[kind], dialect.rows_by_name[kind]
    return tuple(rows[at] for at in sorted({at for name in names if name in places for at in places[name]}))


def read_row(row: Row, attributes: Attributes, note: Note) -> Any:
    """Return what the first of a row's attributes says that says something, else MISSING."""
    for name in row.names:
        if name in attributes:
            value = row.read(attributes[name], note)
            if value is not MISSING:
                return value
    return MISSING
