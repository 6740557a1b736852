"""Read a file that should hold one ATIF document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson

from atifold.atif.findings import shown
from atifold.errors import InputError
from atifold.kinds import is_object

_WANTED = "wanted one JSON document in UTF-8"


def load(path: str | Path) -> dict[str, Any]:
    """Return the document in a file as it stands, unchecked.

    Raise InputError for a file that cannot be read, is not JSON or holds no object.
    """
    value = parse_file(path)
    if is_object(value):
        return value
    raise InputError(path, f"found {shown(value)}", "wanted a JSON object")


def parse_file(path: str | Path) -> Any:
    """Return the JSON value in a file. Raise InputError for a file that cannot be read or is not JSON."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(path, f"cannot be read: {why}", "wanted a file with one ATIF document") from None
    return parse(data, path)


def parse(data: bytes, where: str | Path, *, line: int | None = None) -> Any:
    """Return the JSON value of a text. Raise InputError for what is not JSON, with its place.

    Read as the reference validator reads: NaN, numbers of any size and lone surrogates pass, a byte
    order mark does not. `line` is where the text stands when it is one line of `where`.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data, where, line)


def _parse_leniently(data: bytes, where: str | Path, line: int | None) -> Any:
    """Parse what the fast parser refuses, and say where it is no JSON at all."""
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        at = line or data.count(b"\n", 0, error.start) + 1
        raise InputError(where, "found bytes that are not UTF-8", _WANTED, line=at) from None
    except json.JSONDecodeError as error:
        at = line or error.lineno
        raise InputError(where, f"found no JSON ({error.msg}: column {error.colno})", _WANTED, line=at) from None
    except RecursionError:
        raise InputError(where, "found lists or objects nested too deeply", _WANTED, line=line) from None
    except ValueError:  # Python refuses to read a whole number of more than 4300 digits
        raise InputError(where, "found a whole number of too many digits", _WANTED, line=line) from None
