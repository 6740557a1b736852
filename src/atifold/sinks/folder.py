"""Find out whether documents can be written, before the first one is lost."""

from __future__ import annotations

import os
from pathlib import Path


def hindrance(folder: Path) -> str | None:
    """Return why documents cannot be written to `folder`, None where nothing seems to be in the way.

    Nothing is made or written for the question: of a folder that is not there, the nearest one above
    it that is there is looked at.
    """
    try:
        there = next((at for at in (folder, *folder.parents) if at.exists()), None)
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if there is None:
        return None
    if not there.is_dir():
        return f"{there} is not a folder"
    return None if os.access(there, os.W_OK | os.X_OK) else f"{there} is not writable"
