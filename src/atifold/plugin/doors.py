"""Know the side doors of this process, so that the shared bus's records reach them.

The SDK makes an exporter by itself, and nobody is handed it; here it is found again.
"""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

from atifold.spans import SideDoor

D = TypeVar("D")

_doors: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def register(door: SideDoor) -> None:
    """Count `door` among this process's doors for as long as it lives, or until `unregister`."""
    _doors[id(door)] = door


def unregister(door: SideDoor) -> None:
    """Take `door` out; one that is not there is no error."""
    _doors.pop(id(door), None)


def doors() -> tuple[SideDoor, ...]:
    """Return the doors that are alive, in the order of their coming."""
    return tuple(_doors.values())


def first(kind: type[D], *, but: object = None) -> D | None:
    """Return the first living door of a kind that is not `but`, None where there is none."""
    return next((door for door in doors() if isinstance(door, kind) and door is not but), None)
