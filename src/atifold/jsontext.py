"""Write and read JSON quickly, and survive what strict JSON cannot hold.

orjson refuses lone surrogates, whole numbers beyond 64 bits and keys that are no text; the slow
path turns the first into U+FFFD and keeps the others. NaN and infinities become null on both.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import orjson

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def scrub(text: str) -> str:
    """Return the text with each unpaired surrogate as U+FFFD, as UTF-8 cannot hold it."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def to_json(value: Any) -> bytes:
    """Return compact UTF-8 JSON; what JSON cannot hold becomes its `str()`."""
    try:
        return orjson.dumps(value, default=str)
    except (TypeError, RecursionError):
        return json.dumps(_plain(value, set()), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def text_of(value: Any) -> str | None:
    """Return a text as it is, a number or a yes or no as JSON writes it; None for null, a list or an object."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return to_json_text(value)
    return None


def sorted_json(value: Any) -> bytes:
    """Return compact JSON with the keys of objects in order: equal values give equal bytes."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS)
    except (TypeError, RecursionError):
        plain = _plain(value, set())
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode()


def to_json_text(value: Any) -> str:
    """Return compact JSON as text."""
    return to_json(value).decode()


def from_json(data: str | bytes) -> Any:
    """Return the parsed value; raises ValueError for what is not JSON."""
    try:
        return orjson.loads(data)
    except ValueError:
        return _slowly(data)


def parsed(text: str) -> Any:
    """Return the parsed value, None for what is not JSON."""
    try:
        return from_json(text)
    except ValueError:
        return None


def fault(error: ValueError, *, lines: bool = True) -> str:
    """Return why a text is not JSON, in words: the parser's reason, the line (unless `lines` is False), the column."""
    match error:
        case json.JSONDecodeError(msg=reason, lineno=line, colno=column):
            return f"{reason}: line {line} column {column}" if lines else f"{reason}: column {column}"
        case UnicodeDecodeError():
            return "bytes that are not UTF-8"
        case _:
            return " ".join(str(error).split())


def _slowly(data: str | bytes) -> Any:
    """Parse what only the standard library takes: lone surrogates, NaN, numbers of any length."""
    text = data if isinstance(data, str) else data.decode("utf-8", errors="surrogatepass")
    try:
        return _plain(json.loads(text, parse_constant=lambda _: None), set())
    except RecursionError as error:
        msg = "nested too deeply"
        raise ValueError(msg) from error


def _plain(value: Any, inside: set[int]) -> Any:  # noqa: PLR0911  one return a kind of value
    """Return the value with only what JSON has; a container inside itself becomes null."""
    match value:
        case str():
            return scrub(value)
        case bool() | int() | None:
            return value
        case float():
            return value if math.isfinite(value) else None
        case dict() | list() | tuple():
            if id(value) in inside:
                return None
            inside.add(id(value))
            try:
                if isinstance(value, dict):
                    return {scrub(str(k)): _plain(v, inside) for k, v in value.items()}
                return [_plain(v, inside) for v in value]
            finally:
                inside.discard(id(value))
        case _:
            return scrub(str(value))
