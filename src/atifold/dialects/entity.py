"""Open the objects in which LangChain's tracers wrap what went into a run and what came out of it.

`{"inputs": …}` and `{"outputs": …}` of OpenLLMetry, `{"messages": [[…]]}` and `{"generations": [[…]]}`
of LangSmith, `{"args": […], "kwargs": {…}}` of decorated Python functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from atifold.calls import MISSING, Failure, Message, Text
from atifold.dialects import raw, values
from atifold.dialects.content import structured
from atifold.dialects.failure import failure
from atifold.dialects.messages import ROLES, read_message
from atifold.dialects.reprs import from_repr
from atifold.dialects.table import Fields
from atifold.dialects.tool_output import Output, unwrap
from atifold.dialects.values import Note, is_placeholder, plain
from atifold.dialects.vendor_parts import joined_texts
from atifold.jsontext import scrub
from atifold.kinds import is_list, is_object
from atifold.spans import Span

_WRAPPERS: Final = ("inputs", "outputs", "output", "update", "input")
_SPOKEN: Final = ("question", "query", "prompt", "task", "input", "text")


def opened(value: Any) -> Any:
    """Return the value behind JSON text, or behind a Python repr of a list or dict; a text that is neither as it is."""
    if not isinstance(value, str):
        return plain(value)
    found = values.parsed(value) if value.lstrip()[:1] in _OPENING else MISSING
    if isinstance(found, str):  # JSON text inside JSON text
        return _structure(found)
    if found is MISSING:
        return _structure(value)
    return found


def _structure(value: str) -> Any:
    """Return the list or object behind a text, JSON or a Python repr of one; any other text as it is."""
    if value.lstrip()[:1] not in ("{", "["):
        return scrub(value)
    found = values.parsed(value)
    found = from_repr(value) if found is MISSING else found
    return scrub(value) if found is MISSING else plain(found)


def restored(value: Any, note: Note) -> Any:
    """Return what `opened` does; of JSON text that a length limit has cut, what stands before the cut."""
    found = opened(value)
    if not isinstance(found, str) or _JSON.match(found) is None:
        return found
    kept = structured(found, note)
    return found if kept is MISSING else kept


_OPENING: Final = ("{", "[", '"')
_JSON: Final = re.compile(r'\s*(?:\[\s*)*\{\s*"')
"""How JSON text of an object, or of a list of objects, begins."""


# ---- messages --------------------------------------------------------------------------------------


def asked(value: Any, note: Note) -> Any:
    """Return the messages that went into a run, MISSING where the value holds none."""
    found = _inside(value)
    if is_object(found) and is_list(found.get("messages")):
        found = found["messages"]
    if is_list(found) and len(found) == 1 and is_list(found[0]):  # a batch of one
        found = found[0]
    if is_object(found) and "role" in found and "content" in found:
        found = [found]
    messages = raw.request_messages(_with_named_results(found) if is_list(found) else found, note)
    return messages or _spoken(found)


def _with_named_results(listed: Sequence[Any]) -> list[Any]:
    """Return a history with the role of a result where the tool's name stands for it (Langfuse's JS callback)."""
    names: set[str] = set()
    found: list[Any] = []
    for entry in listed:
        role = entry.get("role") if is_object(entry) else None
        named = isinstance(role, str) and role in names and role.lower() not in ROLES
        found.append({**entry, "role": "tool", "name": role} if named else entry)
        calls = entry.get("tool_calls") if is_object(entry) else None
        for call in calls if is_list(calls) else ():
            function = call.get("function", call) if is_object(call) else None
            names |= {str(function["name"])} if is_object(function) and "name" in function else set()
    return found


def said(value: Any, note: Note) -> Any:
    """Return the messages that came out of a run, MISSING where the value holds none."""
    found = _inside(value)
    if is_object(found) and is_list(found.get("generations")):
        return _generations(found["generations"], note)
    messages = raw.response_messages(found, note)
    if messages is None and is_object(found) and is_list(found.get("messages")):
        messages = raw.items(found["messages"], note)
    if messages is None and is_list(found):
        messages = raw.request_messages(_updates(found), note)
    if messages is None and is_object(found) and "content" in found:
        messages = read_message(found, note, "assistant")
    if messages is None and is_object(found) and is_object(found.get("kwargs")):
        messages = read_message(found, note, "assistant")
    return messages or _spoken(found, "assistant")


def _inside(value: Any) -> Any:
    """Return what the wrappers of a run's input or output hold."""
    for _ in _WRAPPERS:
        inner = next((value[key] for key in _WRAPPERS if is_object(value) and key in value), None)
        if inner is None or "messages" in value or "choices" in value or not (is_object(inner) or is_list(inner)):
            return value
        value = inner
    return value


def _updates(found: Sequence[Any]) -> list[Any]:
    """Return the messages of the updates that nodes of a graph write; any other list as it is."""
    updates = [entry["update"] for entry in found if is_object(entry) and is_object(entry.get("update"))]
    if len(updates) != len(found):
        return list(found)
    listed = [update["messages"] for update in updates if is_list(update.get("messages"))]
    return [message for messages in listed for message in messages]


def _generations(batches: list[Any], note: Note) -> Any:
    """Return the messages of LangChain's generations, the first of each request."""
    found: list[Message] = []
    for batch in batches:
        first = batch[0] if is_list(batch) and batch else batch
        if not is_object(first):
            continue
        if is_object(first.get("message")):
            found += read_message(first["message"], note, "assistant")
        elif isinstance(first.get("text"), str):
            found.append(Message("assistant", (Text(first["text"]),)))
    return tuple(found) or MISSING


def _spoken(found: Any, role: str = "user") -> Any:
    """Return a text, or the one text of an object, as a message."""
    if is_object(found):
        arguments = found.get("args")
        only = arguments[0] if is_list(arguments) and len(arguments) == 1 else None
        found = next((found[key] for key in _SPOKEN if isinstance(found.get(key), str)), only)
    if not isinstance(found, str) or is_placeholder(found):
        return MISSING
    return (Message(role, (Text(scrub(found)),)),)


# ---- tools -----------------------------------------------------------------------------------------


def tool_arguments(value: Any, note: Note) -> Any:
    """Read a tool's input: the arguments behind LangChain's or a decorator's wrapper, or the value as it is."""
    if is_placeholder(value):
        return MISSING
    found = opened(value)
    if isinstance(found, str) and found.lstrip().startswith(("{", "[")):
        note("arguments that are no JSON, kept as text")
    if not is_object(found):
        return found
    for name in ("inputs", "input"):
        inner = opened(found.get(name))
        if is_object(inner) and (name == "inputs" or len(found) == 1):
            return inner
    if "input_str" in found:
        return opened(found["input_str"])
    if is_object(found.get("kwargs")) and found.keys() <= {"args", "kwargs"}:
        return found["kwargs"] if not found.get("args") else found
    return found


def put_result(value: Any, span: Span, fields: Fields) -> None:
    """Fill in a tool's result out of the wrapper that holds it: the id of its call and its failure stand there too."""
    if is_placeholder(value):
        return
    found = opened(value)
    if is_object(found) and "output" in found and found.keys() <= _RESULT_KEYS:
        found = found["output"]
        value = found
    output = unwrap(_tool_message(found)) or _mcp_result(found)
    if output is None:
        is_text = isinstance(value, str) and not isinstance(found, str)
        fields.setdefault("result", scrub(value) if is_text else found)
        return
    result = joined_texts(output.result)
    fields["result"] = result
    if output.call_id is not None:
        fields.setdefault("id", output.call_id)
    if output.failed and failure(span) is None:
        fields["failure"] = Failure(None, result if isinstance(result, str) else None)


_MCP_KEYS: Final = frozenset({"content", "isError", "is_error", "structuredContent", "_meta"})


def _mcp_result(found: Any) -> Output | None:
    """Return what the result of an MCP server's tool says, None for anything else."""
    if not is_object(found) or not is_list(found.get("content")) or not found.keys() <= _MCP_KEYS:
        return None
    text = joined_texts(found["content"])
    failed = found.get("isError") is True or found.get("is_error") is True
    return Output(text, None, failed) if isinstance(text, str) else None


_RESULT_KEYS: Final = frozenset({"output", "kwargs"})


def _tool_message(found: Any) -> Any:
    """Return the tool message that a command of LangGraph puts into the state, anything else as it is."""
    update = found.get("update") if is_object(found) else None
    messages = update.get("messages") if is_object(update) else None
    return messages[-1] if is_list(messages) and messages else found


def kwargs_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what LangChain's serialised form of an object holds, anything else as it is."""
    inner = message.get("kwargs", message.get("data"))
    return inner if is_object(inner) else message
