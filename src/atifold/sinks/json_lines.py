"""Write documents as JSON Lines: one compact document a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from atifold.errors import OutputError
from atifold.jsontext import to_json

if TYPE_CHECKING:
    from atifold.fold import Document


class JsonLinesSink:
    """Write one document a line to a file or a binary stream.

    A file is opened, and emptied unless `append`, when the first document comes. A line once written
    stays: a document that comes again is one more line, and the last line of a name counts.
    """

    def __init__(self, target: str | Path | BinaryIO, *, append: bool = False) -> None:
        """Take a path, or a stream that stays its owner's to close."""
        self._path = Path(target) if isinstance(target, (str, Path)) else None
        self._stream = None if isinstance(target, (str, Path)) else target
        self._mode = "ab" if append else "wb"

    def write(self, document: Document) -> Path | None:
        """Write the document's line and return the file, None for a stream.

        Raises OutputError where the file or the stream cannot be written.
        """
        line = to_json(document.trajectory) + b"\n"
        try:
            stream = self._opened()
            stream.write(line)
            stream.flush()
        except OSError as error:
            raise OutputError(self._where(), error.strerror or str(error)) from error
        return self._path

    def discard(self, name: str) -> None:
        """Do nothing: a line that is written stays."""

    def close(self) -> None:
        """Close a file that this sink opened; a stream is left open."""
        if self._path is not None and self._stream is not None:
            self._stream.close()
            self._stream, self._mode = None, "ab"

    def _opened(self) -> BinaryIO:
        if self._stream is None:
            path = Path(self._where())
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = cast("BinaryIO", path.open(self._mode))
        return self._stream

    def _where(self) -> str:
        if self._path is not None:
            return str(self._path)
        name = getattr(self._stream, "name", "the stream")
        return "stdout" if name in (1, "<stdout>") else str(name)
