"""Make file names of what documents are called."""

from __future__ import annotations

import hashlib
import re
from typing import Final

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST: Final = 120  # with suffixes and the temporary form well below the 255 bytes of common file systems
_DIGITS: Final = 8


def file_stem(name: str) -> str:
    """Return `name` as a file name without suffix that every file system takes; such a name stays as it is.

    A name that has to be changed (separators, other signs, length, a leading dot) ends in eight hex
    digits of its hash, so that two names never become one file.
    """
    safe = _UNSAFE.sub("_", name).lstrip(".")
    if safe == name and 0 < len(safe) <= _LONGEST:
        return safe
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    kept = safe[: _LONGEST - _DIGITS - 1]
    return f"{kept}-{digest}" if kept else digest
