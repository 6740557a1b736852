"""Tell living parts of the moments in a process's life that they cannot see: fork, exit, and an end without exit.

A worker of multiprocessing, and a program that SIGTERM ends, leave without Python's exit handlers.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, Protocol

EXIT_TIMEOUT_S: Final = 10.0

_log = logging.getLogger("atifold")


class Forked(Protocol):
    """What has to hear of a fork."""

    def after_fork(self) -> None:
        """Start clean in the child: what is at hand is the parent's."""
        ...


class Resident(Forked, Protocol):
    """What has to hear of fork and exit."""

    def flush(self, timeout_s: float, *, everything: bool) -> bool:
        """Write what there is."""
        ...


_forked: weakref.WeakSet[Forked] = weakref.WeakSet()
_residents: weakref.WeakSet[Resident] = weakref.WeakSet()
_before: list[Callable[[], object]] = []
_passing_on: list[Callable[[], object]] = []
_loading = threading.RLock()
_held_for_a_fork = False
_minded = 0
"""The worker of multiprocessing that is seen out, by its process id."""


def watch_forks(part: Forked) -> None:
    """Have `part` told of each fork, in the child, for as long as it lives."""
    _forked.add(part)


def loading() -> AbstractContextManager[object]:
    """Return what to hold on a thread of our own while it imports: no fork comes in between.

    A child has no such thread any more, and would find a module for good as far as it had come.
    """
    return _loading


def watch(resident: Resident) -> None:
    """Have `resident` told of fork and exit for as long as it lives."""
    watch_forks(resident)
    _residents.add(resident)
    _mind_a_worker()


def before_exit(call: Callable[[], object]) -> Callable[[], None]:
    """Call something that brings spans, at the process's exit and before what is there is written.

    Returns the way to take it back.
    """
    registered = partial(call)  # unlike the call itself equal to no other one
    _before.append(registered)
    atexit.register(registered)

    def take_back() -> None:
        if registered in _before:
            _before.remove(registered)
            atexit.unregister(registered)

    return take_back


def before_leaving(call: Callable[[], object]) -> Callable[[], None]:
    """Call something that passes on what is queued, where a process ends without exit handlers.

    It comes after what brings spans; at an exit the SDK's own handlers do it. Returns the way to take it back.
    """
    registered = partial(call)
    _passing_on.append(registered)
    _mind_a_worker()

    def take_back() -> None:
        if registered in _passing_on:
            _passing_on.remove(registered)

    return take_back


def leave() -> None:
    """Bring, pass on and write what there is, as the process ends here; never raises."""
    for call in (*_before, *_passing_on, _at_exit):
        try:
            call()
        except Exception:  # noqa: BLE001 - guards the user's program, and the calls after
            _log.exception("something could not be brought before the process's end")


def _before_fork() -> None:
    global _held_for_a_fork  # noqa: PLW0603 - written by who holds the lock
    _held_for_a_fork = _loading.acquire(timeout=EXIT_TIMEOUT_S)


def _in_parent() -> None:
    if _held_for_a_fork:
        _loading.release()


def _in_child() -> None:
    global _loading  # noqa: PLW0603 - the parent's is the parent's
    _loading = threading.RLock()
    for part in list(_forked):
        part.after_fork()
    workers = sys.modules.get("multiprocessing.util")
    if workers is not None:
        # A worker forgets the finalizers of its parent first, and takes new ones after that.
        workers.register_after_fork(_see_a_worker_out, lambda see_out: see_out())


def _mind_a_worker() -> None:
    workers = sys.modules.get("multiprocessing.process")
    if workers is not None and workers.parent_process() is not None:
        _see_a_worker_out()


def _see_a_worker_out() -> None:
    """Write at the end of a worker of multiprocessing too: Python's exit handlers do not run there.

    Python 3.13 clears them in a forked worker, older ones pass them over (`multiprocessing.popen_fork`).
    """
    global _minded  # noqa: PLW0603 - what is passed on twice would be counted twice
    workers = sys.modules.get("multiprocessing.util")
    if workers is not None and _minded != os.getpid():
        _minded = os.getpid()
        workers.Finalize(None, leave, exitpriority=0)


def _at_exit() -> None:
    # A flush, not a shutdown: the SDK's own exit handler may come after this one and bring more spans.
    for resident in list(_residents):
        resident.flush(EXIT_TIMEOUT_S, everything=True)


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
