"""Write each document to a file of its own in one folder."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from atifold.atif import dumps
from atifold.errors import OutputError
from atifold.filename import file_stem
from atifold.sinks.files import write_file

if TYPE_CHECKING:
    from atifold.fold import Document


_OURS: Final = re.compile(r"[0-9a-f]{16}\.\w+")
"""How the files are called that go beside a document: by their content."""


class DirectorySink:
    """Write `<name>.json` into a folder, which is created when the first document comes.

    The files that a document names go first, where it says they are: below `<name>/` in the folder. A
    file is replaced in one step: a reader sees the old document or the new one, never half of one.
    """

    def __init__(self, path: str | Path) -> None:
        """Take the folder; nothing is touched before the first document."""
        self.path = Path(path)

    def write(self, document: Document) -> Path:
        """Write the document and return its file; the same name again replaces the file.

        Raises OutputError where the folder or the file cannot be written; nothing half-written and
        no temporary file stays behind.
        """
        target = self._file(document.name)
        for path, data in document.files.items():
            write_file(self.path / path, data)
        write_file(target, dumps(document.trajectory))
        return target

    def discard(self, name: str) -> None:
        """Remove the file of a document that later spans made part of another one.

        Raises OutputError where it cannot be removed; a file that is not there is no error.
        """
        target = self._file(name)
        try:
            target.unlink(missing_ok=True)
            self._discard_files(self.path / target.stem)
        except OSError as error:
            raise OutputError(target, error.strerror or str(error)) from error

    def _discard_files(self, folder: Path) -> None:
        """Remove the files that a document named, and their folder where nothing else is in it."""
        if not folder.is_dir():
            return
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()

    def _file(self, name: str) -> Path:
        return self.path / f"{file_stem(name)}.json"
