"""Find out what an input holds, and read it; a bad line or file costs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from atifold.errors import InputError
from atifold.jsonfiles import BOM, STDIN, documents, unpacked
from atifold.jsontext import fault
from atifold.kinds import is_object
from atifold.otlp import json, protobuf
from atifold.otlp.batch import Batch

_FOREIGN: Final = ((b"\x28\xb5\x2f\xfd", "zstd-compressed data"), (b"PK\x03\x04", "a zip archive"))
_WANTED: Final = f"{json.WANTED}, whole or one request a line"


def read(paths: Sequence[Path | str], *, stdin: BinaryIO | None = None) -> Batch:
    """Read files of spans and log records, one after another; `-` stands for `stdin`.

    Never raises for what a file is or holds: whatever cannot be read leaves one complaint each.
    """
    batch = Batch()
    for path in paths:
        if str(path) == "-":
            batch.extend(_parse_file(stdin.read() if stdin is not None else b"", STDIN))
            continue
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            batch.complaints.append(InputError(path, f"cannot be read: {why}", "wanted a readable file"))
            continue
        batch.extend(_parse_file(data, str(path)))
    return batch


def _parse_file(data: bytes, where: str) -> Batch:
    """Read one file; unlike the body of a request, one without a word in it is a complaint."""
    batch = parse(data, where)
    if batch == Batch() and not unpacked(data, where)[0].removeprefix(BOM).strip():
        batch.complaints.append(InputError(where, "found an empty file", _WANTED))
    return batch


def parse(data: bytes, where: str) -> Batch:
    """Read the spans and log records of one input; `where` names it in complaints. Empty input holds none."""
    data, complaint = unpacked(data, where)
    batch = Batch(complaints=[complaint] if complaint else [])
    data = data.removeprefix(BOM)
    foreign = next((what for magic, what in _FOREIGN if data.startswith(magic)), None)
    if foreign is not None:
        batch.complaints.append(InputError(where, f"found {foreign}", _WANTED))
    elif (found := protobuf.decode(data, where)) is not None:
        batch.extend(found)
    elif data.strip():
        batch.extend(_parse_json(data, where))
    return batch


def _parse_json(data: bytes, where: str) -> Batch:
    """Read one JSON document, or one a line."""
    batch = Batch()
    for found in documents(data, _is_request):
        if found.error is None:
            batch.extend(json.decode(found.value, where, found.line))
            continue
        whole = found.line is None
        why = f"found no JSON ({fault(found.error, lines=whole)})"
        batch.complaints.append(InputError(where, why, _WANTED if whole else json.WANTED, line=found.line))
    return batch


def _is_request(value: Any) -> bool:
    return is_object(value) and bool(value) and json.is_otlp(value)
