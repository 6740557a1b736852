"""Take what programs and model SDKs hand over, in whatever shape, and never raise for it.

Telemetry must not break the agent it watches: what cannot be used is left out, and said once for
each argument.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from atifold.jsontext import from_json, words

_LOG = logging.getLogger("atifold")
_DEEPEST: Final = 64  # levels of content blocks; an SDK's answer has three
_MOST_TOKENS: Final = 2**63 - 1

_PLAIN: Final = frozenset({str, dict, type(None)})

UNUSED: Final[Counter[str]] = Counter()
"""How many values could not be used, in this process, by the name of the argument."""


def plain(value: Any) -> Any:
    """Return an SDK's object (pydantic, or with `to_dict`) as a dict; other values, and what raises, as they are."""
    if type(value) is dict:  # asked first: the checks for other mappings cost ten times that
        return value
    try:
        if isinstance(value, Mapping):
            return dict(value)
        for method in ("model_dump", "to_dict"):
            dump = getattr(value, method, None)
            if callable(dump):
                return dump()
    except Exception:  # noqa: BLE001  somebody else's object
        return value
    return value


def identity_of(value: Any) -> str | None:
    """Return what names a session, a run, an agent or the like as a text, whatever it is; None for None."""
    return value if value is None or (type(value) is str and value.isascii()) else words(value)


def text_of(content: Any, name: str = "content", depth: int = 0) -> str:
    """Return the text of an answer: a text, a list of content blocks, a message, or None."""
    if isinstance(content, str):
        return identity_of(content) or ""
    if content is None:
        return ""
    content = plain(content)
    if depth < _DEEPEST:
        if isinstance(content, dict):
            return text_of(content.get("text", content.get("content")), name, depth + 1)
        if isinstance(content, (list, tuple)):
            return "\n".join(text for block in content if (text := text_of(block, name, depth + 1)))
    unusable(name, content, "a text or a list of content blocks")
    return ""


def calls_of(tool_calls: Any) -> list[dict[str, Any]]:
    """Return the tool calls that a model asked for as dicts; what is no call is left out."""
    if type(tool_calls) is not list and not _is_series(tool_calls):
        if tool_calls is not None:
            unusable("tool_calls", tool_calls, "a list of {id, name, arguments}")
        return []
    calls = []
    for call in tool_calls if type(tool_calls) is list else _items("tool_calls", tool_calls):
        found = plain(call)
        if isinstance(found, dict):
            calls.append(dict(found) if _PLAIN.issuperset(map(type, found.values())) else _exact_values(found))
        else:
            unusable("tool_calls", call, "{id, name, arguments}")
    return calls


def _exact_values(call: dict[str, Any]) -> dict[str, Any]:
    return {key: _exact(value) for key, value in call.items()}


def _exact(value: Any) -> Any:
    """Return a text of a class of its own as a plain one: such a class need not be hashable."""
    return str.__str__(value) if isinstance(value, str) and type(value) is not str else value


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
    for message in messages if type(messages) is list else _items("messages", messages):
        shaped = message if type(message) is dict else plain(message)
        if isinstance(shaped, dict):
            found.append(shaped)
        else:
            unusable("messages", message, "{role, content} or {role, parts}")
    return found


def _items(name: str, values: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of a series, up to where it raises."""
    try:
        yield from values
    except Exception:  # noqa: BLE001  somebody else's iterable
        unusable(name, values, "an iterable that does not raise")


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
    """Return a token count; None where it is none: below 0, beyond 64 bits, no whole number."""
    if value is None or (type(value) is int and 0 <= value <= _MOST_TOKENS):
        return value
    try:
        figure = -1 if isinstance(value, (bool, int)) else float(value)
        if 0 <= figure <= _MOST_TOKENS and figure == int(figure):
            return int(figure)
    except Exception:  # noqa: BLE001, S110  somebody else's object; it is said below
        pass
    unusable(name, value, "a whole number, 0 or more")
    return None


_USAGE: Final = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cached_tokens": "cache_read",
    "cache_write_tokens": "cache_write",
    "reasoning_tokens": "thinking",
}
"""Argument of `respond(...)` to field of an answer's usage."""


def usage_of(**counts: Any) -> dict[str, int]:
    """Return token counts by the fields of an answer's usage; what was not given, or is no count, is left out.

    Input includes what came from the cache or went there; more of that than of input proves that it did
    not, and then it is added.
    """
    usage = {
        _USAGE[name]: count
        for name, value in counts.items()
        if value is not None and (count := count_of(name, value)) is not None
    }
    if "cache_read" in usage or "cache_write" in usage:
        cached = usage.get("cache_read", 0) + usage.get("cache_write", 0)
        if cached > usage.get("input", cached) and usage["input"] + cached <= _MOST_TOKENS:
            usage["input"] += cached
    return usage


def figure_of(name: str, value: Any) -> float | None:
    """Return a setting of a request that is a number; None where it is none, or not finite."""
    if value is None or type(value) is int:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    unusable(name, value, "a finite number")
    return None


def money_of(name: str, value: Any) -> float | None:
    """Return an amount of money; None where it is none: below 0, infinite, no number."""
    if value is None or (type(value) is float and 0 <= value < math.inf):
        return value
    try:
        amount = -1.0 if isinstance(value, bool) else float(value)
        if 0 <= amount < math.inf:
            return value if type(value) is int else amount
    except Exception:  # noqa: BLE001, S110  somebody else's object; it is said below
        pass
    unusable(name, value, "a number, 0 or more")
    return None


def unusable(name: str, value: Any, wanted: str) -> None:
    """Count that a value cannot be used, and say so once for each argument; what is no number may be private."""
    UNUSED[name] += 1
    if UNUSED[name] == 1:
        shown = type(value) in (int, float) and not abs(value) >= 2**64  # longer ones may have no text at all
        found = value if shown else type(value).__name__
        _LOG.warning("%s: found %s, wanted %s; it is left out, and said once", name, found, wanted)
