"""Tell living assemblers of the two moments in a process's life that they cannot see: fork and exit."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Protocol

_EXIT_TIMEOUT_S = 10.0


class Resident(Protocol):
    """What has to hear of fork and exit."""

    def after_fork(self) -> None:
        """Start clean in the child."""
        ...

    def flush(self, timeout_s: float, *, everything: bool) -> bool:
        """Write what there is."""
        ...


_residents: weakref.WeakSet[Resident] = weakref.WeakSet()


def watch(resident: Resident) -> None:
    """Have `resident` told of fork and exit for as long as it lives."""
    _residents.add(resident)


def _in_child() -> None:
    for resident in list(_residents):
        resident.after_fork()


def _at_exit() -> None:
    # A flush, not a shutdown: the SDK's own exit handler may come after this one and bring more spans.
    for resident in list(_residents):
        resident.flush(_EXIT_TIMEOUT_S, everything=True)


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_in_child)
