"""Whole programs with a real OTLP/HTTP server: what arrives there, and what is on disk."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atifold import atif

pytestmark = pytest.mark.integration

Start = Callable[..., "subprocess.Popen[str]"]
Finish = Callable[["subprocess.Popen[str]"], tuple[str, str]]
Documents = Callable[[], list[dict[str, Any]]]

WITHOUT_CODE = (str(Path(sys.executable).with_name("opentelemetry-instrument")),)
TURN = ["GET", "chat gpt-4o", "chat gpt-4o", "execute_tool find_table", "invoke_agent bookings"]


def _ask(process: subprocess.Popen[str], day: str) -> None:
    """Have the program book for a day, and wait until it has."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{day}\n")
    process.stdin.flush()
    assert process.stdout.readline() == f"booked {day}\n"


def _right(document: dict[str, Any], day: str) -> None:
    """Check a turn's document to the word: steps, call, result, tokens; whole and valid."""
    assert atif.check(document) == []
    user, asks, answers = document["steps"]
    assert (user["source"], user["message"]) == ("user", f"A table on {day}")
    (call,) = asks["tool_calls"]
    assert call["tool_call_id"] == f"call_{day}"
    assert (call["function_name"], call["arguments"]) == ("find_table", {"day": day})
    (result,) = asks["observation"]["results"]
    assert (result["source_call_id"], result["content"]) == (f"call_{day}", f"a table is free on {day}")
    assert answers["message"] == f"Booked for {day}."
    totals = document["final_metrics"]
    assert (totals["total_prompt_tokens"], totals["total_completion_tokens"]) == (81, 23)
    assert "incomplete" not in document["extra"]["atifold"]


def _day(document: dict[str, Any]) -> str:
    return str(document["steps"][0]["message"]).rsplit(" ", 1)[-1]


def _under_the_tool(collector: Any) -> None:
    """Check that each HTTP span is a child of the tool span of its turn, and nothing else is traced beside."""
    tools, calls = collector.named("execute_tool find_table"), collector.named("GET")
    assert [(c.trace_id, c.parent_span_id) for c in calls] == [(t.trace_id, t.span_id) for t in tools]
    assert collector.refused == []


def test_http_spans_nest_under_the_tool_and_the_trajectory_is_right(
    start: Start, finish: Finish, collector: Any, target: Any, documents: Documents
) -> None:
    """Two turns: ten spans at the collector, two documents, no word on stderr."""
    process = start("attached.py", target.url)
    _ask(process, "Friday")
    _ask(process, "Monday")
    assert finish(process) == ("", "")
    assert collector.names == sorted(TURN * 2)
    _under_the_tool(collector)
    friday, monday = documents()
    _right(friday, "Friday")
    _right(monday, "Monday")


@pytest.mark.parametrize("way", ["close", "hang"])
def test_a_collector_that_dies_in_the_middle_costs_no_trajectory(
    way: str, start: Start, finish: Finish, collector: Any, target: Any, documents: Documents
) -> None:
    """It goes while a tool of the second turn is at work; the program goes on, and so does the third turn."""
    target.asked = lambda path: getattr(collector, way)() if path == "/Monday" else None
    process = start("attached.py", target.url)
    for day in ("Friday", "Monday", "Sunday"):
        _ask(process, day)
    _, words = finish(process)
    assert "atifold" not in words
    assert collector.names == sorted(TURN)
    assert [_day(document) for document in documents()] == ["Friday", "Monday", "Sunday"]
    for document in documents():
        _right(document, _day(document))


@pytest.mark.parametrize("exporters", ["otlp,atif", "otlp"])
def test_without_code_spans_arrive_and_the_trajectory_is_written(
    exporters: str, start: Start, finish: Finish, collector: Any, target: Any, documents: Documents
) -> None:
    """`opentelemetry-instrument python app.py`, with our exporter named or not: the same, and each once."""
    program = start("plain.py", target.url, under=WITHOUT_CODE, OTEL_TRACES_EXPORTER=exporters)
    assert finish(program) == ("", "")
    assert collector.names == TURN
    _under_the_tool(collector)
    (document,) = documents()
    _right(document, "Friday")


def test_without_code_a_collector_that_dies_costs_no_trajectory(
    start: Start, finish: Finish, collector: Any, target: Any, documents: Documents
) -> None:
    """It goes while the tool is at work: nothing arrives, the document is written."""
    target.asked = lambda _: collector.close()
    _, words = finish(start("plain.py", target.url, under=WITHOUT_CODE, OTEL_TRACES_EXPORTER="otlp,atif"))
    assert "atifold" not in words
    assert collector.names == []
    (document,) = documents()
    _right(document, "Friday")


def test_without_code_it_can_be_turned_off(
    start: Start, finish: Finish, collector: Any, target: Any, tmp_path: Path
) -> None:
    """Then the bus has no listener: the other instrumentation's span alone, and no folder."""
    more = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "atifold"}
    assert finish(start("plain.py", target.url, under=WITHOUT_CODE, **more)) == ("", "")
    assert collector.names == ["GET"]
    assert not (tmp_path / "out").exists()


def test_without_anything_the_program_runs_all_the_same(
    start: Start, finish: Finish, collector: Any, target: Any, tmp_path: Path
) -> None:
    """An agent on the shared bus needs no telemetry."""
    assert finish(start("plain.py", target.url)) == ("", "")
    assert collector.names == []
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("last", ["parent", "child"])
def test_a_fork_in_the_middle_of_a_turn_leaves_each_turn_to_its_process(
    last: str, start: Start, finish: Finish, collector: Any, target: Any, documents: Documents
) -> None:
    """Three turns, three documents, each span once, whoever ends last."""
    finish(start("forking.py", target.url, last))
    before, *others = documents()
    assert [step["message"] for step in before["steps"]] == ["Before the fork", "In the parent alone."]
    assert set(before["extra"]["atifold"]) <= set(others[0]["extra"]["atifold"])  # no failure, nothing cut off
    assert sorted(_day(document) for document in others) == ["Friday", "Monday"]
    for document in others:
        _right(document, _day(document))
    assert len({span.span_id for span in collector.spans}) == len(collector.spans)
    assert len(collector.named("invoke_agent bookings")) == 3


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_worker_processes_write_their_own_turns(
    method: str, start: Start, finish: Finish, target: Any, documents: Documents
) -> None:
    """A worker that ends at once, without a flush of its own, loses none."""
    finish(start("workers.py", target.url, method))
    found = documents()
    assert sorted(_day(document) for document in found) == ["Friday", "Monday", "Sunday", "Tuesday"]
    for document in found:
        _right(document, _day(document))


@pytest.mark.parametrize("exporters", ["otlp,atif", "otlp"])
@pytest.mark.parametrize("logs", ["atif", "none"])
def test_without_code_what_log_records_say_is_in_the_trajectory(
    exporters: str, logs: str, start: Start, finish: Finish, collector: Any, documents: Documents
) -> None:
    """With `OTEL_LOGS_EXPORTER=atif`, whoever has the spans; with a LoggerProvider of the SDK even without it."""
    finish(start("records.py", under=WITHOUT_CODE, OTEL_TRACES_EXPORTER=exporters, OTEL_LOGS_EXPORTER=logs))
    assert collector.names == ["chat gpt-4o"]
    (document,) = documents()
    assert [step["message"] for step in document["steps"]] == ["Where is it?", "Here."]


def test_a_program_that_is_killed_leaves_whole_documents(
    start: Start, target: Any, documents: Documents, tmp_path: Path
) -> None:
    """With -9 in the midst of its work: what was flushed before is there, and no half of what was not."""
    process = start("attached.py", target.url)
    for number in range(20):
        _ask(process, f"day{number:02}")
    target.asked = lambda path: process.kill() if path == "/day30" else None
    assert process.stdin is not None
    process.stdin.write("".join(f"day{number}\n" for number in range(20, 60)))
    process.stdin.flush()
    assert process.wait(60) == -9
    found = documents()
    for document in found:
        _right(document, _day(document))
    assert [_day(document) for document in found] == [f"day{number:02}" for number in range(30)]
    assert [path.name for path in (tmp_path / "out").iterdir() if path.suffix not in (".json", ".tmp")] == []
