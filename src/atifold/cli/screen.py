"""Print for people, as whatever is at the other end can take it."""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console, RenderableType

_AT_THE_END = re.compile(r" +$", re.MULTILINE)
_PLAIN = {"│": "|", "├": "|", "└": "`", "─": "-", "…": "~", "–": "-", "≥ ": ">="}
"""Signs of ours, each with one of ASCII that is as wide."""


class Screen:
    """A console that leaves no spaces at the ends of lines, and draws in ASCII where the encoding has no more."""

    def __init__(self, file: TextIO | None = None, *, width: int | None = None) -> None:
        """Take where to print, stdout by default, and how wide that is: by default as the terminal, else 80."""
        self._console = Console(file=file, width=width, highlight=False)

    def print(self, renderable: RenderableType = "", *, wrap: bool = True) -> None:
        """Print something and a line end; lines that must stay whole (a path, a command) are not wrapped."""
        with self._console.capture() as captured:
            self._console.print(renderable, soft_wrap=not wrap)
        self._console.file.write(_AT_THE_END.sub("", plain(captured.get(), self._console.encoding)))


def plain(text: str, encoding: str) -> str:
    """Return a text with the signs of ours that an encoding does not have in ASCII; other signs stay."""
    for sign, ascii_sign in _PLAIN.items():
        if not _has(encoding, sign):
            text = text.replace(sign, ascii_sign)
    return text


def _has(encoding: str, sign: str) -> bool:
    try:
        sign.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
