"""Take an input apart, whatever it should hold: unpack gzip, tell one JSON document from JSON Lines."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from atifold.errors import InputError
from atifold.jsontext import from_json

BOM: Final = b"\xef\xbb\xbf"
STDIN: Final = "<stdin>"
"""What complaints call standard input."""

_GZIP: Final = b"\x1f\x8b"


class Document(NamedTuple):
    """One JSON value of an input.

    `line` is where it stands, counted from 1; None where the input as a whole is the document.
    `error` says why the text is no JSON; `value` is None then.
    """

    line: int | None
    text: bytes
    value: Any
    error: ValueError | None = None


def unpacked(data: bytes, where: str) -> tuple[bytes, InputError | None]:
    """Return what gzip holds, and a complaint where its end is missing or broken; other data as it is.

    Of a damaged stream the whole lines before the damage are kept. `where` names the input.
    """
    if not data.startswith(_GZIP):
        return data, None
    content, whole = _gunzip(data)
    if whole:
        return content, None
    kept = content[: content.rfind(b"\n") + 1]
    return kept, InputError(where, "found a gzip stream that is cut or broken", "wanted whole gzip")


def _gunzip(data: bytes) -> tuple[bytes, bool]:
    """Unpack gzip members as far as they go; False says that the end is missing or broken."""
    parts: list[bytes] = []
    while data:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            parts.append(unpacker.decompress(data))
        except zlib.error:
            return b"".join(parts), False
        if not unpacker.eof:
            return b"".join(parts), False
        data = unpacker.unused_data.lstrip(b"\0")
    return b"".join(parts), True


def documents(data: bytes, fits: Callable[[Any], bool]) -> Iterator[Document]:
    """Yield the one document that the input is, or each line's where it is JSON Lines; blank ones are no lines.

    It is JSON Lines when more follows after a first line that is a value of its own, or when the
    whole is no JSON and an object on some line `fits`: what the input should hold. Anything else is
    one document, be it broken.
    """
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest.strip() or _read(first).error is not None:
        whole = _read(data)
        if whole.error is None or not any(fits(found.value) for found in _objects(data)):
            yield whole
            return
    for number, line in _lines(data):
        yield _read(line, number)


def _read(text: bytes, line: int | None = None) -> Document:
    try:
        return Document(line, text, from_json(text))
    except ValueError as error:
        return Document(line, text, None, error)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line.strip()


def _objects(data: bytes) -> Iterator[Document]:
    """Yield the lines that hold a whole object which says something."""
    for number, line in _lines(data):
        if line.startswith(b"{") and line.endswith(b"}") and b'"' in line:
            found = _read(line, number)
            if found.error is None:
                yield found
