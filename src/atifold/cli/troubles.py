"""Keep why an exporter of the SDK failed, out of what it logs."""

from __future__ import annotations

import logging
import re
from typing import Final

_LONGEST: Final = 200
_AGAIN = re.compile(r"^Transient error (.+?) encountered while exporting .* batch, retrying in ")
"""What the exporter over HTTP logs before it tries again: only this line has the reason."""
_GAVE_UP = re.compile(r"^Failed to export \w+ batch due to timeout, max retries or shutdown")
"""What it logs last of a receiver that does not answer: no reason in it."""
_SYSTEM = re.compile(r"\[Errno -?\d+\] ([^'\")\]]+)")
"""What the operating system said, deep in the text of an exception."""


class Troubles(logging.Handler):
    """Keep the last reason that was logged, on one line and not too long."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line, but none that tells less than the one before it."""
        text = " ".join(record.getMessage().split())
        if self.last and _GAVE_UP.match(text):
            return
        again = _AGAIN.match(text)
        system = _SYSTEM.search(text)
        text = system[1] if system else again[1] if again else text
        self.last = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
