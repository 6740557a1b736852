"""Make one call out of one span: recognise the dialects, apply their rows, build the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from typing import Any, Final

from atifold.calls import AgentCall, Call, ModelCall, ToolCall, Usage
from atifold.dialects import values
from atifold.dialects.failure import failure
from atifold.dialects.table import CallKind, Dialect, Fields, Verdict, apply_rows
from atifold.dialects.usage import normalise
from atifold.dialects.values import Note
from atifold.spans import Attributes, Span

_RECORDS: Final[dict[CallKind, type[ModelCall | ToolCall | AgentCall]]] = {
    CallKind.MODEL: ModelCall,
    CallKind.TOOL: ToolCall,
    CallKind.AGENT: AgentCall,
    CallKind.WORKFLOW: AgentCall,
}
_FIELDS: Final = {record: frozenset(field.name for field in dataclass_fields(record)) for record in _RECORDS.values()}
_UNKNOWN_SERVICE: Final = "unknown_service"


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


def make(span: Span, kind: CallKind, spoken: Sequence[Dialect], dialect: str, note: Note) -> Call:
    """Build the call that a span records. `parent` is None until all spans are known."""
    found: Fields = {}
    for each in spoken:
        apply_rows(each, span.attributes, kind, found, note)
    for each in spoken:
        each.complete(span, kind, found, note)
    record = _RECORDS[kind]
    found["extra"] = {**_kept(span.attributes, spoken), **_taken(found, "extra.")}
    figures = _taken(found, "usage.")
    if figures and record is not ToolCall:
        has_content = bool(found.get("input") or found.get("output"))
        found["usage"] = normalise(
            Usage(**figures, raw=_raw_usage(span.attributes, spoken)), note, has_content=has_content
        )
    if kind is CallKind.WORKFLOW:
        found["workflow"] = True
    found.setdefault("failure", failure(span))
    return record(
        key=span.key,
        parent=None,
        name=span.name,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        dialect=dialect,
        service=_service(span.resource),
        service_version=_word(span.resource.get("service.version")),
        links=span.links,
        **{name: value for name, value in found.items() if name in _FIELDS[record]},
    )


def _taken(found: Fields, prefix: str) -> dict[str, Any]:
    """Take the fields of one prefix out, and return them without it."""
    return {name.removeprefix(prefix): found.pop(name) for name in list(found) if name.startswith(prefix)}


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _service(resource: Mapping[str, Any]) -> str | None:
    """Return the service's name, None for the name that an SDK makes up when nobody gave one."""
    name = _word(resource.get("service.name"))
    return None if name is None or name.startswith(_UNKNOWN_SERVICE) else name


def _kept(attributes: Attributes, spoken: Sequence[Dialect]) -> dict[str, Any]:
    """Return the attributes that a step keeps under their own names, in the order of their names."""
    found: dict[str, Any] = {}
    for name in sorted(attributes):
        for dialect in spoken:
            if name in dialect.kept or (
                name.startswith(dialect.kept_prefixes)
                and name not in dialect.row_names
                and name not in dialect.known
                and not name.startswith(dialect.raw_usage)
            ):
                value = values.plain(attributes[name])
                if value is not None:
                    found[name] = value
                break
    return found


def _raw_usage(attributes: Attributes, spoken: Sequence[Dialect]) -> dict[str, Any]:
    """Return the figures of usage as the trace has them, by its own names."""
    prefixes = tuple(prefix for dialect in spoken for prefix in dialect.raw_usage)
    return {
        name: figure
        for name in sorted(attributes)
        if name.startswith(prefixes) and (figure := values.number(attributes[name])) is not None
    }
