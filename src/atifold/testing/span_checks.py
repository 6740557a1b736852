"""Apply the rules to one span."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

from atifold.semconv import CONVERSATION, ERROR_TYPE, OPERATION
from atifold.spans import Span, Status
from atifold.testing.attributes import Wanted, current, of_attribute
from atifold.testing.conventions import INVENTED_UNDER, TEXTS, row_name
from atifold.testing.fault import Fault
from atifold.testing.span_rules import MCP_NEEDS, OLD_EVENTS, SPAN_TYPES, SpanType
from atifold.testing.values import is_structured, shown

METHOD: Final = "mcp.method.name"
_STATUS: Final = "status"

Found = Iterator[tuple[str, str]]
"""Pairs of attribute (or empty) and rule."""


class Subject(NamedTuple):
    """A span with current names, and what it is held against."""

    span: Span
    attributes: dict[str, Any]
    type_name: str
    row: SpanType
    wanted: Wanted


def faults_of(span: Span, wanted: Wanted) -> list[Fault]:
    """Return what is wrong with a span; nothing for one that says nothing of GenAI or MCP."""
    item = f"{span.name} [{span.span_id}]"
    attributes = current(span.attributes, compat=wanted.compat)
    if not any(name.startswith(INVENTED_UNDER) for name in attributes):
        return []
    type_name = type_of(span, attributes)
    if type_name is None:
        return [Fault(item, OPERATION, _no_type(attributes))]
    subject = Subject(span, attributes, type_name, SPAN_TYPES[type_name], wanted)
    return [Fault(item, name, rule) for check in _CHECKS for name, rule in check(subject)]


def type_of(span: Span, attributes: dict[str, Any]) -> str | None:
    """Return the name of a span's type; of two types of one operation, the kind decides."""
    operation = attributes.get(OPERATION)
    if METHOD in attributes:
        fitting = [name for name in SPAN_TYPES if name.startswith("mcp.")]
    else:
        rows = SPAN_TYPES.items()
        fitting = [name for name, row in rows if operation in row.operations and not name.startswith("mcp.")]
    of_kind = [name for name in fitting if span.kind in SPAN_TYPES[name].kinds]
    return next(iter([*of_kind, *reversed(fitting)]), None)


def _no_type(attributes: dict[str, Any]) -> str:
    if OPERATION not in attributes:
        return "nothing was found, the operation was wanted [spans]"
    known = sorted({word for row in SPAN_TYPES.values() for word in row.operations})
    return f"no span type has {shown(attributes[OPERATION])}, one of {', '.join(known)} was wanted [spans]"


def _of_kind(it: Subject) -> Found:
    if it.span.kind not in it.row.kinds:
        kinds = " or ".join(sorted(kind.value for kind in it.row.kinds))
        yield "", f"kind {it.span.kind.value} was found, {kinds} was wanted [{it.type_name}]"


def _of_operation(it: Subject) -> Found:
    operation = it.attributes.get(OPERATION)
    if METHOD in it.attributes and operation not in (None, *it.row.operations):
        yield OPERATION, f"{shown(operation)} was found, execute_tool or nothing was wanted [{it.type_name}]"


def _of_name(it: Subject) -> Found:
    head = it.attributes.get(METHOD) or it.attributes.get(OPERATION)
    tail = next((it.attributes[name] for name in it.row.tails if it.attributes.get(name)), None)
    name = f"{head} {tail}" if tail else str(head)
    skill = it.attributes.get("gen_ai.skill.name")
    if it.span.name != name and not (skill and it.row.extra and it.span.name == f"{name} {skill}"):
        yield "", f"the name {shown(it.span.name)} was found, {shown(name)} was wanted [{it.type_name}]"


def _of_times(it: Subject) -> Found:
    if it.span.end_ns is None:
        yield "", "no end was found, a finished span was wanted [spans]"
    elif it.span.end_ns < it.span.start_ns:
        yield "", f"an end {it.span.start_ns - it.span.end_ns} ns before the start was found [spans]"


def _of_required(it: Subject) -> Found:
    for name in sorted(it.row.required):
        if not it.attributes.get(name):
            yield name, f"nothing was found, it is required [{it.type_name}]"
    method = MCP_NEEDS.get(str(it.attributes.get(METHOD)))
    for reason, name in (*it.row.needs, *([(METHOD, method)] if method else [])):
        if reason in it.attributes and name not in it.attributes:
            yield name, f"nothing was found, it is required where {reason} is [{it.type_name}]"


def _of_attributes(it: Subject) -> Found:
    allowed = it.row.allowed | it.row.extra
    for name, value in it.attributes.items():
        for rule in of_attribute(name, value, it.wanted, allowed, it.type_name, as_json=True):
            yield name, rule
    if it.attributes.get("gen_ai.conversation.compacted") is False:
        yield "gen_ai.conversation.compacted", f"false was found, true or nothing was wanted [{it.type_name}]"


def _of_status(it: Subject) -> Found:
    """Hold the status against core's rules of recording errors."""
    status, where = it.span.status, "[recording errors]"
    if status is Status.OK:
        yield _STATUS, f"OK was found, UNSET was wanted: OK is for whoever runs the program to set {where}"
        return
    failed = status is Status.ERROR
    if failed and ERROR_TYPE not in it.attributes:
        yield ERROR_TYPE, f"nothing was found, it is required where the status is ERROR {where}"
    if not failed and ERROR_TYPE in it.attributes:
        yield ERROR_TYPE, f"found with the status {status.value}, the status ERROR was wanted {where}"
    if it.span.status_message and not failed:
        yield _STATUS, f"a description was found with {status.value}, none without a failure was wanted {where}"


def _of_events(it: Subject) -> Found:
    for event in it.span.events:
        if event.name in OLD_EVENTS and not it.wanted.compat:
            yield "", f"the event {event.name} is deprecated, {OLD_EVENTS[event.name]} was wanted [{it.type_name}]"
        elif event.name.startswith(INVENTED_UNDER) and event.name not in OLD_EVENTS:
            yield "", f"the event {event.name} is no name of the conventions [{it.type_name}]"
        for name, value in event.attributes.items():
            if not is_structured(value):
                yield name, f"no attribute value in the event {event.name}: {shown(value)} [common]"


def _of_silence(it: Subject) -> Found:
    """Find content where none was to leave; the text of a failure is content too."""
    if it.wanted.content is not False:
        return
    for name in it.attributes:
        if row_name(name) in TEXTS:
            yield name, f"content was found, none was wanted [{it.type_name}]"
    if it.span.status_message:
        yield _STATUS, "a description was found: it is content, none was wanted [recording errors]"
    for event in it.span.events:
        for name in event.attributes:
            if row_name(name) in TEXTS:
                yield name, f"content was found in the event {event.name}, none was wanted [{it.type_name}]"


def _of_conversation(it: Subject) -> Found:
    known: Collection[str] | None = it.wanted.sessions
    found = it.attributes.get(CONVERSATION)
    if known is not None and found is not None and found not in known:
        yield CONVERSATION, f"{shown(found)} is no session's id, and none may be made up [{it.type_name}]"


_CHECKS: Final = (
    _of_kind, _of_operation, _of_name, _of_times, _of_required, _of_attributes, _of_status, _of_events, _of_silence,
    _of_conversation,
)  # fmt: skip
