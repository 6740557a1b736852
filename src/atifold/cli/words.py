"""Say things to people, and turn what happened into the exit codes of the contract."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import click

from atifold.errors import AtifoldError, InputError

DONE = 0
SOME_REFUSED = 1
NOTHING_DONE = 3
INTERRUPTED = 130
"""What shells use for a program that was stopped by Ctrl-C."""
READER_GONE = 141
"""What shells use for a program whose reader closed the pipe, as `head` does; nothing is wrong then."""


def say(words: str) -> None:
    """Write one line for people to stderr."""
    click.echo(words, err=True)


class Tally:
    """Count what was refused and what was done, saying a line for each refusal.

    Reading and writing are counted apart: when either did nothing but fail, nothing was done.
    """

    def __init__(self) -> None:
        """Start with nothing refused."""
        self.refused_inputs = 0
        self.refused_outputs = 0
        self.written_outputs = 0

    def refuse(self, errors: Iterable[AtifoldError], *, aloud: bool = True) -> None:
        """Count, and say `aloud`, inputs that could not be read; what holds for several lines of a file is one line."""
        alike: dict[tuple[str, str], list[AtifoldError]] = {}
        for error in errors:
            self.refused_inputs += 1
            alike.setdefault(_what(error), []).append(error)
        for first, *others in alike.values() if aloud else ():
            more = f" (and {plural(len(others), 'more line')} of this file)" if others else ""
            say(f"atifold: {one_line(first)}{more}")

    def fail(self, error: AtifoldError) -> None:
        """Say and count an output that could not be written."""
        self.refused_outputs += 1
        say(f"atifold: {one_line(error)}")

    def wrote(self, outputs: int = 1) -> None:
        """Count outputs that were written."""
        self.written_outputs += outputs

    def exit_code(self, read: int) -> int:
        """Return the exit code, given how many things could be read."""
        if self.refused_inputs and not read:
            return NOTHING_DONE
        if self.refused_outputs and not self.written_outputs:
            return NOTHING_DONE
        return SOME_REFUSED if self.refused_inputs or self.refused_outputs else DONE


def _what(error: AtifoldError) -> tuple[str, str]:
    """Return the file that an error is about, without the line, and what was found and wanted."""
    if not isinstance(error, InputError):
        return "", str(error)
    file, _, number = error.where.rpartition(":")
    return file if number.isdecimal() else error.where, f"{error.found}, {error.wanted}"


def line(text: str, longest: int = 0) -> str:
    """Return a text on one line, without control signs, cut to `longest` characters (0: whole).

    Names and messages come from strangers: an escape sequence among them must not reach a terminal.
    """
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return plain if not longest or len(plain) <= longest else plain[: longest - 1] + "…"


def plural(number: int, word: str, words: str = "") -> str:
    """Return a number with its word: `1 span`, `2 spans`; `words` where the plural has no plain s."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def one_line(error: Exception) -> str:
    """Return an error's text on one line, whatever a file name or a found value holds."""
    return line(str(error))


@contextmanager
def busy(words: str) -> Generator[None]:
    """Show that long work goes on, on stderr, while the block runs; nothing when that is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield
