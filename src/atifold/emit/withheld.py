"""Keep argument values that were changed or hidden after the model proposed them off every span.

A tool's end names the keys. The proposed values are then left out wherever the call shows again: on
its own span, in the answer that asked for it, in the histories of later requests. Side doors get
them: the trajectory says what the model proposed and which keys changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

_MOST_CALLS: Final = 10_000  # remembered; an older one's call would be far back in a history


class Withheld:
    """The keys whose values must not leave, by call id."""

    def __init__(self) -> None:
        """Start with none."""
        self._keys: dict[str, frozenset[str]] = {}

    def add(self, call_id: str, keys: Iterable[str]) -> None:
        """Remember the keys of a call; of more than the bound the oldest call is forgotten."""
        if call_id not in self._keys and len(self._keys) >= _MOST_CALLS:
            del self._keys[next(iter(self._keys))]
        self._keys[call_id] = self._keys.get(call_id, frozenset()).union(keys)

    def arguments(self, call_id: object, arguments: Any) -> Any:
        """Return a call's arguments without those keys; None where they have no keys to tell apart."""
        keys = self._keys.get(call_id) if isinstance(call_id, str) else None
        if not keys or arguments is None:
            return arguments
        return {k: v for k, v in arguments.items() if k not in keys} if isinstance(arguments, Mapping) else None

    def messages(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """Return messages without those values; None where they hold no such call."""
        if not self._keys or not any(self._tells(part) for message in messages for part in message["parts"]):
            return None
        return [{**message, "parts": [self._part(part) for part in message["parts"]]} for message in messages]

    def _knows(self, call_id: object) -> bool:
        return type(call_id) is str and call_id in self._keys

    def _tells(self, part: Any) -> bool:
        return isinstance(part, dict) and part.get("type") == "tool_call" and self._knows(part.get("id"))

    def _part(self, part: Any) -> Any:
        if not self._tells(part):
            return part
        return {**part, "arguments": self.arguments(part["id"], part.get("arguments"))}
