"""Open the objects in which frameworks wrap a tool's result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from atifold.calls import Failure
from atifold.dialects import values
from atifold.dialects.failure import failure
from atifold.dialects.messages import id_of
from atifold.dialects.table import Fields
from atifold.kinds import is_object
from atifold.spans import Span


class Output(NamedTuple):
    """A tool's result as such, the id of the call when the wrapper has it, and whether it says that the tool failed."""

    result: Any
    call_id: str | None
    failed: bool


_ADK_KEYS: Final = frozenset({"id", "name", "response", "will_continue", "scheduling", "parts"})


def put_unwrapped(span: Span, fields: Fields, unwrapped: Callable[[Any], Output | None]) -> None:
    """Open the framework's wrapper around a tool's result, if there is one: it may tell the call's id and a failure."""
    output = unwrapped(fields.get("result"))
    if output is None:
        return
    fields["result"] = output.result
    if output.call_id is not None:
        fields.setdefault("id", output.call_id)
    if output.failed and failure(span) is None:
        fields["failure"] = Failure(None, output.result if isinstance(output.result, str) else None)


def unwrap(value: Any) -> Output | None:
    """Return what a LangChain tool message or an ADK function response holds, None for anything else."""
    found = _object(value)
    message = tool_message(found)
    if message is None and "response" in found and "name" in found and found.keys() <= _ADK_KEYS:
        response = values.plain(found["response"])
        return Output(response, id_of(found.get("id")), is_object(response) and "error" in response)
    return message


def tool_message(value: Any) -> Output | None:
    """Return what a LangChain tool message holds, None for anything else."""
    found = _object(value)
    for inner in (found.get("data"), found.get("kwargs"), found):
        if is_object(inner) and "content" in inner and "tool_call_id" in inner:
            return Output(values.plain(inner["content"]), id_of(inner["tool_call_id"]), inner.get("status") == "error")
    return None


def _object(value: Any) -> dict[str, Any]:
    """Return the object that a value is, or its JSON text, or its only entry `output`; else an empty one."""
    found = values.parsed(value) if isinstance(value, str) and value.lstrip().startswith("{") else value
    if is_object(found) and list(found) == ["output"]:
        found = found["output"]
    return found if is_object(found) else {}
