"""Take apart what the Collector's file exporter writes as binary: each message after four bytes of length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from atifold.packed import ZSTD

_LENGTH: Final = 4
_BODIES: Final = (b"\x0a", ZSTD, b"{")
"""How a message begins: as protobuf, compressed by itself, or (compressed as a whole then) as JSON."""


def is_framed(data: bytes) -> bool:
    """Tell whether the data begins with a length, big-endian, and a message.

    A length below 16 MiB begins with a byte of zero, as no other container does. A longer one must fit.
    """
    if not data.startswith(b"\0"):
        return data[_LENGTH:].startswith(_BODIES[:2]) and _end(data, 0) <= len(data)
    return len(data) > _LENGTH and (data[_LENGTH:].startswith(_BODIES) or _end(data, 0) == _LENGTH)


def frames(data: bytes) -> Iterator[bytes | None]:
    """Yield each message that is not empty, None for one that is cut."""
    at = 0
    while at < len(data):
        start, at = at + _LENGTH, _end(data, at)
        if at > len(data) or start > len(data):
            yield None
        elif at > start:
            yield data[start:at]


def _end(data: bytes, at: int) -> int:
    """Return where the message ends whose length stands here."""
    return at + _LENGTH + int.from_bytes(data[at : at + _LENGTH], "big")
