"""Find the leaves of a payload in its wire form, and write a marker of its own into each content leaf."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from story import Wire

from atifold.events.envelope import UnknownEvent, parse
from atifold.events.marks import Mark, leaves


class Spot(NamedTuple):
    """One leaf of a payload: its path with indices, and where to write."""

    path: str
    inside: Any
    key: Any

    @property
    def value(self) -> Any:
        """Return what stands there."""
        return self.inside[self.key]

    @property
    def open_path(self) -> str:
        """Return the path as marks write it."""
        return re.sub(r"\[\d+\]", "[]", self.path)


def spots(value: Any, path: str = "") -> Iterator[Spot]:
    """Yield every leaf that holds something: texts, numbers, booleans."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        below = f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}" if path else key
        if isinstance(item, (dict, list)):
            yield from spots(item, below)
        elif item is not None:
            yield Spot(below, value, key)


def readable(event: Wire) -> bool:
    """Tell whether the event's own model still reads the payload."""
    payload = parse(event).payload
    return not isinstance(payload, UnknownEvent) or payload.reason != "unreadable"


class Put(NamedTuple):
    """One marker and the path, with indices, of the leaf that it was put into."""

    marker: str
    path: str


def mark(event: Wire, first: int = 0) -> list[str]:
    """Write a marker into every content leaf of an event that can hold a text; return the markers."""
    return [put.marker for put in put_markers(event, first)]


def put_markers(event: Wire, first: int = 0) -> list[Put]:
    """Write a marker into every content leaf of an event that can hold a text; return where."""
    kinds = {path: kind for path, kind, _ in leaves(parse(event))}
    put: list[Put] = []
    for spot in list(spots(event["payload"])):
        if kinds[spot.open_path] is Mark.STRUCTURE:
            continue
        old, marker = spot.value, f"mk{first + len(put):05d}x"
        spot.inside[spot.key] = marker
        if readable(event):
            put.append(Put(marker, spot.path))
        else:
            spot.inside[spot.key] = old
    return put
