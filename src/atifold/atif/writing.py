"""Write a document as bytes: for people and files, and in canonical form for comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import reduce
from typing import Any, Final, NamedTuple

import orjson

from atifold.atif.findings import Finding, at, shown
from atifold.kinds import is_list, is_object

DEEPEST: Final = 200
"""How deep lists and objects may stand in one another; the fast encoder stops at 254."""

_STRICT: Final = (
    orjson.OPT_INDENT_2
    | orjson.OPT_APPEND_NEWLINE
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_TOO_DEEP: Final = b"\n" + b"  " * DEEPEST
_WIDEST_WHOLE_BITS: Final = 14_000  # Python writes no whole number of more than 4300 digits
_WIDEST_EXACT: Final = 2**53 - 1  # beyond, RFC 8785 knows the nearest double only
_ALIGNED: Final = frozenset({"logprobs"})
"""Lists of numbers that a null would make invalid and a gap would shift: kept whole or left out."""


class Writable(NamedTuple):
    """A document that JSON can hold, and what had to change for it, as warnings."""

    document: dict[str, Any]
    losses: tuple[Finding, ...]


def dumps(document: dict[str, Any]) -> bytes:
    """Return a document as UTF-8 JSON: two spaces of indent, keys in their own order, a newline last.

    What JSON cannot hold is first changed as `writable` says. Raise TypeError for what is no JSON
    value at all, such as bytes.
    """
    quick = _at_once(document)
    if quick is not None:
        return quick
    plain = writable(document).document
    try:
        return orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:  # a whole number beyond 64 bits
        return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _at_once(document: dict[str, Any]) -> bytes | None:
    """Return a document's bytes where nothing in it has to be changed or refused; None where that is not sure.

    The encoder writes NaN as null, and more levels than are kept.
    """
    try:
        written = orjson.dumps(document, option=_STRICT)
    except TypeError:
        return None
    return None if b"null" in written or _TOO_DEEP in written else written


def canonical(document: dict[str, Any]) -> bytes:
    """Return a document as canonical JSON (RFC 8785): the same bytes for the same values.

    As there, whole numbers beyond 53 bits count as the nearest double. What JSON cannot hold is first
    changed as `writable` says. Raise TypeError for what is no JSON value at all.
    """
    from rfc8785 import dumps as canonical_dumps  # noqa: PLC0415 -- who only writes does not need it

    return canonical_dumps(_doubles(writable(document).document))


def writable(document: dict[str, Any]) -> Writable:
    """Return a copy of a document that JSON can hold.

    Lone surrogates become U+FFFD. A number that is not finite, or has too many digits, is left out (in
    a list: null, or the whole list where its items are aligned with others). What lies deeper than
    `DEEPEST` is left out likewise. Raise TypeError for what is no JSON value at all.
    """
    losses: list[Finding] = []
    plain = _object(document, None, losses, DEEPEST)
    return Writable(plain, tuple(losses))


_LEFT_OUT: Final = object()


class _Way(NamedTuple):
    """The way to a value, from the inside out; it is spelled out only where there is something to say."""

    outer: _Way | None
    key: str | int


def _path(way: _Way | None) -> str:
    keys: list[str | int] = []
    while way is not None:
        keys.append(way.key)
        way = way.outer
    return reduce(at, reversed(keys), "")


def _value(value: object, way: _Way, losses: list[Finding], depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, way, losses)
    if isinstance(value, (int, float)):
        return _number(value, way, losses)
    if depth == 0 and (is_object(value) or is_list(value)):
        return _left_out(way, f"{shown(value)} deeper than {DEEPEST} levels", "a flatter value", losses)
    if is_object(value):
        return _object(value, way, losses, depth)
    if is_list(value):
        return _list(value, way, losses, depth)
    raise TypeError(f"{_path(way)}: found {shown(value)}, wanted a JSON value")


def _object(value: dict[Any, Any], way: _Way | None, losses: list[Finding], depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{_path(way)}: found a field named {shown(key)}, wanted names that are strings")
        place = _Way(way, key)
        kept = _value(item, place, losses, depth - 1)
        if key in _ALIGNED and isinstance(kept, list) and None in kept:
            kept = _left_out(place, "a list with gaps", "numbers only", losses)
        if kept is not _LEFT_OUT:
            plain[_text(key, place, losses)] = kept
    return plain


def _list(value: Iterable[Any], way: _Way, losses: list[Finding], depth: int) -> list[Any]:
    plain: list[Any] = []
    for index, item in enumerate(value):
        kept = _value(item, _Way(way, index), losses, depth - 1)
        plain.append(None if kept is _LEFT_OUT else kept)
    return plain


def _text(text: str, way: _Way, losses: list[Finding]) -> str:
    if text.isascii():
        return text
    # Two halves of one character that came in separate strings are joined; what stays alone is replaced.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if whole != text:
        message = "found half a character (a surrogate), wanted whole ones: joined with its other half, or U+FFFD"
        losses.append(Finding(_path(way), message, "warning"))
    return whole


def _number(number: float, way: _Way, losses: list[Finding]) -> Any:
    kept = math.isfinite(number) if isinstance(number, float) else number.bit_length() <= _WIDEST_WHOLE_BITS
    return number if kept else _left_out(way, shown(number), "a number that JSON can hold", losses)


def _left_out(way: _Way, found: str, wanted: str, losses: list[Finding]) -> object:
    losses.append(Finding(_path(way), f"found {found}, wanted {wanted}: left out", "warning"))
    return _LEFT_OUT


def _doubles(value: Any) -> Any:
    """Return a value with whole numbers beyond 53 bits as doubles; beyond every double, as text."""
    if is_object(value):
        return {key: _doubles(item) for key, item in value.items()}
    if is_list(value):
        return [_doubles(item) for item in value]
    if isinstance(value, int) and abs(value) > _WIDEST_EXACT:
        try:
            return float(value)
        except OverflowError:
            return str(value)
    return value
