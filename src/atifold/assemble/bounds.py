"""Hold how much an assembler may keep, and for how long."""

from __future__ import annotations

from typing import NamedTuple

from atifold.settings import Settings


class Bounds(NamedTuple):
    """How much is held, and for how long (seconds); the settings of the same names say it.

    Of `max_bytes` one half is for traces, a quarter for spans that wait to be folded because a bound
    was passed, an eighth for what the program told and nobody has put away yet, and an eighth for
    documents that could not be written yet. Beside that stand the ids of spans that were written and
    let go, `remembered_ids` of them at most, about 130 bytes each.
    """

    grace_s: float
    idle_s: float
    retain_s: float
    max_bytes: int
    max_trace_bytes: int
    max_open_spans: int
    remembered_ids: int = 50_000

    @classmethod
    def of(cls, settings: Settings) -> Bounds:
        """Return the bounds that the settings say."""
        return cls(
            settings.grace_s,
            settings.idle_s,
            settings.retain_s,
            settings.max_bytes,
            settings.max_trace_bytes,
            settings.max_open_spans,
        )

    @property
    def trace_bytes(self) -> int:
        """Return the bytes that all traces may hold together."""
        return self.max_bytes // 2

    @property
    def waiting_bytes(self) -> int:
        """Return the bytes that may wait to be folded; one trace may always."""
        return self.max_bytes // 4

    @property
    def unsaved_bytes(self) -> int:
        """Return the bytes that documents without a place may hold."""
        return self.max_bytes // 8

    @property
    def inbox_bytes(self) -> int:
        """Return the bytes that may wait to be put away, about."""
        return self.max_bytes // 8
