"""Write one file, whole, whatever stands at its path."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from atifold.errors import OutputError


def write_file(path: Path, data: bytes) -> None:
    """Write a file in one step: a reader sees what was there or the new bytes, never half of them.

    A pipe, a device or a link is written to as it stands, for a step would put a file in its place.
    The folder is created. Raises OutputError where that cannot be; no temporary file stays behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(data)
        else:
            _replace(path, data)
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.stem}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
