"""Take what programs and model SDKs hand over, in whatever shape, and never raise for it.

Telemetry must not break the agent it watches: what cannot be used is left out, and said once for
each argument.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from atifold.jsontext import from_json

_LOG = logging.getLogger("atifold")
_SAID: set[str] = set()


def plain(value: Any) -> Any:
    """Return an SDK's object (pydantic, or with `to_dict`) as a dict; other values as they are."""
    if type(value) is dict:  # asked first: the checks for other mappings cost ten times that
        return value
    if isinstance(value, Mapping):
        return dict(value)
    for method in ("model_dump", "to_dict"):
        dump = getattr(value, method, None)
        if callable(dump):
            try:
                return dump()
            except Exception:  # noqa: BLE001  somebody else's object
                return str(value)
    return value


def text_of(content: Any) -> str:
    """Return the text of an answer: a text, a list of content blocks, a message, or None."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    content = plain(content)
    if isinstance(content, dict):
        return text_of(content.get("text", content.get("content")))
    if isinstance(content, (list, tuple)):
        return "\n".join(text for block in content if (text := text_of(block)))
    unusable("content", content, "a text or a list of content blocks")
    return ""


def calls_of(tool_calls: Any) -> list[dict[str, Any]]:
    """Return the tool calls that a model asked for as dicts; what is no call is left out."""
    if type(tool_calls) is not list and not _is_series(tool_calls):
        if tool_calls is not None:
            unusable("tool_calls", tool_calls, "a list of {id, name, arguments}")
        return []
    calls = []
    for call in tool_calls:
        found = plain(call)
        if isinstance(found, dict):
            calls.append(dict(found))
        else:
            unusable("tool_calls", call, "{id, name, arguments}")
    return calls


def called(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a call that has its name and arguments: `function` in chat completions, else all."""
    function = call.get("function")
    return function if function is not None and isinstance(function, Mapping) else call


def messages_of(messages: Any) -> list[Any] | None:
    """Return a history as a list of dicts, each the very object that was given where it is a dict."""
    if messages is None:
        return None
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if type(messages) is not list and not _is_series(messages):
        unusable("messages", messages, "a list of messages")
        return None
    found = []
    for message in messages:
        shaped = message if type(message) is dict else plain(message)
        if isinstance(shaped, dict):
            found.append(shaped)
        else:
            unusable("messages", message, "{role, content} or {role, parts}")
    return found


def _is_series(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def arguments_of(arguments: Any) -> dict[str, Any]:
    """Return a tool's arguments as a dict: of a mapping, of a JSON text, of an SDK's object."""
    if arguments is None:
        return {}
    value = plain(arguments)
    if isinstance(value, str):
        try:
            value = from_json(value)
        except ValueError:
            return {"input": value}
    return dict(value) if isinstance(value, dict) else {"input": value}


def text_id(value: object) -> str | None:
    """Return an id as text: programs have numbers and UUIDs too; None where there is none."""
    if value is None or isinstance(value, str):
        return value or None
    try:
        return str(value) or None
    except Exception:  # noqa: BLE001  somebody else's object
        unusable("id", value, "a text")
        return None


def count_of(name: str, value: Any) -> int | None:
    """Return a token count; None where it is none."""
    if value is None or type(value) is int:
        return value
    try:
        if not isinstance(value, bool) and float(value) == int(float(value)):
            return int(float(value))
    except (TypeError, ValueError, OverflowError):
        pass
    unusable(name, value, "a whole number")
    return None


def money_of(name: str, value: Any) -> float | None:
    """Return an amount of money; None where it is none."""
    if value is None or type(value) is float or type(value) is int:
        return value
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        unusable(name, value, "a number")
        return None


def unusable(name: str, value: Any, wanted: str) -> None:
    """Say once for each argument that its value cannot be used; the value itself may be private."""
    if name not in _SAID:
        _SAID.add(name)
        _LOG.warning("%s: found %s, wanted %s; it is left out, and said once", name, type(value).__name__, wanted)
