"""Read trace and span ids, which writers put down as hex or as base64.

The OTLP JSON mapping asks for hex; protobuf's own JSON mapping, used by mistake in many dumps, for
base64. Length and alphabet tell them apart: 16 bytes of base64 have 22 or 24 characters, 32 of hex.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any, Final

TRACE_BYTES: Final = 16
SPAN_BYTES: Final = 8
_HEX = re.compile(r"[0-9a-fA-F]+")


def read_id(value: Any, size: int) -> str | None:
    """Return an id of `size` bytes as lower-case hex, None when it is absent, empty or all zeros.

    Hex that is too short is filled up with zeros on the left. Raises TypeError for what is no
    text, ValueError for text that is neither hex nor base64 of that size.
    """
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise TypeError(f"id {value!r}")
    text = _hex_of(value, size)
    return text if text.strip("0") else None


def _hex_of(value: str, size: int) -> str:
    unpadded = (size * 4 + 2) // 3
    padded = -(-size // 3) * 4
    if len(value) in (unpadded, padded) and len(value) != 2 * size:
        decoded = _from_base64(value)
        if len(decoded) == size:
            return decoded.hex()
    if len(value) <= 2 * size and _HEX.fullmatch(value):
        return value.lower().rjust(2 * size, "0")
    raise ValueError(f"id {value!r}")


def _from_base64(value: str) -> bytes:
    text = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (ValueError, binascii.Error):
        return b""


def made_id(value: Any, size: int) -> str:
    """Return an id as hex of `size` bytes: as it is where it has that form, else one that is made of it.

    Ids of a UUID's form, and ids that users chose, are older than a server's use of OpenTelemetry.
    """
    text = value if isinstance(value, str) else ""
    bare = text.replace("-", "").lower()
    if re.fullmatch(rf"[0-9a-f]{{{2 * size}}}", bare) and bare.strip("0"):
        return bare
    if not text:
        raise KeyError("id")
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[: 2 * size]
