"""Ask the user's own function what of a content value may leave, and guard the program against it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final


class _Answer(Enum):
    WITHHELD = "withheld"

    def __repr__(self) -> str:
        return self.name


WITHHELD: Final = _Answer.WITHHELD
"""What a redaction returns for a value that must not leave at all."""

Redact = Callable[[str, str, Any], Any]
"""`redact(event, path, value)`: the value itself, another one in its place, or `WITHHELD`.

Of an agent event: its full name, the leaf's path in the payload with the wire's names
(`args.query`, `history[].content`), and a text, a number or a boolean (below 64 levels a whole list or
object). Of a span that atifold did not make: the span's name, the attribute's name, and its text, list
or object.
"""

_PLAIN: Final = (str, int, float, list, tuple, dict)


def minded(redact: object) -> None:
    """Raise TypeError for a redaction that cannot be called."""
    if redact is not None and not callable(redact):
        raise TypeError(f"redact: a function is wanted, {type(redact).__name__} was found")


class Redaction:
    """A user's function that never raises: where it fails, the value is withheld.

    `failed` is told what was wrong, in words without any value. It may be called from any thread.
    """

    __slots__ = ("_failed", "_redact")

    def __init__(self, redact: Redact, failed: Callable[[str], None]) -> None:
        """Take the function and who hears of its failures."""
        self._redact = redact
        self._failed = failed

    def __call__(self, event: str, path: str, value: Any) -> Any:
        """Return what may leave of a value: the value, another one that JSON has (null apart), or `WITHHELD`."""
        try:
            found = self._redact(event, path, value)
        except Exception as error:  # noqa: BLE001  guards the user's program; what fails withholds
            self._failed(f"raised {type(error).__name__}")
            return WITHHELD
        if found is value or found is WITHHELD or isinstance(found, _PLAIN):
            return found
        self.refuse(found)
        return WITHHELD

    def refuse(self, found: object) -> None:
        """Say that a value was returned of a kind that cannot stand there."""
        self._failed(f"returned a value of the type {type(found).__name__}, which cannot stand there")
