"""Hold the errors that callers can catch, and the one-line form of a complaint about input.

The tree::

    AtifoldError                     anything that atifold raises on purpose
    ├── InputError                   an input that cannot be read as what it should be
    └── OutputError                  a place that cannot be written

Offline code raises these; code that runs inside a user's program never does (it logs and counts).
"""

from __future__ import annotations

from pathlib import Path


class AtifoldError(Exception):
    """Say in one line what went wrong and what was wanted."""


class InputError(AtifoldError):
    """Name a place in an input, what was found there and what was wanted.

    The text is `WHERE: FOUND, WANTED`, where WHERE is `FILE`, `FILE:LINE` or a stream's name.
    """

    def __init__(self, where: str | Path, found: str, wanted: str, *, line: int | None = None) -> None:
        """Take the place (`line` counts from 1), what was found there and what was wanted."""
        self.where = str(where) if line is None else f"{where}:{line}"
        self.found = found
        self.wanted = wanted
        super().__init__(f"{self.where}: {found}, {wanted}")


class OutputError(AtifoldError):
    """Name a path that cannot be written, and why."""

    def __init__(self, path: str | Path, why: str) -> None:
        """Take the path and the operating system's reason."""
        self.path = str(path)
        self.why = why
        super().__init__(f"{path}: cannot be written: {why}")
