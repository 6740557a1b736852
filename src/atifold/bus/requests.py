"""Match executions of tools with the calls that a model asked for, where the caller names no id."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Final

from atifold.bus.inputs import arguments_of, called, text_id

_MOST_OPEN: Final = 1_000  # requests that may never be answered through the bus


class Requests:
    """The calls that one run's models asked for and that no execution has answered yet, the newest 1,000."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._open: dict[str, Mapping[str, Any]] = {}

    def add(self, calls: Iterable[dict[str, Any]], instead_of: Iterable[Mapping[str, Any]] = ()) -> None:
        """Remember what a model asked for, `instead_of` what it had; a call without an id is given one."""
        with self._lock:
            for call in instead_of:
                self._drop(call.get("id"))
            for call in calls:
                call_id = call["id"] = text_id(call.get("id")) or _new_call_id()
                self._open[call_id] = call
            while len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]

    def claim(self, name: str, arguments: dict[str, Any], call_id: object) -> str:
        """Return the id of an execution: the given one, else that of the request it answers, else a new one.

        Without an id it answers the first open request of its name with equal arguments, else the
        only open one of its name (its arguments may have been completed since).
        """
        with self._lock:
            found = text_id(call_id) or self._answered(name, arguments) or _new_call_id()
            self._drop(found)
            return found

    def _answered(self, name: str, arguments: dict[str, Any]) -> str | None:
        asked = ((call_id, called(call)) for call_id, call in self._open.items())
        named = [(call_id, function.get("arguments")) for call_id, function in asked if function.get("name") == name]
        equal = (call_id for call_id, given in named if _are_equal(arguments_of(given), arguments))
        return next(equal, named[0][0] if len(named) == 1 else None)

    def _drop(self, call_id: object) -> None:
        if isinstance(call_id, str):
            self._open.pop(call_id, None)


def _are_equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001  arrays and other objects of somebody else's
        return False


def _new_call_id() -> str:
    return f"call_{secrets.token_hex(6)}"
