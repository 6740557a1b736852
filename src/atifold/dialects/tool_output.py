"""Open the objects in which frameworks wrap a tool's result."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from atifold.dialects import values
from atifold.dialects.messages import id_of
from atifold.kinds import is_object


class Output(NamedTuple):
    """A tool's result as such, the id of the call when the wrapper has it, and whether it says that the tool failed."""

    result: Any
    call_id: str | None
    failed: bool


_ADK_KEYS: Final = frozenset({"id", "name", "response", "will_continue", "scheduling", "parts"})


def unwrap(value: Any) -> Output | None:
    """Return what a LangChain tool message or an ADK function response holds, None for anything else."""
    found = values.parsed(value) if isinstance(value, str) and value.lstrip().startswith("{") else value
    if not is_object(found):
        return None
    for inner in (found.get("data"), found.get("kwargs"), found):
        if is_object(inner) and "content" in inner and "tool_call_id" in inner:
            return Output(values.plain(inner["content"]), id_of(inner["tool_call_id"]), inner.get("status") == "error")
    if "response" in found and "name" in found and found.keys() <= _ADK_KEYS:
        response = values.plain(found["response"])
        return Output(response, id_of(found.get("id")), is_object(response) and "error" in response)
    return None
