"""Hold the one bus that needs no wiring: agents emit on it, the zero-code ways listen to it."""

from __future__ import annotations

import threading

from atifold.bus import EventBus

_lock = threading.Lock()
_bus: EventBus | None = None


def shared_bus() -> EventBus:
    """Return the process's shared bus, always the same one."""
    global _bus  # noqa: PLW0603 - one a process is what it is for
    with _lock:
        if _bus is None:
            _bus = EventBus()
        return _bus
