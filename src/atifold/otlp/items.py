"""Read what spans and log records have in common: names in two spellings, ids, times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from atifold.otlp.ids import read_id

_UINT64: Final = 2**64
_EVENT_NAME: Final = "event.name"
"""The attribute that named an event before records had a field for it."""


class Origin(NamedTuple):
    """What the items of one scope share."""

    resource: dict[str, Any]
    scope_name: str = ""
    scope_version: str = ""


def first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Return what stands under the first of some names that is there, None where none is."""
    for name in names:
        if name in value:
            return value[name]
    return None


def required_id(item: Mapping[str, Any], camel: str, snake: str, size: int) -> str:
    """Return an id of `size` bytes as hex; raises KeyError where there is none."""
    return known_id(item.get(camel, item.get(snake)), camel, size)


def known_id(value: Any, name: str, size: int) -> str:
    """Return an id of `size` bytes as hex; raises KeyError, with the name of the field, where it says none."""
    found = read_id(value, size)
    if found is None:
        raise KeyError(name)
    return found


def event_name(attributes: Mapping[str, Any], own: str) -> str:
    """Return what a log record calls its event, "" for a plain line of a log; `own` is the field for it.

    The attribute goes before the field: some writers put a place in their source there.
    """
    named = attributes.get(_EVENT_NAME)
    return named if isinstance(named, str) and named else own


def nanoseconds(value: Any) -> int:
    """Return nanoseconds since the epoch, 0 for none; raises ValueError for what fits no 64 bits."""
    try:
        time = int(value or 0)
    except (TypeError, ValueError, OverflowError):
        time = -1
    if not 0 <= time < _UINT64:
        raise ValueError(f"time {str(value)[:40]}")
    return time
