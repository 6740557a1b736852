"""Remember which spans were written and let go, and the last part of each trace, within a bound."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable


class _Past:
    """What is remembered of one trace: `part` is None while the trace is in the table."""

    __slots__ = ("entries", "ids", "part")

    def __init__(self) -> None:
        self.part: int | None = None
        self.ids: set[str] = set()
        self.entries = 0


class Remembered:
    """Remember the ids of spans that went into documents, the oldest forgotten first.

    `size` counts an id as one and each call that brought some as one more; it passes `most` by no
    more than the last call brought.
    """

    def __init__(self, most: int) -> None:
        """Take how many ids are remembered."""
        self.most = most
        self.size = 0
        self._pasts: dict[str, _Past] = {}
        self._oldest_first: deque[tuple[str, tuple[str, ...]]] = deque()

    def knows(self, trace_id: str, span_id: str) -> bool:
        """Return whether the span is remembered."""
        past = self._pasts.get(trace_id)
        return past is not None and span_id in past.ids

    def put(self, trace_id: str, span_ids: Iterable[str]) -> None:
        """Remember spans of a trace that goes on."""
        self._add(trace_id, tuple(span_ids))

    def let_go(self, key: str, part: int, span_ids: Iterable[str] = ()) -> None:
        """Remember the last part of a trace, or of a conversation, that is let go, and spans of it."""
        self._add(key, tuple(span_ids)).part = part

    def take_up(self, key: str) -> int | None:
        """Return the last part of what was let go and goes on now, None for what was not or is forgotten."""
        past = self._pasts.get(key)
        if past is None:
            return None
        part, past.part = past.part, None
        return part

    def _add(self, key: str, span_ids: tuple[str, ...]) -> _Past:
        past = self._pasts.get(key)
        if past is None:
            past = self._pasts[key] = _Past()
        past.ids.update(span_ids)
        past.entries += 1
        self._oldest_first.append((key, span_ids))
        self.size += len(span_ids) + 1
        while self.size > self.most and len(self._oldest_first) > 1:
            self._forget_oldest()
        return past

    def _forget_oldest(self) -> None:
        key, span_ids = self._oldest_first.popleft()
        self.size -= len(span_ids) + 1
        past = self._pasts[key]
        past.ids.difference_update(span_ids)
        past.entries -= 1
        if not past.entries:
            del self._pasts[key]
