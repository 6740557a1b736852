"""Count what happened, and say each kind of trouble once."""

from __future__ import annotations

import logging
import threading

_log = logging.getLogger("atifold")


class Counts:
    """Count by kind, from any thread; a kind that comes with words is said the first time only.

    `add` only notes the words and `say` logs them: a log handler may do anything, end spans included,
    so it must not run under anybody's lock.
    """

    def __init__(self) -> None:
        """Start with nothing counted."""
        self._lock = threading.RLock()
        self._counts: dict[str, int] = {}
        self._said: set[tuple[str, str]] = set()
        self._unsaid: list[tuple[int, str]] = []

    def add(
        self, kind: str, words: str = "", *values: object, n: int = 1, sort: str = "", level: int = logging.WARNING
    ) -> None:
        """Count `n` of a kind; `words` and `values` are its log line (`%s` style), never content.

        A kind that comes in several sorts has each of them said once.
        """
        if n < 1:
            return
        with self._lock:
            if words and (kind, sort) not in self._said:
                self._said.add((kind, sort))
                self._unsaid.append((level, f"{words % values} (said once, counted as {kind})"))
            self._counts[kind] = self._counts.get(kind, 0) + n

    def say(self) -> None:
        """Log what was noted since."""
        with self._lock:
            unsaid, self._unsaid = self._unsaid, []
        for level, line in unsaid:
            _log.log(level, "%s", line)

    def as_dict(self) -> dict[str, int]:
        """Return the figures so far, a copy."""
        with self._lock:
            return dict(self._counts)
