"""Unpack what an input is compressed with: gzip, zstd, or one in the other."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from atifold.errors import InputError

ZSTD: Final = b"\x28\xb5\x2f\xfd"
"""How a frame of zstd begins."""

_BINARY: Final = (b"\x0a", b"\0")
"""How OTLP protobuf begins; it has no lines."""

_LIBRARIES: Final = ("compression.zstd", "zstandard")
"""What reads zstd: the standard library from Python 3.14 on, a package before."""


class _MissingError(Exception):
    """No library is there that reads zstd."""


class _Packing(NamedTuple):
    """A way of compressing: its name, how it begins, and what unpacks it as far as that goes."""

    name: str
    magic: bytes
    unpack: Callable[[bytes], tuple[bytes, bool]]


def unpacked(data: bytes, where: str) -> tuple[bytes, InputError | None]:
    """Return what gzip or zstd holds, and a complaint where its end is missing or broken; other data as it is.

    Of a damaged stream the whole lines before the damage are kept, and all of it where it is protobuf.
    `where` names the input.
    """
    packing = next((packing for packing in _PACKINGS if data.startswith(packing.magic)), None)
    if packing is None:
        return data, None
    try:
        content, whole = packing.unpack(data)
    except _MissingError:
        wanted = "wanted the package that reads it: pip install zstandard"
        return b"", InputError(where, "found zstd-compressed data", wanted)
    if whole:
        return unpacked(content, where)
    kept = content if content.startswith(_BINARY) else content[: content.rfind(b"\n") + 1]
    found = f"found a {packing.name} stream that is cut or broken"
    return kept, InputError(where, found, f"wanted whole {packing.name}")


def _gunzip(data: bytes) -> tuple[bytes, bool]:
    """Unpack gzip members as far as they go; False says that the end is missing or broken."""
    return _members(data, lambda: zlib.decompressobj(wbits=31), zlib.error)


def _unzstd(data: bytes) -> tuple[bytes, bool]:
    """Unpack zstd frames as far as they go; raises `_MissingError` where no library reads them."""
    library = _library()
    if hasattr(library.ZstdDecompressor, "decompressobj"):  # the package; its objects work as those of zlib do
        return _members(data, lambda: library.ZstdDecompressor().decompressobj(), library.ZstdError)
    return _members(data, library.ZstdDecompressor, library.ZstdError)


def _library() -> Any:
    for name in _LIBRARIES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise _MissingError


def _members(data: bytes, start: Callable[[], Any], error: type[Exception]) -> tuple[bytes, bool]:
    """Unpack streams that follow each other, with bytes of zero between them, as far as they go."""
    parts: list[bytes] = []
    while data:
        unpacker = start()
        try:
            parts.append(unpacker.decompress(data))
        except error:
            return b"".join(parts), False
        if not unpacker.eof:
            return b"".join(parts), False
        data = unpacker.unused_data.lstrip(b"\0")
    return b"".join(parts), True


_PACKINGS: Final = (_Packing("gzip", b"\x1f\x8b", _gunzip), _Packing("zstd", ZSTD, _unzstd))
