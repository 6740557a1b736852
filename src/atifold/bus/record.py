"""Write events to a file in the producer's own wire form."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from typing_extensions import Self

from atifold.errors import OutputError
from atifold.events.envelope import Event
from atifold.jsontext import to_json

Subscribe = Callable[[str, Callable[[Event], object]], Callable[[], None]]


class Recorder:
    """Write every event of a bus to a file, one JSON object a line, until closed."""

    def __init__(self, subscribe: Subscribe, path: str | Path) -> None:
        """Open `path` for writing (what it held is replaced) and start to listen."""
        self.path = Path(path)
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = _opened(self.path)
        self._unsubscribe = subscribe("*", self._write)

    def _write(self, event: Event) -> None:
        line = to_json(event.to_wire()) + b"\n"
        with self._lock:
            if self._file is not None:
                self._file.write(line)
                self._file.flush()

    def close(self) -> None:
        """Stop listening and close the file; a second call does nothing."""
        self._unsubscribe()
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __enter__(self) -> Self:
        """Return the recorder itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the recording."""
        self.close()


def _opened(path: Path) -> IO[bytes]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from error
