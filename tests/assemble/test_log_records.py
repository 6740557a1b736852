"""Log records in the assembler: where each belongs, what it reopens, and what bounds it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atifold.assemble.sizes import record_size
from atifold.spans import LogRecord, Span

A, B = "a" * 32, "b" * 32


def _record(name: str, trace_id: str | None = None, span_id: str | None = None, **attributes: Any) -> LogRecord:
    return LogRecord(name, 1, trace_id, span_id, {key.replace("_", "."): value for key, value in attributes.items()})


def test_a_record_is_folded_with_the_trace_that_it_names(desk_of: Any) -> None:
    """Whichever comes first."""
    desk = desk_of(grace_s=2.0)
    desk.assembler.logged(_record("event.1", A, "1"))
    desk.end(A, "1")
    desk.assembler.logged(_record("event.2", A, "1"))
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "event.1", "event.2"]}
    assert desk.shelf.reasons[A] == []


def test_a_late_record_reopens_its_trace(desk_of: Any) -> None:
    """An exporter's batch comes seconds after the spans."""
    desk = desk_of(grace_s=2.0)
    desk.end(A, "1")
    desk.turn(3)
    desk.assembler.logged(_record("event.1", A, "1"))
    desk.turn(3)
    assert desk.shelf.writes == [A, A]
    assert desk.shelf.pages == {A: ["1", "event.1"]}


def test_records_alone_wait_for_spans_and_are_folded_without_them(desk_of: Any) -> None:
    """A program may tell of its agent in records only, or its spans were not sampled."""
    desk = desk_of(idle_s=60.0)
    desk.assembler.logged(_record("agent.said", A, "1"))
    desk.turn(59)
    assert desk.shelf.pages == {}
    desk.turn(2)
    assert desk.shelf.pages == {A: ["agent.said"]}
    assert desk.shelf.reasons[A] == []


def test_a_record_of_a_running_span_keeps_no_trace_from_waiting(desk_of: Any) -> None:
    """The span was started: its trace is written when it has ended, not before."""
    desk = desk_of(grace_s=2.0, idle_s=60.0)
    desk.start(A, "1")
    desk.assembler.logged(_record("event.1", A, "1"))
    desk.turn(30)
    assert desk.shelf.pages == {}
    desk.end(A, "1")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "event.1"]}


def test_records_without_a_trace_are_folded_with_the_traces_of_their_session(desk_of: Any) -> None:
    """The spans name the session by any of its names; traces of another session are left alone."""
    desk = desk_of(grace_s=2.0)
    desk.end(A, "1", **{"gen_ai.conversation.id": "s-1"})
    desk.assembler.logged(_record("event.1", session_id="s-1"))
    desk.end(B, "2", **{"session.id": "s-1"})
    desk.end("c" * 32, "3", **{"session.id": "s-2"})
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1", "2", "event.1"], "c" * 32: ["3"]}


def test_records_of_a_session_without_traces_are_a_document_of_their_own(desk_of: Any) -> None:
    """No root is missing there, and the session may go on for as long as it likes."""
    desk = desk_of(idle_s=60.0, retain_s=300.0)
    desk.assembler.logged(_record("agent.asked", session_id="s-1"))
    desk.turn(61)
    assert desk.shelf.reasons == {"session": []}
    desk.turn(3600)
    desk.assembler.logged(_record("agent.answered", session_id="s-1"))
    desk.turn(61)
    assert desk.shelf.pages == {"session": ["agent.answered", "agent.asked"]}


def test_records_of_a_session_that_no_agent_ran_in_are_let_go(desk_of: Any) -> None:
    """A web page's events name a session too."""
    desk = desk_of(idle_s=60.0, retain_s=300.0)
    desk.assembler.logged(_record("click", session_id="s-1"))
    desk.turn(61)
    desk.turn(301)
    assert desk.assembler._table.traces == {}
    assert desk.assembler._table.held == 0
    assert desk.assembler._table._tying._sessions._records == {}


def test_a_conversation_takes_in_the_records_that_name_it(desk_of: Any) -> None:
    """With or without a trace, as its spans do."""
    desk = desk_of(grace_s=2.0, by_conversation=True)
    chat = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "s-1"}
    desk.end(A, "1", **chat)
    desk.assembler.logged(_record("event.1", B, "9", session_id="s-1"))
    desk.assembler.logged(_record("event.2", session_id="s-1"))
    desk.turn(61)
    assert desk.shelf.pages == {A: ["1", "event.1", "event.2"]}


def test_what_belongs_nowhere_is_counted(desk_of: Any) -> None:
    """A plain line of a log, and an event without a trace or a session."""
    desk = desk_of()
    desk.assembler.logged(_record("", A, "1"))
    desk.assembler.logged(_record("agent.said"))
    desk.turn(100)
    assert desk.assembler.counts == {"log_lines": 1, "records_without_trace": 1}
    assert desk.assembler._table.held == 0


def test_records_count_in_bytes_as_spans_do(desk_of: Any) -> None:
    """A trace that its records make too large is written in parts; nothing of it is held twice or lost."""
    desk = desk_of(max_trace_bytes=20_000)
    desk.end(A, "1")
    record = LogRecord("agent.said", 1, A, "7", {"text": "x" * 5_000}, body={"more": ["y" * 2_000]})
    assert 7_000 < record_size(record) < 8_000
    for number in range(9):
        desk.assembler.logged(LogRecord(f"agent.{number}", 1, A, "7", record.attributes, record.body))
    desk.turn(100)
    assert desk.assembler.counts["trace_bound"] == 3
    told = [name for page in desk.shelf.pages.values() for name in page]
    assert sorted(told) == sorted(["1", *(f"agent.{number}" for number in range(9))])
    assert desk.shelf.reasons[A] == ["trace_bound"]


def test_a_record_of_a_span_that_was_let_go_is_counted(desk_of: Any) -> None:
    """It would be a call of its own in a document beside the span's."""
    desk = desk_of(grace_s=0.0, retain_s=10.0)
    desk.end(A, "1")
    desk.turn(1)
    desk.turn(20)
    desk.assembler.logged(_record("agent.said", A, "1"))
    desk.turn(100)
    assert desk.assembler.counts["records_late"] == 1
    assert desk.shelf.pages == {A: ["1"]}


def test_records_after_the_shutdown_are_counted(desk_of: Any) -> None:
    """As spans are."""
    desk = desk_of()
    desk.assembler.shutdown()
    desk.assembler.logged(_record("agent.said", A, "1"))
    assert desk.assembler.counts == {"after_shutdown": 1}


@pytest.mark.parametrize("max_bytes", [3_000, 64_000_000])
@given(told=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["span", "record", "session"]), st.booleans())))
def test_what_is_held_comes_to_nothing_once_all_is_let_go(max_bytes: int, told: Any, table_of: Any) -> None:
    """Whatever comes in which order, under bounds that are passed or not."""
    table = table_of(max_bytes=max_bytes, retain_s=1.0, idle_s=1.0, grace_s=1.0)
    now = 0.0
    for number, (trace, what, names) in enumerate(told):
        session = {"session_id": trace} if names or what == "session" else {}
        if what == "span":
            attributes = {"session.id": trace} if names else {}
            span = Span(trace * 32, f"{number}", None, "agent", 1, 2, attributes=attributes)
            table.closed(span, 600, now, root=True)
        else:
            table.logged(_record("e", trace * 32 if what == "record" else None, f"{number}", **session), now)
        now += 0.3
    for _ in range(3):
        while (job := table.next_job(now, everything=True)) is not None:
            table.done(job, now, set(), paused=False)
        now += 10.0
    while table.traces and (oldest := table.queues.oldest()) is not None:
        table._evict(oldest, now)
    assert (table.held, table.waiting, table.traces) == (0, 0, {})
    assert (table._tying._sessions._traces, table._tying._sessions._records) == ({}, {})
