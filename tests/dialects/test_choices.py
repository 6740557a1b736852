"""Of several answers to one request one is the step."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from atifold import dialects
from atifold.calls import ModelCall, Text
from atifold.dialects.choices import COUNT, OTHERS, asked_for
from atifold.spans import Span, SpanEvent

MakeSpan = Callable[..., Span]


def said(*texts: str) -> str:
    """Return answers as the conventions write them."""
    return json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": text}]} for text in texts])


def asked(*turns: tuple[str, str]) -> str:
    """Return a history as the conventions write it."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in turns])


def answers(*spans: Span) -> tuple[list[str], list[Any], tuple[str, ...]]:
    """Return (the texts of the first call's answer, what was not taken, the notes)."""
    reading = dialects.read(spans)
    call = min((call for call in reading.calls if isinstance(call, ModelCall)), key=lambda call: call.start_ns)
    texts = [part.text for m in call.output or () for part in m.parts if isinstance(part, Text)]
    return texts, list(call.extra.get(OTHERS, [])), reading.notes


def two(chat: MakeSpan, *texts: str, **more: Any) -> Span:
    """Return a call that asked for two answers."""
    return chat(attributes={COUNT: 2, "gen_ai.output.messages": said(*texts), **more})


def test_the_first_is_taken_where_nothing_tells(chat: MakeSpan) -> None:
    """And a note says so."""
    texts, others, notes = answers(two(chat, "a", "b"))
    assert (texts, others) == (["a"], [{"message": "b"}])
    assert (
        notes == ("chat m: 2 answers to one request, the first is taken, nothing tells which was",) or len(notes) == 1
    )


def test_what_a_later_request_goes_on_with_is_taken(chat: MakeSpan) -> None:
    """Not what an earlier turn had said."""
    history = [("user", "?"), ("assistant", "a"), ("user", "?")]
    first = two(chat, "a", "b", **{"gen_ai.input.messages": asked(*history)})
    later = chat(
        span_id="e" * 16,
        start_ns=first.start_ns + 1000,
        attributes={"gen_ai.input.messages": asked(*history, ("assistant", "b"), ("user", "So?"))},
    )
    texts, others, _ = answers(first, later)
    assert (texts, others) == (["b"], [{"message": "a"}])


def test_equal_answers_are_two(chat: MakeSpan) -> None:
    """One of them is left over."""
    assert answers(two(chat, "a", "a"))[:2] == (["a"], [{"message": "a"}])


@pytest.mark.parametrize("count", [None, 1, 0, "x"])
def test_several_messages_of_one_answer_stay(chat: MakeSpan, count: Any) -> None:
    """Only where more than one answer was asked for they are alternatives."""
    told = {} if count is None else {COUNT: count}
    assert answers(chat(attributes={**told, "gen_ai.output.messages": said("a", "b")}))[:2] == (["a", "b"], [])


def test_more_messages_than_answers_were_asked_for_stay(chat: MakeSpan) -> None:
    """Then an answer has several of them, and nothing tells which belong together."""
    assert answers(two(chat, "a", "b", "c"))[:2] == (["a", "b", "c"], [])


def test_events_that_count_their_choices_are_alternatives(chat: MakeSpan) -> None:
    """Each by its index."""
    events = tuple(SpanEvent("gen_ai.choice", 1, {"index": n, "message": text}) for n, text in enumerate("ab"))
    assert answers(chat(attributes={}, events=events))[:2] == (["a"], [{"message": "b"}])


@pytest.mark.parametrize(
    ("parameters", "count"),
    [({"n": 2}, 2), ({"candidate_count": "3"}, 3), ({"n": 1}, None), ({"n": None}, None), ({}, None), ("n", None)],
)
def test_a_raw_request_says_how_many_it_asks_for(parameters: Any, count: int | None) -> None:
    """One is what all ask for."""
    assert asked_for(parameters) == count
