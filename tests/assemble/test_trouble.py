"""Errors of fold and sink, threads, fork, exit and shutdown: nothing reaches the program."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atifold.assemble import Assembler
from atifold.spans import Span

A, B = "a" * 32, "b" * 32


def test_an_error_in_the_fold_costs_no_other_trace(desk_of: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is counted each time, and said once with the trace id."""
    desk = desk_of()
    with caplog.at_level(logging.WARNING, "atifold"):
        desk.end(A, "1", None, "boom")
        desk.end("d" * 32, "1", None, "boom")
        desk.end(B, "2")
        desk.turn(3)
    assert desk.shelf.pages == {B: ["2"]}
    assert desk.assembler.counts["fold_errors"] == 2
    (line,) = [record.getMessage() for record in caplog.records]
    assert A in line
    assert "ZeroDivisionError" in line


def test_a_failing_sink_loses_nothing_once_it_works_again(desk_of: Any) -> None:
    """Documents wait and are tried again, less and less often."""
    desk = desk_of(grace_s=0.0)
    desk.shelf.broken = True
    desk.end(A, "1")
    desk.turn(0)
    desk.end(B, "2")
    desk.turn(0.5)
    assert desk.assembler.counts["sink_errors"] == 1, "not tried again within the second"
    desk.turn(2)
    desk.shelf.broken = False
    desk.turn(1)
    assert not desk.shelf.pages, "two seconds after the second failure, not before"
    desk.turn(3)
    assert set(desk.shelf.pages) == {A, B}


def test_a_flush_tries_a_failing_sink_at_once(desk_of: Any) -> None:
    """And says whether all is written."""
    desk = desk_of()
    desk.shelf.broken = True
    desk.end(A, "1")
    assert not desk.assembler.flush(5)
    desk.shelf.broken = False
    assert desk.assembler.flush(5)
    assert set(desk.shelf.pages) == {A}


def test_documents_that_can_never_be_written_are_counted_as_lost(desk_of: Any) -> None:
    """At the shutdown there is nothing to wait for any more."""
    desk = desk_of()
    desk.shelf.broken = True
    desk.end(A, "1")
    assert not desk.assembler.shutdown(5)
    assert desk.assembler.counts["documents_lost"] == 1


def test_unsaved_documents_are_bounded(desk_of: Any) -> None:
    """The oldest are lost first, and counted."""
    desk = desk_of(max_bytes=40_000)
    desk.shelf.broken = True
    for n in range(20):
        desk.end(f"{n:032x}", "1", text="x" * 1000)
        desk.turn(3)
    lost = desk.assembler.counts["documents_lost"]
    desk.shelf.broken = False
    assert desk.assembler.flush(5)
    assert len(desk.shelf.pages) == 20 - lost
    assert 0 < lost < 20
    assert f"{19:032x}" in desk.shelf.pages


def test_spans_after_the_shutdown_are_counted_and_left_out(desk_of: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Unfinished traces are written as incomplete, and a second shutdown does nothing."""
    desk = desk_of()
    desk.start(A, "1")
    desk.end(A, "2", "1", "agent inner")
    assert desk.assembler.shutdown(5)
    assert desk.shelf.reasons == {A: ["open_spans"]}
    with caplog.at_level(logging.WARNING, "atifold"):
        desk.end(A, "1")
        desk.end(A, "3", "1")
        desk.start(A, "4")
    assert desk.assembler.counts["after_shutdown"] == 2
    assert len(caplog.records) == 1
    assert desk.assembler.shutdown(5)
    assert desk.shelf.writes == [A]


def test_what_is_no_span_raises_nothing(desk_of: Any) -> None:
    """A bug of ours or of a caller is counted, not thrown at the program."""
    desk = desk_of()
    desk.assembler.closed(None)  # type: ignore[arg-type]
    desk.assembler.opened([], "1")  # type: ignore[arg-type]
    desk.end(A, "1")
    desk.turn(3)
    assert desk.shelf.pages == {A: ["1"]}
    assert desk.assembler.counts["internal_errors"] == 2


def test_a_log_handler_that_ends_spans_does_not_block(desk_of: Any) -> None:
    """Words are said outside the lock."""
    desk = desk_of(max_trace_bytes=1000)

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            desk.end(B, "1")

    handler = Handler()
    logging.getLogger("atifold").addHandler(handler)
    try:
        ended = threading.Thread(target=lambda: (desk.end(A, "1", text="x" * 5000), desk.turn(3)), daemon=True)
        ended.start()
        ended.join(5)
        assert not ended.is_alive()
    finally:
        logging.getLogger("atifold").removeHandler(handler)
    desk.turn(3)
    assert set(desk.shelf.pages) == {A, B}


def test_the_worker_writes_by_itself_on_a_thread_of_its_own(parts: Any) -> None:
    """With a real clock: no flush is needed, and the program's threads touch no sink."""
    shelf = parts.shelf()
    assembler = Assembler(parts.fold, shelf, parts.bounds(grace_s=0.02))
    assembler.opened(A, "1")
    assembler.closed(Span(A, "1", None, "agent", 1, 2))
    deadline = time.monotonic() + 5
    while A not in shelf.pages and time.monotonic() < deadline:
        time.sleep(0.005)
    assembler.closed(Span(B, "1", None, "agent", 1, 2))
    while B not in shelf.pages and time.monotonic() < deadline:
        time.sleep(0.005)
    assert set(shelf.pages) == {A, B}
    assert shelf.threads == {"atifold"}
    assert assembler.shutdown(5)


def test_many_threads_lose_no_span(parts: Any) -> None:
    """Eight threads write into shared traces while the worker folds."""
    shelf = parts.shelf()
    assembler = Assembler(parts.fold, shelf, parts.bounds(grace_s=0.001))

    def work(thread: int) -> None:
        for n in range(200):
            trace_id = f"{n % 10:032x}"
            assembler.opened(trace_id, f"{thread}-{n}", "root")
            assembler.closed(Span(trace_id, f"{thread}-{n}", "root", "agent", 1, 2))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert assembler.shutdown(10)
    assert sum(len(page) for page in shelf.pages.values()) == 1600
    assert "internal_errors" not in assembler.counts


def test_a_flush_gives_up_at_its_time(parts: Any) -> None:
    """A sink that hangs holds the caller no longer than it asked for."""
    entered, release = threading.Event(), threading.Event()

    class Hanging(parts.shelf):  # type: ignore[misc]
        def write(self, document: Any) -> None:
            entered.set()
            release.wait(10)
            super().write(document)

    shelf = Hanging()
    assembler = Assembler(parts.fold, shelf, parts.bounds(grace_s=0.0))
    assembler.closed(Span(A, "1", None, "agent", 1, 2))
    assert entered.wait(5)
    before = time.monotonic()
    assert not assembler.flush(0.05)
    assert time.monotonic() - before < 2
    release.set()
    assert assembler.shutdown(10)
    assert shelf.pages == {A: ["1"]}


def test_closing_never_waits_for_the_fold(parts: Any) -> None:
    """The lock is not held while a fold runs."""
    entered, release = threading.Event(), threading.Event()

    def slow(spans: Sequence[Span], **more: Any) -> list[Any]:
        entered.set()
        release.wait(10)
        return list(parts.fold(spans, **more))

    shelf = parts.shelf()
    assembler = Assembler(slow, shelf, parts.bounds(grace_s=0.0))
    assembler.closed(Span(A, "1", None, "agent", 1, 2))
    assert entered.wait(5)
    before = time.monotonic()
    assembler.closed(Span(A, "2", "1", "agent", 1, 2))
    assert time.monotonic() - before < 1
    release.set()
    assert assembler.shutdown(10)
    assert shelf.pages == {A: ["1", "2"]}


PROGRAM = """
import ctypes, os, sys, threading, time
from atifold.assemble import Assembler, Bounds
from atifold.settings import Settings
from atifold.spans import Span
from types import SimpleNamespace

def fold(spans, *, logs=(), incomplete=(), part=1, whole=()):
    page = {"spans": sorted(span.span_id for span in spans)}
    return [SimpleNamespace(name=spans[0].trace_id, trace_ids=(), kinship={}, trajectory=page)]

class Files:
    def write(self, page):
        with open(os.path.join(sys.argv[1], page.name), "w") as file:
            file.write(f"{os.getpid() == parent} {page.trajectory['spans']}")
    def discard(self, name): ...

parent = os.getpid()
assembler = Assembler(fold, Files(), Bounds.of(Settings(grace_s=0.01)), read=lambda thing: thing())
assembler.opened("a", "1")
assembler.closed(Span("a", "2", "1", "agent", 1, 2))
"""


def _run(tmp_path: Path, program: str) -> dict[str, str]:
    script = textwrap.dedent(PROGRAM) + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return {file.name: file.read_text() for file in tmp_path.iterdir()}


def test_a_program_that_just_ends_has_its_documents(tmp_path: Path) -> None:
    """The interpreter's exit writes what is open."""
    assert _run(tmp_path, "") == {"a": "True ['2']"}


def test_a_forked_child_has_its_own_traces_and_the_parent_its_own(tmp_path: Path) -> None:
    """Spans at hand stay the parent's; the child's worker and lock are new, even when forked under load."""
    found = _run(
        tmp_path,
        """
        entered, release = threading.Event(), threading.Event()
        assembler.put(lambda: entered.set() or release.wait(20) and None)
        assert entered.wait(20), "the worker holds the lock from here on"
        child = os.fork()
        if child == 0:
            assembler.closed(Span("b", "3", None, "agent", 1, 2))
            assert assembler.flush(5)
            sys.exit(0)
        release.set()
        assert os.waitpid(child, 0)[1] == 0
        assembler.closed(Span("a", "1", None, "agent", 1, 2))
        """,
    )
    assert found == {"a": "True ['1', '2']", "b": "False ['3']"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_that_python_does_not_tell_of_is_seen(tmp_path: Path) -> None:
    """Some servers fork in C: the spans at hand are the parent's there too."""
    found = _run(
        tmp_path,
        """
        time.sleep(0.5)  # the worker has nothing to do
        for spans in ("3", ""):
            child = ctypes.PyDLL(None).fork()
            if child == 0:
                for span in spans:
                    assembler.closed(Span("b", span, None, "agent", 1, 2))
                assert assembler.flush(5, everything=True)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        assembler.closed(Span("a", "1", None, "agent", 1, 2))
        """,
    )
    assert found == {"a": "True ['1', '2']", "b": "False ['3']"}


def test_a_fork_after_the_shutdown_starts_nothing_again(desk_of: Any) -> None:
    """What was shut down stays so."""
    desk = desk_of()
    desk.assembler.shutdown(1)
    desk.assembler.after_fork()
    desk.end(A, "1")
    desk.turn(3)
    assert not desk.shelf.pages
    assert desk.assembler.counts == {"after_shutdown": 1}


def test_a_span_that_ends_in_a_finalizer_does_not_block(desk_of: Any) -> None:
    """A collector may run it anywhere, also while this very thread puts spans away."""
    desk = desk_of()

    class Endless(dict[str, Any]):
        def get(self, *_: Any) -> None:
            for n in range(2000):
                desk.end(B, f"{n}")

    def put_away() -> None:
        desk.assembler.closed(Span(A, "1", None, "agent", 1, 2, attributes=Endless()))
        desk.turn(0)

    thread = threading.Thread(target=put_away, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    desk.turn(3)
    assert {name: len(page) for name, page in desk.shelf.pages.items()} == {A: 1, B: 2000}


def test_a_flush_inside_of_a_flush_does_not_block(desk_of: Any) -> None:
    """A signal handler may shut down while the main thread flushes."""
    desk = desk_of()
    write = desk.shelf.write

    def flush_and_write(document: Any) -> None:
        desk.shelf.write = write
        assert desk.assembler.flush(5)
        write(document)

    desk.shelf.write = flush_and_write
    desk.end(A, "1")
    desk.end(B, "1")
    before = time.monotonic()
    assert desk.assembler.flush(5)
    assert time.monotonic() - before < 3
    assert set(desk.shelf.pages) == {A, B}
    assert "internal_errors" not in desk.assembler.counts
