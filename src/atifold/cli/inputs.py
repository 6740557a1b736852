"""Find the files that a command is to read."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from atifold.errors import InputError

TRACES = (".json", ".jsonl", ".ndjson")
DOCUMENTS = (".json", ".jsonl")
_COMPRESSED = (".gz",)


def stdin() -> BinaryIO:
    """Return stdin as bytes; empty where the program was started without one."""
    return io.BytesIO() if sys.stdin is None else sys.stdin.buffer


def files(inputs: tuple[str, ...], endings: tuple[str, ...]) -> tuple[list[str], list[InputError]]:
    """Return what the inputs name, each once and in their order, and what is wrong with folders.

    A folder stands for the files in and below it whose names end in one of `endings`, compressed or
    not, in the order of their paths; hidden ones are passed over. `-` (stdin) and everything else
    is returned as it is: whether it can be read shows when it is read.
    """
    found: dict[str, None] = {}
    errors = []
    for name in inputs:
        if name == "-" or not Path(name).is_dir():
            found[name] = None
            continue
        inside = list(_inside(Path(name), endings))
        found.update(dict.fromkeys(inside))
        if not inside:
            wanted = f"at least one file that ends in {', '.join(endings)} was wanted"
            errors.append(InputError(name, "a folder without a file to read", wanted))
    return list(found), errors


def _inside(folder: Path, endings: tuple[str, ...]) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        plain = path.with_suffix("") if path.suffix in _COMPRESSED else path
        if plain.suffix in endings and not hidden and path.is_file():
            yield str(path)
