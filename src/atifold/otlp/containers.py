"""Find out what an input holds, and read it; a bad line or file costs nothing but itself."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from atifold.errors import InputError
from atifold.jsontext import from_json
from atifold.otlp import json
from atifold.otlp.batch import Batch
from atifold.otlp.kinds import is_object

_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_FOREIGN: Final = ((b"\x28\xb5\x2f\xfd", "zstd-compressed data"), (b"PK\x03\x04", "a zip archive"))
_WANTED: Final = "OTLP JSON, or one OTLP JSON request a line, is wanted"


def read(paths: Sequence[Path | str], *, stdin: BinaryIO | None = None) -> Batch:
    """Read files of spans, one after another; `-` stands for `stdin`.

    Never raises for what a file is or holds: whatever cannot be read leaves one complaint each.
    """
    batch = Batch()
    for path in paths:
        if str(path) == "-":
            batch.extend(parse(stdin.read() if stdin is not None else b"", "<stdin>"))
            continue
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            batch.complaints.append(InputError(path, f"cannot be read ({why})", "a readable file is wanted"))
            continue
        batch.extend(parse(data, str(path)))
    return batch


def parse(data: bytes, where: str) -> Batch:
    """Read the spans of one input; `where` names it in complaints. Empty input holds no spans."""
    batch = Batch()
    if data.startswith(_GZIP):
        data, whole = _gunzip(data)
        if not whole:
            batch.complaints.append(InputError(where, "a gzip stream that is cut or broken", "whole gzip is wanted"))
            data = data[: data.rfind(b"\n") + 1]
    data = data.removeprefix(_BOM)
    foreign = next((what for magic, what in _FOREIGN if data.startswith(magic)), None)
    if foreign is not None:
        batch.complaints.append(InputError(where, foreign, _WANTED))
    elif data.strip():
        batch.extend(_parse_json(data, where))
    return batch


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


def _parse_json(data: bytes, where: str) -> Batch:
    """Read one JSON document, or JSON Lines when the first line is a value of its own."""
    first, _, rest = data.lstrip().partition(b"\n")
    if rest.strip() and _value(first) is not None:
        return _parse_lines(data, where)
    try:
        return json.decode(from_json(data), where)
    except ValueError as error:
        if _has_good_line(data):
            return _parse_lines(data, where)
        return Batch([], [InputError(where, f"not JSON ({_one_line(error)})", _WANTED)])


def _parse_lines(data: bytes, where: str) -> Batch:
    batch = Batch()
    for number, line in _lines(data):
        try:
            batch.extend(json.decode(from_json(line), where, number))
        except ValueError as error:
            complaint = InputError(where, f"not JSON ({_one_line(error)})", json.WANTED, line=number)
            batch.complaints.append(complaint)
    return batch


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line


def _has_good_line(data: bytes) -> bool:
    """Tell whether some line alone is an OTLP request, as in JSON Lines whose first line is broken."""
    return any(
        b'"' in line and is_object(value := _value(line)) and value and json.is_otlp(value)
        for _, line in _lines(data)
        if line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")
    )


def _value(line: bytes) -> Any:
    """Return the JSON value of one line, None when it is none."""
    try:
        return from_json(line)
    except ValueError:
        return None


def _one_line(error: ValueError) -> str:
    return " ".join(str(error).split())
