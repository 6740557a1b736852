"""SIGTERM, where everything is passed on before it ends the program: whose handler it is, and what may hinder it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from atifold.plugin.termination import flush_at_sigterm

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM is not sent on Windows")

PROGRAM = """
import os, signal, sys, threading, time
from atifold import process
from atifold.plugin.termination import flush_at_sigterm

process.EXIT_TIMEOUT_S = 1.0
assert flush_at_sigterm()
"""


def _run(program: str) -> tuple[int, list[str], float]:
    """Return how the program ended, what it said, and how long it took."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines(), time.monotonic() - begun


def test_it_passes_on_and_dies_of_the_signal() -> None:
    """Who started it sees the same end as without us."""
    code, words, _ = _run(
        """
        process.before_leaving(lambda: print("passed on", flush=True))
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(20)
        """
    )
    assert (code, words) == (-signal.SIGTERM, ["passed on"])


def test_a_lock_that_the_program_holds_is_released_first() -> None:
    """The signal comes in the middle of a queue's work: the program goes on until that is done."""
    code, words, _ = _run(
        """
        lock = threading.Lock()
        def pass_on():
            with lock:
                print("passed on", flush=True)
        process.before_leaving(pass_on)
        with lock:
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(20)
        """
    )
    assert (code, words) == (-signal.SIGTERM, ["passed on"])


def test_what_never_ends_does_not_keep_the_program_alive() -> None:
    """After the time that an exit may take it is over."""
    code, words, seconds = _run(
        """
        process.before_leaving(lambda: time.sleep(25))
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(25)
        """
    )
    assert (code, words) == (-signal.SIGTERM, [])
    assert seconds < 15


def test_who_asks_twice_does_not_wait() -> None:
    """The second signal ends it at once."""
    code, _, seconds = _run(
        """
        process.EXIT_TIMEOUT_S = 25
        process.before_leaving(lambda: time.sleep(25))
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(25)
        """
    )
    assert code == -signal.SIGTERM
    assert seconds < 15


def test_a_handler_of_the_program_is_left_alone() -> None:
    """And signals of other threads are none of ours."""
    before = signal.getsignal(signal.SIGTERM)
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        assert not flush_at_sigterm()
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
    said: list[bool] = []
    thread = threading.Thread(target=lambda: said.append(flush_at_sigterm()))
    thread.start()
    thread.join()
    assert said == [False]
