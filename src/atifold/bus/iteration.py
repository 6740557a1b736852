"""Hand events to an `async for`."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atifold.bus.bus import EventBus
    from atifold.events.envelope import Event


class EventStream(AsyncIterator["Event"]):
    """The events of a bus as an async iterator, fed from any thread."""

    def __init__(self, bus: EventBus, pattern: str, max_waiting: int) -> None:
        """Subscribe at once: events from now on are delivered, also before the first `async for`."""
        self._bus = bus
        self._waiting: deque[Event] = deque()
        self._max_waiting = max_waiting
        self._loop: asyncio.AbstractEventLoop | None = None
        self._there = asyncio.Event()
        self._closed = False
        self._unsubscribe = bus.subscribe(pattern, self._put)

    def _put(self, event: Event) -> None:
        if len(self._waiting) >= self._max_waiting:
            self._waiting.popleft()
            self._bus.counts["dropped_by_iterator"] += 1
        self._waiting.append(event)
        self._wake()

    def _wake(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._there.set)

    async def __anext__(self) -> Event:
        """Return the next event; raises StopAsyncIteration once closed and empty."""
        self._loop = asyncio.get_running_loop()
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._there.clear()
            if not self._waiting:
                await self._there.wait()
        return self._waiting.popleft()

    async def aclose(self) -> None:
        """Unsubscribe; what was delivered before can still be taken."""
        self._unsubscribe()
        self._closed = True
        self._wake()
