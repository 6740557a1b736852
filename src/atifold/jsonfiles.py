"""Take an input apart, whatever it should hold: tell one JSON document from JSON Lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from atifold.jsontext import from_json

BOM: Final = b"\xef\xbb\xbf"
STDIN: Final = "<stdin>"
"""What complaints call standard input."""


class Document(NamedTuple):
    """One JSON value of an input.

    `line` is where it stands, counted from 1; None where the input as a whole is the document.
    `error` says why the text is no JSON; `value` is None then.
    """

    line: int | None
    text: bytes
    value: Any
    error: ValueError | None = None


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
