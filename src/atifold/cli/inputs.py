"""Find the files that a command is to read."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from atifold.errors import InputError

TRACES = (".json", ".jsonl", ".ndjson", ".pb", ".binpb", ".proto", ".bin", ".otlp")
DOCUMENTS = (".json", ".jsonl")
RECORDINGS = (".jsonl", ".ndjson", ".json")
_COMPRESSED = (".gz", ".zst", ".zstd")


def stdin() -> BinaryIO:
    """Return stdin as bytes; empty where the program was started without one."""
    return io.BytesIO() if sys.stdin is None else sys.stdin.buffer


def files(inputs: tuple[str, ...], endings: tuple[str, ...]) -> tuple[dict[str, str], list[InputError]]:
    """Return what the inputs name, each once and in their order, and what is wrong with folders.

    A folder stands for the files in and below it whose names end in one of `endings`, compressed or
    not, in the order of their paths; hidden ones are passed over. `-` (stdin) and everything else
    is returned as it is: whether it can be read shows when it is read. Each path comes with the
    folder that stood for it, "" where it was named itself.
    """
    found: dict[str, str] = {}
    errors: list[InputError] = []
    for name in inputs:
        if name == "-" or not os.path.isdir(name):  # noqa: PTH112 - Path.is_dir raises where permission is missing
            found[name] = ""
            continue
        locked: list[InputError] = []
        inside = sorted(_inside(name, endings, locked.append))
        for path in inside:
            found.setdefault(str(path), name)
        errors += locked
        if not inside and not locked:
            wanted = f"wanted at least one file that ends in {', '.join(endings)}"
            errors.append(InputError(name, "found a folder without a file to read", wanted))
    return found, errors


def _inside(folder: str, endings: tuple[str, ...], refuse: Callable[[InputError], None]) -> Iterator[Path]:
    """Yield the files below a folder, in no order; a folder that cannot be listed is refused."""

    def locked(error: OSError) -> None:
        refuse(InputError(error.filename, f"cannot be read: {error.strerror}", "wanted a readable folder"))

    for place, folders, names in os.walk(folder, onerror=locked):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            plain = path.with_suffix("") if path.suffix in _COMPRESSED else path
            if plain.suffix in endings and not name.startswith(".") and os.path.isfile(path):  # noqa: PTH113 - as above
                yield path
