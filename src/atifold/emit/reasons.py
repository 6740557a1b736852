"""Say why a span is not whole, in the words of its attribute `atifold.incomplete`."""

from __future__ import annotations

from typing import Final

STILL_OPEN: Final = "still open when the events ended"
NO_START: Final = "the events before were not there"
ABANDONED: Final = "never ended"
STOPPED: Final = "stopped by the program"

STOPS: Final = "GeneratorExit"
"""The error type of a block whose generator the program closed: it was stopped, and did not fail."""
