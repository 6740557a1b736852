"""Turn OTLP attribute values into plain Python values, and back.

An OTLP `AnyValue` is an object with one key that names its kind. Writers differ: integers come as
numbers or as strings, keys in camelCase or in snake_case, an empty object means null.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from atifold.jsontext import text_of, to_json_text
from atifold.otlp.shapes import list_in, object_in, text_in
from atifold.spans import Attributes

_INT64: Final = range(-(2**63), 2**63)


class _NotANumber:
    """Stands for a value that is no value: a NaN, or a number or a yes or no that cannot be read."""


DROPPED: Final = _NotANumber()
"""Stands for a value that leaves its name out."""

_YES_OR_NO: Final = {"true": True, "false": False}


def attributes(items: Any) -> dict[str, Any]:
    """Read a list of OTLP key-value pairs.

    Of a name given twice the last value counts. A value that says nothing (NaN, an infinity, an
    integer that is no integer) leaves its name out; null is kept as None.
    """
    found: dict[str, Any] = {}
    for item in list_in(items):
        pair = object_in(item)
        name, value = _name(pair), _value(pair.get("value"))
        if value is DROPPED:
            found.pop(name, None)
        else:
            found[name] = value
    return found


def _name(pair: Mapping[str, Any]) -> str:
    name = pair.get("key")
    if name is None:
        raise KeyError("key")
    return text_in(name)


def plain(value: Any) -> Any:
    """Read one OTLP `AnyValue`; what says nothing is None."""
    result = _value(value)
    return None if result is DROPPED else result


def _value(value: Any) -> Any:
    if not value:
        return None
    for kind, content in object_in(value).items():
        reader = _READERS.get(kind)
        if reader is not None and (content is not None or len(value) == 1):  # some writers name the other kinds as null
            return reader(content)
    return None


def _text(content: Any) -> Any:
    return content if content is None or isinstance(content, str) else text_of(content) or to_json_text(content)


def _bool(content: Any) -> Any:
    return content if isinstance(content, bool) else _YES_OR_NO.get(str(content).lower(), DROPPED)


def _int(content: Any) -> Any:
    try:
        return int(content)
    except (TypeError, ValueError, OverflowError):
        return DROPPED


def finite(content: Any) -> Any:
    """Read a double; `DROPPED` for a NaN, an infinity and what is no number."""
    try:
        number = float(content)
    except (TypeError, ValueError, OverflowError):
        return DROPPED
    return number if math.isfinite(number) else DROPPED


def _bytes(content: Any) -> Any:
    try:
        return base64.b64decode(content, validate=True)
    except (TypeError, ValueError, binascii.Error):
        return content


def _array(content: Any) -> Any:
    return [plain(item) for item in _values(content)]


def _kvlist(content: Any) -> Any:
    return attributes(_values(content))


def _values(content: Any) -> Any:
    """Return what an array or a map holds; an empty one may lack its list."""
    return list_in(object_in(content).get("values")) if content else ()


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "stringValue": _text,
    "boolValue": _bool,
    "intValue": _int,
    "doubleValue": finite,
    "bytesValue": _bytes,
    "arrayValue": _array,
    "kvlistValue": _kvlist,
    "string_value": _text,
    "bool_value": _bool,
    "int_value": _int,
    "double_value": finite,
    "bytes_value": _bytes,
    "array_value": _array,
    "kvlist_value": _kvlist,
}


def encode_attributes(values: Attributes) -> list[dict[str, Any]]:
    """Write attributes as a list of OTLP key-value pairs, in their own order."""
    return [{"key": key, "value": encode(value)} for key, value in values.items()]


def encode(value: Any) -> dict[str, Any]:
    """Write one plain value as an OTLP `AnyValue`.

    Integers are strings, as protobuf's JSON form asks for int64; one that passes 64 bits, and a
    value of a type that OTLP does not know, is written as text.
    """
    if value is None:
        return {}
    for kind, writer in _WRITERS:
        if isinstance(value, kind):
            return writer(value)
    return {"stringValue": str(value)}


def _encode_int(value: int) -> dict[str, Any]:
    return {"intValue" if value in _INT64 else "stringValue": str(value)}


def _encode_double(value: float) -> dict[str, Any]:
    if math.isfinite(value):
        return {"doubleValue": value}
    return {"doubleValue": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}


def _encode_array(value: Iterable[Any]) -> dict[str, Any]:
    return {"arrayValue": {"values": [encode(item) for item in value]}}


def _encode_map(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"kvlistValue": {"values": encode_attributes(value)}}


_WRITERS: Final[tuple[tuple[Any, Callable[[Any], dict[str, Any]]], ...]] = (
    (str, lambda value: {"stringValue": str(value)}),
    (bool, lambda value: {"boolValue": value}),  # before int, of which bool is a subclass
    (int, _encode_int),
    (float, _encode_double),
    (bytes, lambda value: {"bytesValue": base64.b64encode(value).decode("ascii")}),
    (Mapping, _encode_map),
    ((list, tuple), _encode_array),
)
