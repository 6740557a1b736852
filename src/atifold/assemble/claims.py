"""Know which documents traces stand in, so that none is taken back in which another one stands."""

from __future__ import annotations

from collections import Counter

from atifold.assemble.trace import Trace


class Claims:
    """Count for each document's name the traces that stand in it."""

    def __init__(self) -> None:
        """Start with none."""
        self._counts: Counter[str] = Counter()

    def __contains__(self, name: str) -> bool:
        """Tell whether any trace stands in the document."""
        return name in self._counts

    def put(self, trace: Trace, names: frozenset[str] = frozenset()) -> None:
        """Note in which documents a trace stands from now on."""
        if names == trace.names:
            return
        for name in trace.names:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]
        self._counts.update(names)
        trace.names = names
