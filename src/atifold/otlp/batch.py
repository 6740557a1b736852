"""Hold what came out of a set of inputs: the good spans and log records, and a line about each bad place."""

from __future__ import annotations

from dataclasses import dataclass, field

from atifold.errors import InputError
from atifold.spans import LogRecord, Span


@dataclass(slots=True)
class Batch:
    """Spans and log records in the order of the inputs, and one complaint per place that could not be read."""

    spans: list[Span] = field(default_factory=list[Span])
    complaints: list[InputError] = field(default_factory=list[InputError])
    logs: list[LogRecord] = field(default_factory=list[LogRecord])

    def extend(self, other: Batch) -> None:
        """Add what another batch holds after what this one holds."""
        self.spans += other.spans
        self.complaints += other.complaints
        self.logs += other.logs
