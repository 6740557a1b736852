"""Each rule of log events refuses what breaks it and nothing else; all of them are emitted with the real SDK."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from atifold.testing import assert_conforms, faults
from atifold.testing.log_rules import EVENTS, OLD_LOGS

DETAILS = "gen_ai.client.inference.operation.details"
SCORE = "gen_ai.evaluation.result"
FAILURE = "gen_ai.client.operation.exception"

RIGHT: dict[str, tuple[SeverityNumber, dict[str, Any]]] = {
    DETAILS: (SeverityNumber.DEBUG, {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "p"}),
    SCORE: (SeverityNumber.INFO, {"gen_ai.evaluation.name": "taste", "gen_ai.evaluation.score.value": 0.5}),
    FAILURE: (SeverityNumber.WARN, {"exception.type": "X"}),
}


def logged(name: str | None, *, in_span: bool = True, **changes: Any) -> tuple[Any, ...]:
    """Return the record of one event, emitted as it should be but for the changes.

    `attributes` are added to the usual ones, those of None taken away.
    """
    memory = InMemoryLogRecordExporter()
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    severity, usual = RIGHT.get(name or "", (SeverityNumber.INFO, {}))
    attributes = {k: v for k, v in {**usual, **changes.get("attributes", {})}.items() if v is not None}
    around = SpanContext(1, 2, is_remote=False, trace_flags=TraceFlags(1)) if in_span else trace.INVALID_SPAN_CONTEXT
    provider.get_logger("test").emit(
        event_name=name,
        severity_number=changes.get("severity", severity),
        body=changes.get("body"),
        attributes=attributes,
        context=trace.set_span_in_context(NonRecordingSpan(around), Context()),
    )
    return tuple(memory.get_finished_logs())


def test_a_right_event_of_each_name_is_there() -> None:
    """So the rules below are tried on all of them."""
    assert RIGHT.keys() == EVENTS.keys()


@pytest.mark.parametrize("name", RIGHT)
def test_the_least_that_an_event_needs_is_accepted(name: str) -> None:
    """With names of one's own, and as the API's record without the SDK around it."""
    (record,) = logged(name, attributes={"my.app": "x"})
    assert_conforms(logs=[record, record.log_record], content=False)


@pytest.mark.parametrize("name", RIGHT)
def test_each_required_attribute_is_missed(name: str) -> None:
    """By name."""
    for attribute in EVENTS[name].required:
        (fault,) = faults(logs=logged(name, attributes={attribute: None}))
        assert fault == (name, attribute, f"nothing was found, it is required [{name}]")


TALK = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]

WRONG: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "details that warn": (
        DETAILS,
        {"severity": SeverityNumber.WARN},
        "",
        f"severity 13 was found, 5 was wanted [{DETAILS}]",
    ),
    "a failure that only informs": (
        FAILURE,
        {"severity": SeverityNumber.INFO},
        "",
        f"severity 9 was found, 13 was wanted [{FAILURE}]",
    ),
    "details of no span": (
        DETAILS,
        {"in_span": False},
        "",
        f"no span's context was found, one was wanted [{DETAILS}]",
    ),
    "a score of nothing": (
        SCORE,
        {"in_span": False},
        "",
        f"no span's context was found, one or gen_ai.response.id was wanted [{SCORE}]",
    ),
    "a failure of no kind": (
        FAILURE,
        {"attributes": {"exception.type": None}},
        "",
        f"exception.message or exception.type was wanted, nothing was found [{FAILURE}]",
    ),
    "an address without a port": (
        DETAILS,
        {"attributes": {"server.address": "h"}},
        "server.port",
        f"nothing was found, it is required where server.address is [{DETAILS}]",
    ),
    "a body": (DETAILS, {"body": "hi"}, "", "the body 'hi' was found, none was wanted: all is attributes [events]"),
    "a body of one's own event": (
        "my.event",
        {"body": {"a": 1}},
        "",
        "the body {'a': 1} was found, none was wanted: all is attributes [events]",
    ),
    "messages as text": (
        DETAILS,
        {"attributes": {"gen_ai.input.messages": "[]"}},
        "gen_ai.input.messages",
        "text was found, a structured value was wanted [message schemas]",
    ),
    "messages of another shape": (
        DETAILS,
        {"attributes": {"gen_ai.input.messages": [{"role": "user"}]}},
        "gen_ai.input.messages",
        "[0].parts: nothing was found, a list of parts was wanted [message schemas]",
    ),
    "another event's attribute": (
        SCORE,
        {"attributes": {"gen_ai.request.model": "m"}},
        "gen_ai.request.model",
        f"not an attribute of this item [{SCORE}]",
    ),
    "a score that is no double": (
        SCORE,
        {"attributes": {"gen_ai.evaluation.score.value": 1}},
        "gen_ai.evaluation.score.value",
        f"1 was found, double was wanted [{SCORE}]",
    ),
    "an invented name": (
        "my.event",
        {"attributes": {"gen_ai.mood": "good"}},
        "gen_ai.mood",
        "no name of the conventions [my.event]",
    ),
    "an older name": (
        DETAILS,
        {"attributes": {"gen_ai.system": "p"}},
        "gen_ai.system",
        f"deprecated, gen_ai.provider.name was wanted [{DETAILS}]",
    ),
    "an invented event": ("gen_ai.mood", {}, "", "no name of the conventions [events]"),
}


@pytest.mark.parametrize(("name", "changes", "attribute", "rule"), WRONG.values(), ids=WRONG)
def test_a_rule_finds_what_breaks_it_and_only_that(
    name: str, changes: dict[str, Any], attribute: str, rule: str
) -> None:
    """One fault, with its place."""
    (fault,) = faults(logs=logged(name, **changes))
    assert fault == (name, attribute, rule)


@pytest.mark.parametrize("name", OLD_LOGS)
def test_an_older_event_is_refused_with_its_new_name(name: str) -> None:
    """One event has the content of all of them now."""
    (fault,) = faults(logs=logged(name))
    assert fault == (name, "", f"deprecated, {OLD_LOGS[name]} was wanted [events]")


def test_an_event_without_a_name_is_refused_only_where_it_speaks_of_gen_ai() -> None:
    """A log line is no event."""
    assert_conforms(logs=logged(None, body="started", attributes={"my.app": "x"}))
    (fault,) = faults(logs=logged(None, attributes={"gen_ai.request.model": "m"}))
    assert str(fault) == "log: no event name was found, one was wanted [events]"


def test_what_the_conventions_allow_is_accepted() -> None:
    """The other side of the rules."""
    assert_conforms(logs=logged("my.event", in_span=False, attributes={"my.facts": {"a": [1, None, {"b": b"x"}]}}))
    assert_conforms(logs=logged(SCORE, in_span=False, attributes={"gen_ai.response.id": "r"}))
    assert_conforms(logs=logged(FAILURE, attributes={"exception.type": None, "exception.message": "no"}))
    assert_conforms(logs=logged(FAILURE, attributes={"gen_ai.request.model": "m", "server.address": "h"}))
    assert_conforms(logs=logged(DETAILS, attributes={"gen_ai.input.messages": TALK}), content=True)
    older = {"gen_ai.provider.name": None, "gen_ai.system": "p"}
    assert_conforms(logs=logged(DETAILS, attributes=older), compat=True)


def test_content_is_found_where_none_was_wanted() -> None:
    """Of an inference, of a failure, of a judge."""
    cases = (
        (DETAILS, "gen_ai.input.messages", TALK),
        (FAILURE, "exception.message", "db-7 is down"),
        (SCORE, "gen_ai.evaluation.explanation", "too sweet"),
    )
    for name, attribute, value in cases:
        told = logged(name, attributes={attribute: value})
        assert_conforms(logs=told)
        (fault,) = faults(logs=told, content=False)
        assert fault == (name, attribute, f"content was found, none was wanted [{name}]")


def test_a_conversation_that_there_was_not_is_found() -> None:
    """As on spans."""
    told = logged(DETAILS, attributes={"gen_ai.conversation.id": "c"})
    assert_conforms(logs=told, sessions={"c"})
    (fault,) = faults(logs=told, sessions={"d"})
    assert fault.rule == f"'c' is no session's id, and none may be made up [{DETAILS}]"
    (fault,) = faults(logs=logged("my.event", attributes={"mine": 1}), namespaces=("my.",))
    assert fault == ("my.event", "mine", "in none of the namespaces my. [common]")
