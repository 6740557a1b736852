"""Hand a batch on in requests that the receiver takes, and account for what it does not take."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from atifold import process
from atifold.delivery.parts import Framed, Parts, Signal, TooLarge, cut

T = TypeVar("T", bound=Framed)

_log = logging.getLogger("atifold")


class Outcome(NamedTuple):
    """What was lost of a batch: things that no request can hold, and how many the receiver did not take."""

    too_large: Sequence[TooLarge] = ()
    refused: int = 0

    @property
    def lost(self) -> int:
        """Return how many things were lost."""
        return len(self.too_large) + self.refused


class Splitter(Generic[T]):
    """Send batches in parts of at most `max_bytes`, each whatever became of the one before.

    Retrying, and how long, is the business of who sends a part. `counts` says how much was split, mended,
    too large and refused so far.
    """

    def __init__(
        self, signal: Signal[T], send: Callable[[Sequence[T]], bool], max_bytes: int, *, persistent: bool = True
    ) -> None:
        """Take what sends a part and tells whether it was taken; not `persistent`: stop at the first refusal."""
        self.max_bytes = max_bytes
        self.counts: Counter[str] = Counter()
        self._signal = signal
        self._send = send
        self._persistent = persistent
        self._stopped = False
        self._totalled = False
        self._said: set[str] = set()
        self._lock = threading.Lock()
        process.watch_forks(self)

    def deliver(self, batch: Sequence[T]) -> Outcome:
        """Send a batch and return what was lost of it; never raises."""
        parts = self._cut(batch)
        for large in parts.too_large:
            words = "%s is %s bytes encoded and a request takes %s: it is not exported, what is beside it is"
            _log.warning(words, large.name, f"{large.size:,}", f"{self.max_bytes:,}")
        refused = self._refused(parts.requests)
        with self._lock:
            self.counts.update(split=len(parts.requests) > 1, mended=parts.mended)
            self.counts.update(too_large=len(parts.too_large), refused=refused)
        return Outcome(parts.too_large, refused)

    def stop(self) -> None:
        """Send nothing more: what still waits of a batch counts as refused; say how much was refused in all.

        What was too large was named, each by itself.
        """
        self._stopped = True
        with self._lock:
            refused = self.counts["refused"]
        if refused and not self._totalled:
            self._totalled = True
            _log.warning("%d %ss were not exported: the receiver did not take them", refused, self._signal.what)

    def after_fork(self) -> None:
        """Count anew in the child."""
        self._lock = threading.Lock()
        self.counts = Counter()
        self._totalled = False

    def _cut(self, batch: Sequence[T]) -> Parts[T]:
        try:
            parts = cut(batch, self._signal, self.max_bytes)
        except Exception as error:  # noqa: BLE001 - guards the user's program: the batch goes as it is
            self._say_once("a batch could not be measured and is sent whole", error)
            return Parts([batch], [], 0)
        if parts.mended:
            self._say_once("texts with half a surrogate pair are exported with U+FFFD in its place")
        return parts

    def _refused(self, requests: Sequence[Sequence[T]]) -> int:
        refused, given_up = 0, False
        for request in requests:
            given_up = given_up or self._stopped
            if given_up or not self._taken(request):
                refused += len(request)
                given_up = given_up or not self._persistent
        return refused

    def _taken(self, request: Sequence[T]) -> bool:
        try:
            return self._send(request)
        except Exception as error:  # noqa: BLE001 - guards the parts that come after it
            self._say_once("an exporter failed", error)
            return False

    def _say_once(self, words: str, error: Exception | None = None) -> None:
        if words not in self._said:
            self._said.add(words)
            _log.warning("%s%s", words, "" if error is None else f" ({type(error).__name__}: {error})")
