"""Let the writers of one machine come one after another, so that they need not try again and again.

That is a courtesy alone: what keeps the ledger whole is the compare-and-swap of its branch.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from atifold.runs.git import Git

_FILE: Final = "atifold-runs.lock"


@contextmanager
def in_turn(git: Git) -> Generator[None]:
    """Wait for other writers to this repository; where the system cannot lock files, for nobody."""
    place = git.word("rev-parse", "--git-common-dir")
    try:
        import fcntl  # noqa: PLC0415 - Windows has none

        file = os.open(git.folder / (place or ".git") / _FILE, os.O_RDWR | os.O_CREAT, 0o666)
    except (ImportError, OSError):
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
