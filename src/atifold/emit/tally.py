"""Keep what metrics count and no attribute says: an agent's calls, a stream's gaps, the tools that were offered."""

from __future__ import annotations

import threading
from array import array
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

_MOST_GAPS: Final = 100_000  # of one stream; 800 kB
_MOST_UNREAD: Final = 16
_reading = threading.Lock()  # held for a moment by whoever reads what was offered


@dataclass(slots=True, eq=False)
class Calls:
    """What an agent did itself; what an agent inside it did is that one's.

    `model` is the one that all its inferences asked for, None where there were several or none.
    """

    inference_calls: int = 0
    tool_calls: int = 0
    model: str | None = None

    def infer(self, model: str | None) -> None:
        """Count an inference."""
        self.model = model if self.inference_calls == 0 or self.model == model else None
        self.inference_calls += 1


class Gaps:
    """The seconds between the chunks of one streamed answer, up to a hundred thousand of them."""

    __slots__ = ("_last_ns", "seconds")

    def __init__(self, first_ns: int) -> None:
        """Take the time of the first chunk, which has no gap before it."""
        self._last_ns = first_ns
        self.seconds = array("d")

    def chunk(self, time_ns: int) -> None:
        """Take the time of another chunk; a clock that went back makes a gap of 0."""
        if len(self.seconds) < _MOST_GAPS:
            self.seconds.append(max(0, time_ns - self._last_ns) / 1e9)
        self._last_ns = time_ns


class Offers:
    """The names of the tools that a run showed to its model.

    What was offered is read when somebody asks: nobody does where no metrics are recorded.
    """

    __slots__ = ("_known", "_names", "_unread")

    def __init__(self) -> None:
        """Start without an offer: nothing is known then."""
        self._known = False
        self._names: set[str] = set()
        self._unread: deque[Iterable[Any]] = deque()

    def add(self, tools: Iterable[Any]) -> None:
        """Take one offer: names, or objects or mappings with a name; an empty one is an offer too."""
        self._known = True
        self._unread.append(tools)
        if len(self._unread) > _MOST_UNREAD:
            self._read()

    def add_all(self, other: Offers) -> None:
        """Take what another run offered, which this one carries on."""
        if other._known:
            other._read()
            self.add(frozenset(other._names))

    def has(self, name: str) -> bool | None:
        """Tell whether a tool was offered; None where no offer is known."""
        if not self._known:
            return None
        self._read()
        return name in self._names

    def _read(self) -> None:
        with _reading:
            while self._unread:
                self._names.update(filter(None, map(_name, self._unread.popleft())))


def _name(tool: object) -> str | None:
    """Return the name of a tool's definition, of whichever shape; None where there is none."""
    if isinstance(tool, Mapping):
        function = tool.get("function")
        name = (function if isinstance(function, Mapping) else tool).get("name")
    else:
        name = tool if isinstance(tool, str) else getattr(tool, "name", None)
    return name if isinstance(name, str) else None
