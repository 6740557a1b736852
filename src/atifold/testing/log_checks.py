"""Apply the rules to one log event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from atifold.semconv import CONVERSATION
from atifold.testing.attributes import Wanted, current, of_attribute
from atifold.testing.conventions import INVENTED_UNDER, TEXTS, row_name
from atifold.testing.fault import Fault
from atifold.testing.log_rules import EVENTS, OLD_LOGS, LogEvent
from atifold.testing.values import shown


class Logged(NamedTuple):
    """A log record: `severity` is its number (0: none), `in_span` whether it has a span's context."""

    name: str
    severity: int
    body: Any
    attributes: dict[str, Any]
    in_span: bool


def faults_of(event: Logged, wanted: Wanted) -> list[Fault]:
    """Return what is wrong with a log event; nothing for a log line that says nothing of GenAI."""
    attributes = current(event.attributes, compat=wanted.compat)
    if not event.name:
        spoken = any(name.startswith(INVENTED_UNDER) for name in attributes)
        return [Fault("log", "", "no event name was found, one was wanted [events]")] if spoken else []
    row = EVENTS.get(event.name)
    if row is not None:
        pairs = [*_of_record(event, row), *_of_required(event, row, attributes)]
    else:
        pairs = [("", rule) for rule in _of_name(event.name)]
    pairs += [*_of_attributes(event.name, row, attributes, wanted), *_of_silence(event.name, attributes, wanted)]
    if event.body is not None:
        pairs.append(("", f"the body {shown(event.body)} was found, none was wanted: all is attributes [events]"))
    return [Fault(event.name, *pair) for pair in pairs]


def _of_name(name: str) -> Iterator[str]:
    if name in OLD_LOGS:
        yield f"deprecated, {OLD_LOGS[name]} was wanted [events]"
    elif name.startswith(INVENTED_UNDER):
        yield "no name of the conventions [events]"


def _of_record(event: Logged, row: LogEvent) -> Iterator[tuple[str, str]]:
    if row.severity is not None and event.severity != row.severity:
        yield "", f"severity {event.severity} was found, {row.severity} was wanted [{event.name}]"
    if not event.in_span and (row.context is None or row.context not in event.attributes):
        instead = f" or {row.context}" if row.context else ""
        yield "", f"no span's context was found, one{instead} was wanted [{event.name}]"


def _of_required(event: Logged, row: LogEvent, attributes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in sorted(row.required):
        if not attributes.get(name):
            yield name, f"nothing was found, it is required [{event.name}]"
    for reason, name in row.needs:
        if reason in attributes and name not in attributes:
            yield name, f"nothing was found, it is required where {reason} is [{event.name}]"
    if row.either and not row.either & attributes.keys():
        yield "", f"{' or '.join(sorted(row.either))} was wanted, nothing was found [{event.name}]"


def _of_attributes(
    event: str, row: LogEvent | None, attributes: dict[str, Any], wanted: Wanted
) -> Iterator[tuple[str, str]]:
    for name, value in attributes.items():
        allowed = None if row is None else row.allowed
        for rule in of_attribute(name, value, wanted, allowed, event, as_json=False):
            yield name, rule
    talk = attributes.get(CONVERSATION)
    if wanted.sessions is not None and talk is not None and talk not in wanted.sessions:
        yield CONVERSATION, f"{shown(talk)} is no session's id, and none may be made up [{event}]"


def _of_silence(event: str, attributes: dict[str, Any], wanted: Wanted) -> Iterator[tuple[str, str]]:
    if wanted.content is False:
        for name in attributes:
            if row_name(name) in TEXTS:
                yield name, f"content was found, none was wanted [{event}]"
