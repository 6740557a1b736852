"""Make the events that blocks emit without reading what the blocks themselves wrote.

A block knows the types of most values; what a user gave is looked at here. Where one of these has
another type than its field, the event is read as any other is. The events are the same either way.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from types import NoneType
from typing import Any, Final, NamedTuple

from atifold.events.envelope import Event, Meta, build
from atifold.events.payload import Nested, Payload
from atifold.events.registry import PREFIX
from atifold.events.stream import LLMEnd, LLMStart, LLMToken, LLMUsage, ToolEnd, ToolStart

Make = Callable[[dict[str, Any], dict[str, Any], Meta], Event]
"""Makes an event of its fields by Python names (`usage` as such a dict too), its extension fields and its envelope."""

_TEXT: Final = (str, NoneType)
_NUMBER: Final = (int, float, NoneType)

_COUNTED: Final = {"atifold.inclusive": True}
"""What says that usage is counted as the conventions count it; all usage of blocks is."""


class _Row(NamedTuple):
    """The model of an event, and the types of the fields that users give."""

    model: type[Payload]
    given: dict[str, tuple[type, ...]]


_ROWS: Final = {
    f"{PREFIX}stream.llm_start": _Row(
        LLMStart, {"provider": _TEXT, "model": _TEXT, "system_prompt_text": _TEXT, "temperature": _NUMBER}
    ),
    f"{PREFIX}stream.llm_end": _Row(LLMEnd, {"content": _TEXT, "stop_reason": _TEXT, "provider_response_ref": _TEXT}),
    f"{PREFIX}stream.token": _Row(LLMToken, {"content": _TEXT}),
    f"{PREFIX}stream.tool_start": _Row(ToolStart, {"tool_name": _TEXT, "tool_call_id": _TEXT}),
    f"{PREFIX}stream.tool_end": _Row(ToolEnd, {"tool_call_id": _TEXT}),
}


def maker(name: str) -> Make:
    """Return what makes the events of one full name.

    Raises:
        KeyError: no block emits such events.
    """
    model, given = _ROWS[name]
    names = tuple(given)
    known_types = set(product(*given.values()))
    required = model.REQUIRED
    has_usage = "usage" in model.model_fields

    def make(fields: dict[str, Any], extra: dict[str, Any], meta: Meta) -> Event:
        if tuple(map(type, map(fields.get, names))) not in known_types:
            return build(name, _wire(model, fields, extra), meta)
        if has_usage and "usage" in fields:
            fields["usage"] = LLMUsage.known(fields["usage"], dict(_COUNTED))
        payload = model.known(fields, extra)
        return Event(name, payload, meta, () if required <= payload.__pydantic_fields_set__ else payload.lacking())

    return make


def _wire(model: type[Nested], fields: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Return a payload as a user would emit it."""
    wire = {model.wire_name(name): value for name, value in fields.items()}
    if "usage" in fields:
        wire["usage"] = _wire(LLMUsage, fields["usage"], _COUNTED)
    return {**wire, **extra}
