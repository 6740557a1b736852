"""Take an input apart, whatever it should hold: tell one JSON document from JSON Lines and from several on end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from atifold.jsontext import from_json

BOM: Final = b"\xef\xbb\xbf"
STDIN: Final = "<stdin>"
"""What complaints call standard input."""


_DECODER: Final = json.JSONDecoder()


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
    whole is no JSON and an object on some line `fits`: what the input should hold. Documents may also
    follow each other without a line each, as a console exporter prints them: then what stands between
    them is passed over. Anything else is one document, be it broken.
    """
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest.strip() or _read(first).error is not None:
        whole = _read(data)
        if whole.error is None or not any(fits(found.value) for found in _objects(data)):
            several = [] if whole.error is None else _on_end(data)
            yield from several if any(fits(found.value) for found in several) else [whole]
            return
    for number, line in _lines(data):
        found = _read(line, number)
        several = [] if found.error is None else [each._replace(line=number) for each in _on_end(line)]
        yield from several if any(fits(each.value) for each in several) else [found]


def _on_end(data: bytes) -> list[Document]:
    """Return the objects that stand one after another in a text, with the lines that they begin on.

    One that does not end leaves its error, and the next one is looked for at the beginning of a line.
    """
    text = data.decode("utf-8", "replace")
    found: list[Document] = []
    at, line, counted = text.find("{"), 1, 0
    while at >= 0:
        line, counted = line + text.count("\n", counted, at), at
        try:
            end = _DECODER.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            found.append(Document(line, b"", None, ValueError("an object that does not end")))
            at = text.find("\n{", at + 1) + 1 or -1
            continue
        found.append(_read(text[at:end].encode("utf-8", "replace"), line))
        at = text.find("{", end)
    return found


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
