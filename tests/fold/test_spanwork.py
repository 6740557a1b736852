"""What a document's report says of spans: read, merged, passed over."""

from __future__ import annotations

from typing import Any

from atifold import dialects
from atifold.fold import fold
from atifold.fold.spanwork import TWICE
from atifold.spans import Span

T1, T2 = "1" * 32, "2" * 32


def span(trace_id: str, number: int, parent: int | None = None, **attributes: Any) -> Span:
    """Return a span by number; names of attributes have `_` for a dot."""
    return Span(
        trace_id=trace_id,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        name=f"s{number}",
        start_ns=number,
        end_ns=100 - number,
        attributes={name.replace("__", "."): value for name, value in attributes.items()},
    )


def chat(trace_id: str, number: int, parent: int | None, answer: str) -> Span:
    """Return a model call."""
    said = f'[{{"role": "assistant", "parts": [{{"type": "text", "content": "{answer}"}}]}}]'
    more = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "m", "gen_ai__output__messages": said}
    return span(trace_id, number, parent, **more)


def agent(trace_id: str, number: int, parent: int | None = None) -> Span:
    """Return an agent."""
    return span(trace_id, number, parent, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="a")


def entries(spans: list[Span]) -> list[dict[str, Any]]:
    """Return the entries of spans of each document's report."""
    return [document.report["spans"] for document in fold(dialects.read(spans)).documents]


def test_spans_count_for_the_document_of_the_call_around_them() -> None:
    """What is around all calls counts for the first document of the trace; nothing counts twice."""
    http = {"http__method": "GET"}
    spans = [span(T1, 1, **http), agent(T1, 2, 1), chat(T1, 3, 2, "x"), span(T1, 4, 3, **http), span(T1, 5, 2)]
    spans += [agent(T2, 11), chat(T2, 12, 11, "y"), span(T2, 13, 12, **http)]
    assert entries(spans) == [
        {"read": 2, "ignored": {"http": 2, "no dialect": 1}},
        {"read": 2, "ignored": {"http": 1}},
    ]


def test_two_agents_of_one_trace_share_out_its_spans() -> None:
    """The sum over all documents is the number of spans."""
    spans = [span(T1, 1), agent(T1, 2, 1), chat(T1, 3, 2, "x"), agent(T1, 4, 1), chat(T1, 5, 4, "y"), span(T1, 6, 5)]
    found = entries(spans)
    assert found == [{"read": 2, "ignored": {"no dialect": 1}}, {"read": 2, "ignored": {"no dialect": 1}}]
    assert sum(entry["read"] + sum(entry["ignored"].values()) for entry in found) == len(spans)


def test_a_call_that_was_traced_twice_is_two_spans_that_were_read() -> None:
    """One of them merged, which the words say too; what lies below it counts."""
    spans = [agent(T1, 1), chat(T1, 2, 1, "x"), chat(T1, 3, 2, "x"), span(T1, 4, 3)]
    (document,) = fold(dialects.read(spans)).documents
    assert document.report["spans"] == {"read": 3, "merged": 1, "ignored": {"no dialect": 1}}
    assert document.report["merged"] == [TWICE]
