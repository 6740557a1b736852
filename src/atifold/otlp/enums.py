"""Read the two enums of a span, which writers put down as numbers, as digits or by name."""

from __future__ import annotations

from typing import Any, Final

from atifold.spans import Kind, Status

_KINDS: Final = dict(
    enumerate((Kind.UNSPECIFIED, Kind.INTERNAL, Kind.SERVER, Kind.CLIENT, Kind.PRODUCER, Kind.CONSUMER))
)
_STATUSES: Final = dict(enumerate((Status.UNSET, Status.OK, Status.ERROR)))
_PREFIXES: Final = ("SPAN_KIND_", "SPANKIND.", "STATUS_CODE_", "STATUSCODE.")


def kind_of(value: Any) -> Kind:
    """Return the kind, `UNSPECIFIED` for an unknown one."""
    return _member(value, _KINDS) or Kind.UNSPECIFIED


def status_of(value: Any) -> Status:
    """Return the status, `UNSET` for an unknown one."""
    return _member(value, _STATUSES) or Status.UNSET


def _member(value: Any, members: dict[int, Any]) -> Any:
    if isinstance(value, int):
        return members.get(value)
    if not isinstance(value, str):
        return None
    if value.isdecimal():
        return members.get(int(value))
    name = value.upper()
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return next((member for member in members.values() if member.value == name), None)
