"""Match executions of tools with the calls that a model asked for, where the caller names no id."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from atifold.bus.inputs import arguments_of


class Requests:
    """The calls that one run's models asked for and that no execution has answered yet."""

    def __init__(self) -> None:
        """Begin with none."""
        self._open: dict[str, Mapping[str, Any]] = {}

    def add(self, calls: Iterable[dict[str, Any]]) -> None:
        """Remember what a model asked for; a call without an id is given one."""
        for call in calls:
            call_id = call.get("id")
            if not call_id:
                call_id = call["id"] = _new_call_id()
            if type(call_id) is str:
                self._open[call_id] = call

    def claim(self, name: str, arguments: dict[str, Any], call_id: str | None) -> str:
        """Return the id of an execution: the given one, else that of the request it answers, else a new one.

        Without an id it answers the first open request of its name with equal arguments, else the
        only open one of its name (its arguments may have been completed since).
        """
        if call_id:
            self._open.pop(call_id, None)
            return call_id
        named = [(key, _asked(call)[1]) for key, call in list(self._open.items()) if _asked(call)[0] == name]
        equal = [key for key, asked in named if arguments_of(asked) == arguments]
        for key in equal or [key for key, _ in named if len(named) == 1]:
            if self._open.pop(key, None) is not None:  # no other thread was first
                return key
        return _new_call_id()


def _asked(call: Mapping[str, Any]) -> tuple[Any, Any]:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    return inner.get("name"), inner.get("arguments")


def _new_call_id() -> str:
    return f"call_{secrets.token_hex(6)}"
