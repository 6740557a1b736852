"""Read a file that should hold one ATIF document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson

from atifold.atif.findings import shown
from atifold.atif.kinds import is_object
from atifold.errors import InputError

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
    """Return the JSON value in a file. Raise InputError for a file that cannot be read or is not JSON.

    Read as the reference validator reads: NaN, numbers of any size and lone surrogates pass, a byte
    order mark does not.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(path, f"cannot be read: {why}", "wanted a file with one ATIF document") from None
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data, path)


def _parse_leniently(data: bytes, path: str | Path) -> Any:
    """Parse what the fast parser refuses, and say where it is no JSON at all."""
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, "found bytes that are not UTF-8", _WANTED, line=line) from None
    except json.JSONDecodeError as error:
        raise InputError(path, f"not JSON ({error.msg}, column {error.colno})", _WANTED, line=error.lineno) from None
    except RecursionError:
        raise InputError(path, "found lists or objects nested too deeply", _WANTED) from None
    except ValueError:  # Python refuses to read a whole number of more than 4300 digits
        raise InputError(path, "found a whole number of too many digits", _WANTED) from None
