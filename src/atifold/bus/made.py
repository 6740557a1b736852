"""Make the events that blocks emit without reading what the blocks themselves wrote.

A block knows the types of most values; what a user gave is looked at here. Where one of these has
another type than its field, the event is read as any other is. The events are the same either way.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, Final

from atifold.events.envelope import Event, Meta, build
from atifold.events.payload import Nested, Payload
from atifold.events.registry import PREFIX
from atifold.events.stream import LLMEnd, LLMStart, LLMToken, LLMUsage, ToolEnd, ToolStart

Fields = dict[str, Any]
Make = Callable[[Fields, Fields, Meta], Event]
"""Makes an event of its fields by Python names (`usage` as such a dict too), its extension fields and its envelope."""

_TEXT: Final = frozenset({str, NoneType})
_NUMBER: Final = frozenset({int, float, NoneType})

_COUNTED: Final = {"atifold.inclusive": True}
"""What says that usage is counted as the conventions count it; all usage of blocks is."""

_LLM_START: Final = f"{PREFIX}stream.llm_start"
_LLM_END: Final = f"{PREFIX}stream.llm_end"
_TOKEN: Final = f"{PREFIX}stream.token"
_TOOL_START: Final = f"{PREFIX}stream.tool_start"
_TOOL_END: Final = f"{PREFIX}stream.tool_end"


def _llm_start(fields: Fields, more: Fields, meta: Meta) -> Event:
    if (
        type(fields["model"]) is type(fields["provider"]) is str
        and type(fields.get("system_prompt_text")) in _TEXT
        and type(fields.get("temperature")) in _NUMBER
    ):
        return Event(_LLM_START, LLMStart.known(fields, more), meta)
    return _read(_LLM_START, LLMStart, fields, more, meta)


def _llm_end(fields: Fields, more: Fields, meta: Meta) -> Event:
    given = type(fields.get("content")), type(fields.get("stop_reason")), type(fields.get("provider_response_ref"))
    if not _TEXT.issuperset(given):
        return _read(_LLM_END, LLMEnd, fields, more, meta)
    if "usage" in fields:
        fields["usage"] = LLMUsage.known(fields["usage"], _COUNTED.copy())
    payload = LLMEnd.known(fields, more)
    return Event(_LLM_END, payload, meta, payload.lacking())


def _token(fields: Fields, more: Fields, meta: Meta) -> Event:
    if type(fields["content"]) is str:
        return Event(_TOKEN, LLMToken.known(fields, more), meta)
    return _read(_TOKEN, LLMToken, fields, more, meta)


def _tool_start(fields: Fields, more: Fields, meta: Meta) -> Event:
    if type(fields["tool_name"]) is type(fields["tool_call_id"]) is str:
        return Event(_TOOL_START, ToolStart.known(fields, more), meta)
    return _read(_TOOL_START, ToolStart, fields, more, meta)


def _tool_end(fields: Fields, more: Fields, meta: Meta) -> Event:
    if type(fields["tool_call_id"]) is str:
        return Event(_TOOL_END, ToolEnd.known(fields, more), meta)
    return _read(_TOOL_END, ToolEnd, fields, more, meta)


MAKERS: Final[dict[str, Make]] = {
    _LLM_START: _llm_start,
    _LLM_END: _llm_end,
    _TOKEN: _token,
    _TOOL_START: _tool_start,
    _TOOL_END: _tool_end,
}
"""Full name to what makes the event."""


def _read(name: str, model: type[Payload], fields: Fields, more: Fields, meta: Meta) -> Event:
    """Return the event that reading its wire form gives."""
    wire = _wire(model, fields)
    if "usage" in fields:
        wire["usage"] = {**_wire(LLMUsage, fields["usage"]), **_COUNTED}
    return build(name, {**wire, **more}, meta)


def _wire(model: type[Nested], fields: Fields) -> Fields:
    return {model.wire_name(name): value for name, value in fields.items()}
