"""Write one file, whole, whatever stands at its path."""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from atifold.errors import OutputError

_TEMPORARY: Final = re.compile(r"\..*\.(\d+)-\d+\.tmp", re.DOTALL)


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


def sweep(folder: Path) -> None:
    """Remove the temporary files that processes left behind which were killed in the midst of writing.

    To be called before this process writes: its own id may be that of the one before it. What cannot be
    removed stays.
    """
    if os.name != "posix":
        return  # where nothing asks after a process without ending it
    for path in (*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp")):
        found = _TEMPORARY.fullmatch(path.name)
        if found is not None and not _is_another(int(found[1])):
            with suppress(OSError):
                path.unlink()


def _is_another(pid: int) -> bool:
    """Return whether a process of this id runs that is not this one."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as error:
        return isinstance(error, PermissionError)
    return pid != os.getpid()
