"""Write canonical JSON (RFC 8785) as the ledger has it: its lines, its digests, the payloads that are signed."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

import rfc8785

from atifold.kinds import is_list, is_object

_LONE: Final = re.compile("([\ud800-\udfff])")


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a value; raises ValueError for a number that is not finite.

    RFC 8785 has no form for half a surrogate pair; here it is written as an escape, as ECMAScript does.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        return _with_lone_surrogates(value)


def digest(value: Any) -> str:
    """Return the sha256 of the canonical JSON of a value, in hex."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _with_lone_surrogates(value: Any) -> bytes:
    if is_object(value):
        fields = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be", "surrogatepass"))
        return b"{" + b",".join(_text(key) + b":" + canonical(item) for key, item in fields) + b"}"
    if is_list(value):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    return _text(value) if isinstance(value, str) else rfc8785.dumps(value)


def _text(text: str) -> bytes:
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")  # halves that meet are one
    parts = (
        f"\\u{ord(part):04x}".encode() if _LONE.fullmatch(part) else rfc8785.dumps(part)[1:-1]
        for part in _LONE.split(whole)
    )
    return b'"' + b"".join(parts) + b'"'
