"""What a process tells its parts: of a fork, of its exit."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
from atifold import process

class Part:
    def __init__(self, name):
        self.name = name
    def say(self, word):
        os.write(1, f"{'parent' if os.getpid() == parent else 'child'} {self.name} {word}\\n".encode())
    def after_fork(self):
        self.say("forked")
    def flush(self, timeout_s, *, everything):
        self.say("flushed")

parent = os.getpid()
"""


def _run(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(PROGRAM) + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    return sorted(done.stdout.splitlines())


def test_the_exit_flushes_what_lives_and_calls_what_brings_spans_before() -> None:
    """What was taken back is not called, what was registered twice is once; a part that is gone is not flushed."""
    words = _run(
        """
        kept, gone = Part("kept"), Part("gone")
        process.watch(kept)
        process.watch(gone)
        del gone
        process.before_exit(lambda: print("1 brings", flush=True))
        process.before_exit(lambda: print("2 never", flush=True))()

        def call():
            print("3 brings", flush=True)

        take_back = process.before_exit(call)
        process.before_exit(call)
        take_back()
        take_back()
        """,
    )
    assert words == ["1 brings", "3 brings", "parent kept flushed"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_hears_of_the_fork_before_anything_else() -> None:
    """Both who writes and who only holds spans; at its exit the child flushes its own."""
    words = _run(
        """
        writes, holds = Part("writes"), Part("holds")
        process.watch(writes)
        process.watch_forks(holds)
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
        """,
    )
    assert words == ["child holds forked", "child writes flushed", "child writes forked", "parent writes flushed"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_no_fork_cuts_an_import_in_two(tmp_path: Path) -> None:
    """A child finds the module whole that a thread of the parent was importing at the fork."""
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.5)\nWHOLE = True\n", encoding="utf-8")
    words = _run(
        f"""
        import threading
        sys.path.insert(0, {str(tmp_path)!r})
        begun = threading.Event()
        def load():
            with process.loading():
                begun.set()
                import slow
        threading.Thread(target=load).start()
        begun.wait()
        child = os.fork()
        import slow
        Part("found it").say(str(slow.WHOLE))
        if child:
            assert os.waitpid(child, 0)[1] == 0
        """,
    )
    assert words == ["child found it True", "parent found it True"]


def test_leaving_brings_passes_on_and_writes_in_this_order() -> None:
    """What fails keeps nothing else from it; what was taken back is not called."""
    words = _run(
        """
        import logging
        logging.getLogger("atifold").disabled = True
        kept = Part("3 kept")
        process.watch(kept)
        process.before_leaving(lambda: kept.say("2 passes on"))
        process.before_leaving(lambda: kept.say("never"))()
        process.before_leaving(lambda: 1 / 0)
        process.before_exit(lambda: kept.say("1 brings"))
        process.leave()
        os._exit(0)
        """,
    )
    assert words == ["parent 3 kept 1 brings", "parent 3 kept 2 passes on", "parent 3 kept flushed"]


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_worker_that_begins_by_itself_passes_on_once(method: str, tmp_path: Path) -> None:
    """However it was started, and however many parts there are in it."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(WORKER), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program), method], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stderr, done.returncode) == ("", 0)
    # Python's exit handlers flush what is there by then: in a spawned worker after this, from 3.13 on in every
    # worker that is not forked, and before it.
    first = ["flushed"] * (sys.version_info >= (3, 13) and method != "fork")
    then = ["flushed"] * (sys.version_info < (3, 13) and method == "spawn")
    assert done.stdout.splitlines() == [*first, "passed on", "passed on", "flushed", *then]


WORKER = r"""
import multiprocessing, os, sys
from atifold import process

class Part:
    def after_fork(self):
        pass
    def flush(self, timeout_s, *, everything):
        os.write(1, b"flushed\n")

PARTS = [Part()]

def work():
    process.watch(PARTS[0])
    process.before_leaving(lambda: os.write(1, b"passed on\n"))
    process.before_leaving(lambda: os.write(1, b"passed on\n"))

if __name__ == "__main__":
    worker = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    worker.start()
    worker.join()
    sys.exit(worker.exitcode)
"""
