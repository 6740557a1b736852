"""Call back when something that has ended was quiet for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

NS_PER_S = 1_000_000_000


class Sweeper:
    """A daemon thread, started on first need, that ends when there is nothing to wait for."""

    def __init__(self, sweep: Callable[[int], bool], grace_s: float) -> None:
        """Take what to call with the time since when all was quiet; it returns whether more will come."""
        self._sweep = sweep
        self._grace_s = grace_s
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._asked = False

    def wake(self) -> None:
        """Make sure that somebody sweeps after the grace time (a thread does not survive a fork)."""
        self._asked = True
        if self._thread is not None and self._thread.is_alive():
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="atifold-sweeper", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            self._asked = False
            time.sleep(self._grace_s)
            left = self._sweep(time.time_ns() - int(self._grace_s * NS_PER_S))
            with self._lock:
                if not left and not self._asked:
                    self._thread = None
                    return
