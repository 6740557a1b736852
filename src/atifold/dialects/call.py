"""Make one call out of one span: recognise the dialects, apply their rows, build the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from typing import Any, Final, NamedTuple

from atifold.calls import AgentCall, Call, Failure, ModelCall, ToolCall, Usage
from atifold.dialects import values
from atifold.dialects.failure import failure, tells_failure
from atifold.dialects.messages import shown
from atifold.dialects.parents import Parent
from atifold.dialects.table import CallKind, Dialect, Fields, Verdict, apply_rows, uses_of
from atifold.dialects.usage import normalise, total_of
from atifold.dialects.values import Note, word
from atifold.spans import Attributes, Span

_RECORDS: Final[dict[CallKind, type[ModelCall | ToolCall | AgentCall]]] = {
    CallKind.MODEL: ModelCall,
    CallKind.TOOL: ToolCall,
    CallKind.AGENT: AgentCall,
    CallKind.WORKFLOW: AgentCall,
}
_FIELDS: Final = {record: frozenset(field.name for field in dataclass_fields(record)) for record in _RECORDS.values()}
_UNKNOWN_SERVICE: Final = "unknown_service"


class Recognised(NamedTuple):
    """A span that records a call: which kind, which dialects it speaks, and the one that says so."""

    kind: CallKind
    spoken: tuple[Dialect, ...]
    dialect: str


def verdict(span: Span, spoken: Sequence[Dialect]) -> tuple[Verdict, str]:
    """Return what a span is, and in which dialect: what one states outright goes before what one can guess."""
    for dialect in spoken:
        said = dialect.classify(span)
        if said is not None:
            return said, dialect.name
    for dialect in spoken:
        said = dialect.guess(span)
        if said is not None:
            return said, dialect.name
    return None, ""


def make(span: Span, recognised: Recognised, parent: Parent, note: Note) -> Call:
    """Build the call that a span records."""
    kind, spoken, dialect = recognised
    found: Fields = {}
    for each in spoken:
        apply_rows(each, span.attributes, kind, found, note)
    for each in spoken:
        each.complete(span, kind, found, note)
    record = _RECORDS[kind]
    names = _FIELDS[record]
    kept, raw = _beside_rows(span.attributes, spoken)
    plain, figures, extra = _parted(found)
    plain["extra"] = {**kept, **extra}
    if figures and record is not ToolCall:
        has_content = bool(plain.get("input") or plain.get("output"))
        usage, total = Usage(**figures, raw=raw), total_of(span.attributes)
        plain["usage"] = normalise(usage, note, has_content=has_content, total=total)
    if kind is CallKind.WORKFLOW:
        plain["workflow"] = True
    if record is ToolCall and isinstance(plain.get("result"), str):
        plain["result"] = values.result(plain["result"], note)  # whichever dialect wrapped it twice
    plain.setdefault("failure", failure(span))
    if record is ToolCall and "result" in plain:
        plain["shown"] = shown(plain["result"], note)
        if plain["failure"] is None and tells_failure(plain["result"]):
            plain["failure"] = Failure()
    return record(
        key=span.key,
        parent=parent.key,
        orphan=parent.orphan,
        name=span.name,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        dialect=dialect,
        service=_service(span.resource),
        service_version=word(span.resource.get("service.version")),
        links=span.links,
        **{name: value for name, value in plain.items() if name in names},
    )


def _parted(found: Fields) -> tuple[Fields, dict[str, Any], dict[str, Any]]:
    """Return (the fields of the call, those of its usage, the entries of its `extra`)."""
    parts: dict[str, dict[str, Any]] = {"": {}, "usage": {}, "extra": {}}
    for name, value in found.items():
        head, dot, rest = name.partition(".")
        if dot:
            parts[head][rest] = value
        else:
            parts[""][name] = value
    return parts[""], parts["usage"], parts["extra"]


def _service(resource: Mapping[str, Any]) -> str | None:
    """Return the service's name, None for the name that an SDK makes up when nobody gave one."""
    name = word(resource.get("service.name"))
    return None if name is None or name.startswith(_UNKNOWN_SERVICE) else name


def _beside_rows(attributes: Attributes, spoken: tuple[Dialect, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (what a step keeps under its own names, the figures of usage as the trace has them), by name in order."""
    kept: dict[str, Any] = {}
    raw: dict[str, Any] = {}
    uses = uses_of(tuple(attributes), spoken)
    for name in uses.kept:
        if (value := values.plain(attributes[name])) is not None:
            kept[name] = value
    for name in uses.raw_usage:
        if (figure := values.number(attributes[name])) is not None:
            raw[name] = figure
    return kept, raw
