"""Log records are part of the spans that they name, whatever file they came in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atifold import dialects
from atifold.calls import Message, ModelCall, Reading, Text
from atifold.dialects.genai_events import CHOICE, SPEAKERS
from atifold.fold import fold
from atifold.spans import LogRecord, Span, SpanEvent

MakeSpan = Callable[..., Span]
DETAILS = "gen_ai.client.inference.operation.details"


def said(span: Span, role: str, text: str, time_ns: int, **more: Any) -> LogRecord:
    """Return the record of one message that names a span."""
    fields = {"trace_id": span.trace_id, "span_id": span.span_id, "body": {"content": text}, **more}
    return LogRecord(f"gen_ai.{role}.message", time_ns, **fields)


def texts(messages: tuple[Message, ...] | None) -> list[tuple[str, str]]:
    """Return who said what."""
    return [(m.role, part.text) for m in messages or () for part in m.parts if isinstance(part, Text)]


def models(reading: Reading) -> list[ModelCall]:
    """Return the model calls in order of their time."""
    found = [call for call in reading.calls if isinstance(call, ModelCall)]
    return sorted(found, key=lambda call: (call.start_ns, call.key))


def test_a_record_that_names_a_span_is_read_with_it(chat: MakeSpan) -> None:
    """Its body counts as what a span event of that name says; the span's own events stay."""
    span = chat(events=(SpanEvent("gen_ai.system.message", 1, {"content": "Be brief."}),))
    (call,) = models(dialects.read([span], [said(span, "user", "Hi", 2)]))
    assert texts(call.input) == [("system", "Be brief."), ("user", "Hi")]


def test_records_are_read_in_the_order_of_their_times(chat: MakeSpan) -> None:
    """Whatever order they came in, and each once; equal times leave them in the order of the input."""
    span = chat()
    logs = [said(span, "user", "1", 1), said(span, "assistant", "2", 2), said(span, "user", "3", 3)]
    wanted = dialects.read([span], logs)
    assert dialects.read([span, span], [*logs[::-1], *logs]) == wanted
    same = [replace(record, time_ns=0) for record in logs]
    assert [call.input for call in models(dialects.read([span], same))] == [models(wanted)[0].input]


def test_a_message_that_names_its_place_stands_there(chat: MakeSpan) -> None:
    """Some writers count the messages of a history."""
    span = chat()
    logs = [said(span, "user", str(n), 1, attributes={"gen_ai.message.index": n}) for n in (2, 0, 1)]
    (call,) = models(dialects.read([span], logs))
    assert [text for _, text in texts(call.input)] == ["0", "1", "2"]


def test_an_attribute_called_body_goes_before_the_body(chat: MakeSpan) -> None:
    """Claude Code's records have both, and the attribute holds the data."""
    span = chat()
    record = replace(said(span, "user", "x", 1), attributes={"body": '{"content": "Hi"}'})
    (call,) = models(dialects.read([span], [record]))
    assert texts(call.input) == [("user", "Hi")]


def test_the_attributes_of_a_span_go_before_its_records(chat: MakeSpan, said_json: str) -> None:
    """In the mode that writes both, each message counts once."""
    span = chat({"gen_ai.input.messages": said_json})
    (call,) = models(dialects.read([span], [said(span, "user", "again", 1)]))
    assert texts(call.input) == [("user", "once")]


@pytest.fixture
def said_json(said: Callable[[str, str], str]) -> str:
    """Return one user's message as the conventions write it."""
    return said("user", "once")


def test_records_of_a_call_whose_span_is_not_there_make_the_call(chat: MakeSpan) -> None:
    """Under the id that they give; records that tell of no inference make none."""
    gone = chat()
    choice = LogRecord("gen_ai.choice", 9, gone.trace_id, gone.span_id, body={"message": {"content": "Yo"}})
    (call,) = models(dialects.read([], [said(gone, "user", "Hi", 3), choice]))
    assert (call.key, call.start_ns, call.end_ns, call.output) == (gone.key, 3, 9, call.output)
    assert texts(call.input) + texts(call.output) == [("user", "Hi"), ("assistant", "Yo")]
    assert dialects.read([], [said(gone, "user", "Hi", 3)]).calls == ()
    assert dialects.read([], [LogRecord("up", 1), LogRecord(DETAILS, 1)]).calls == ()


def details(span: Span, identity: str, time_ns: int, tokens: int) -> LogRecord:
    """Return the record of one inference."""
    attributes = {"gen_ai.response.id": identity, "gen_ai.usage.input_tokens": tokens}
    return LogRecord(DETAILS, time_ns, span.trace_id, span.span_id, attributes=attributes)


def test_several_inferences_of_one_span_are_several_calls(chat: MakeSpan, said: Callable[[str, str], str]) -> None:
    """Each with its own figures; the last keeps the span's id, and what it says is the last one's."""
    span = chat(
        {
            "gen_ai.usage.input_tokens": 9,
            "gen_ai.usage.output_tokens": 1,
            "gen_ai.output.messages": said("assistant", "b"),
        }
    )
    reading = dialects.read([span], [details(span, "r-2", 1400, 9), details(span, "r-1", 1200, 5)])
    first, last = models(reading)
    assert [call.usage.prompt if call.usage else None for call in (first, last)] == [5, 9]
    assert (first.response_id, last.response_id, last.key) == ("r-1", "r-2", span.key)
    assert (first.start_ns, first.end_ns, last.start_ns) == (span.start_ns, 1200, 1200)
    assert last.usage is not None
    assert last.usage.completion is None  # left over from a call before
    assert texts(last.output) == [("assistant", "b")]


def test_records_of_one_inference_are_one_call(chat: MakeSpan) -> None:
    """A record that comes twice, records without an identity, and records of an agent make no more of it."""
    span = chat()
    assert len(models(dialects.read([span], [details(span, "r-1", 1, 5), details(span, "r-1", 2, 5)]))) == 1
    nameless = [replace(details(span, "", n, 5), attributes={"gen_ai.usage.input_tokens": n}) for n in (1, 2)]
    assert len(models(dialects.read([span], nameless))) == 1
    agent = replace(span, attributes={"gen_ai.operation.name": "invoke_agent"})
    assert len(dialects.read([agent], [details(agent, "r-1", 1, 5), details(agent, "r-2", 2, 5)]).calls) == 1


KEYS = st.sampled_from(
    [
        "role",
        "content",
        "parts",
        "message",
        "tool_calls",
        "id",
        "index",
        "type",
        "text",
        "function",
        "name",
        "arguments",
    ]
)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(), st.text("[{}]\"'ab:,()=", max_size=9))
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))
NAMES = st.sampled_from([*SPEAKERS, CHOICE, DETAILS, "gen_ai.content.prompt", "exception", ""])
RECORDS = st.builds(
    LogRecord,
    NAMES,
    st.integers(0, 9),
    st.sampled_from(["1" * 32, "2" * 32, None]),
    st.sampled_from(["3" * 16, "4" * 16, None]),
    attributes=st.dictionaries(
        KEYS
        | st.sampled_from(["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.response.id", "event.name"])
        | st.sampled_from(
            ["gen_ai.usage.input_tokens", "gen_ai.prompt", "gen_ai.event.content", "gen_ai.operation.name"]
        ),
        JSON,
        max_size=4,
    ),
    body=JSON,
)


@given(st.lists(RECORDS, max_size=8))
def test_whatever_records_say_they_are_read(logs: list[LogRecord]) -> None:
    """Nothing raises, with a span or without one, and each call is there once."""
    span = Span("1" * 32, "3" * 16, None, "chat", 1, 9, attributes={"gen_ai.operation.name": "chat"})
    for spans in ([span], []):
        reading = dialects.read(spans, logs)
        assert len({call.key for call in reading.calls}) == len(reading.calls)
        fold(reading, files=True)


def test_a_record_that_names_the_span_around_goes_to_the_call_of_its_response(span: MakeSpan, chat: MakeSpan) -> None:
    """A stream had ended when the record was written; where two calls have that response it stays where it points."""
    around = span()
    model = chat({"gen_ai.response.id": "r"}, around)
    told = {"gen_ai.response.id": "r", "gen_ai.input.messages": [{"role": "user", "content": "go"}]}
    record = LogRecord(DETAILS, 9, around.trace_id, around.span_id, told)
    (call,) = models(dialects.read([around, model], [record]))
    assert texts(call.input) == [("user", "go")]
    twins = models(dialects.read([around, model, chat({"gen_ai.response.id": "r"}, around)], [record]))
    assert [call.input for call in twins if call.key != around.key] == [None, None]
