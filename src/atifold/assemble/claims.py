"""Know which documents traces stand in, so that one in which none stands any more is taken back."""

from __future__ import annotations

from collections import Counter

from atifold.assemble.trace import Trace


class Claims:
    """How many traces stand in the document of each name."""

    def __init__(self) -> None:
        """Start with none."""
        self._traces: Counter[str] = Counter()

    def __contains__(self, name: str) -> bool:
        """Tell whether any trace stands in the document of this name."""
        return name in self._traces

    def put(self, trace: Trace, names: frozenset[str]) -> None:
        """Note that a trace stands in the documents of these names, and in no others any more."""
        if names == trace.names:
            return
        for name in trace.names:
            self._traces[name] -= 1
            if not self._traces[name]:
                del self._traces[name]
        self._traces.update(names)
        trace.names = names
