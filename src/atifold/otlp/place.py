"""Say where items are read, and make one complaint of each that cannot be, so that it costs only itself."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from atifold.errors import InputError
from atifold.otlp.batch import Batch

BAD: Final = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)
"""What reading an item of the wrong shape may raise."""


_VOWELS: Final = ("a", "e", "i", "o", "u")


class Place(NamedTuple):
    """Where items are read, the batch that they go into, and whose form they should have."""

    batch: Batch
    where: str
    line: int | None = None
    form: str = "an OTLP"

    @contextmanager
    def sparing(self, what: str) -> Generator[None]:
        """Turn what cannot be read in the block into one complaint."""
        try:
            yield
        except BAD as error:
            self.complain(what, error)

    def complain(self, what: str, error: Exception) -> None:
        """Leave a complaint about what cannot be read."""
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        article = "an" if what.startswith(_VOWELS) else "a"
        found = f"found {article} {what} that cannot be read ({why})"
        self.batch.complaints.append(InputError(self.where, found, f"wanted {self.form} {what}", line=self.line))
