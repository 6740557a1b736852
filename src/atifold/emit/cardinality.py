"""Keep the values of metric attributes few, whatever a program or a model names."""

from __future__ import annotations

from typing import Final

OTHER: Final = "_OTHER"
MOST_VALUES: Final = 100  # of one attribute in one process


class FewValues:
    """Let the first values of each attribute pass; all later ones are `_OTHER`."""

    def __init__(self, most: int = MOST_VALUES) -> None:
        """Take how many values of one attribute there may be."""
        self._most = most
        self._seen: dict[str, set[str]] = {}

    def shown(self, attribute: str, value: str) -> str:
        """Return the value, or `_OTHER` where there are too many others. Threads at once may let one more pass."""
        seen = self._seen.get(attribute)
        if seen is None:
            seen = self._seen.setdefault(attribute, set())
        if value in seen:
            return value
        if len(seen) >= self._most:
            return OTHER
        seen.add(value)
        return value
