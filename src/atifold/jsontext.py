"""Write and read JSON quickly, and survive what strict JSON cannot hold.

orjson refuses lone surrogates, whole numbers beyond 64 bits, keys that are no text and what is nested
more than 254 deep; the slow path turns the first into U+FFFD, keeps the next two and cuts the last off.
NaN and infinities become null on both. Writing never raises.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import orjson

DEEPEST: Final = 200
"""Levels of lists and objects that the slow path writes."""

CUT_OFF: Final = "(nested too deeply)"
"""What stands in the place of what is nested deeper."""

_MOST_BITS: Final = 10_000  # of a whole number; Python itself writes none of more than 4,300 digits
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def scrub(text: str) -> str:
    """Return the text with each unpaired surrogate as U+FFFD, as UTF-8 cannot hold it."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def to_json(value: Any) -> bytes:
    """Return compact UTF-8 JSON; what JSON cannot hold becomes its `str()`, what is too deep is cut off."""
    try:
        return orjson.dumps(value, default=str)
    except (TypeError, RecursionError):
        return _written(value)


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
        return _written(value, in_order=True)


def words(value: object) -> str:
    """Return the `str()` of anything as UTF-8 can hold it; where that raises, the name of its type in brackets."""
    try:
        return scrub(str.__str__(value) if isinstance(value, str) else str(value))
    except Exception:  # noqa: BLE001  somebody else's object
        return f"({type(value).__name__})"


def _written(value: Any, *, in_order: bool = False) -> bytes:
    try:
        plain = _plain(value, set())
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=in_order)
    except (RecursionError, RuntimeError):  # too near the end of the stack, or changed by another thread meanwhile
        text = json.dumps(CUT_OFF)
    return text.encode()


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
        return _plain(json.loads(text, parse_constant=lambda _: None), set(), math.inf)
    except RecursionError as error:
        msg = "nested too deeply"
        raise ValueError(msg) from error


def _plain(value: Any, inside: set[int], deepest: float = DEEPEST) -> Any:
    """Return the value with only what JSON has; a container inside itself becomes null."""
    match value:
        case str():
            return words(value)
        case bool() | None:
            return value
        case int():
            return value if value.bit_length() <= _MOST_BITS else f"(a whole number of {value.bit_length()} bits)"
        case float():
            return value if math.isfinite(value) else None
        case dict() | list() | tuple():
            return _plain_container(value, inside, deepest)
        case _:
            return words(value)


def _plain_container(value: Any, inside: set[int], deepest: float) -> Any:
    """Return a list or object with only what JSON has; `inside` has the ids of those around it."""
    if id(value) in inside:
        return None
    if len(inside) >= deepest:
        return CUT_OFF
    inside.add(id(value))
    try:
        if isinstance(value, dict):
            return {words(k): _plain(v, inside, deepest) for k, v in value.items()}
        return [_plain(v, inside, deepest) for v in value]
    finally:
        inside.discard(id(value))
