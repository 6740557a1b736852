"""Count what a server does, and write it for Prometheus.

Source: the Prometheus text exposition format, version 0.0.4.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[tuple[str, str], ...]


class Figure(NamedTuple):
    """One family: its name, whether it only grows, and what it says."""

    name: str
    grows: bool
    help: str


REQUESTS: Final = Figure("atifold_requests_total", True, "Requests, by protocol, signal and what became of them.")
SPANS: Final = Figure("atifold_spans_total", True, "Spans that were taken.")
RECORDS: Final = Figure("atifold_log_records_total", True, "Log records that were taken.")
REJECTED: Final = Figure("atifold_rejected_total", True, "Spans and log records that could not be read.")
DOCUMENTS: Final = Figure("atifold_documents_total", True, "Documents that were written, each time.")
HAPPENED: Final = Figure("atifold_happened_total", True, "What became of spans, records and documents, by kind.")
HELD: Final = Figure("atifold_held_bytes", False, "Bytes held: of traces, of work that waits, of unsaved documents.")
IN_WORK: Final = Figure("atifold_requests_bytes", False, "Bytes of requests in work.")
CONNECTIONS: Final = Figure("atifold_connections", False, "HTTP connections and gRPC calls that are open.")


class Figures:
    """Count by family and labels, from any thread."""

    def __init__(self) -> None:
        """Start with nothing counted."""
        self._lock = threading.Lock()
        self._counts: Counter[tuple[Figure, Labels]] = Counter()

    def add(self, figure: Figure, n: int = 1, **labels: str) -> None:
        """Count `n` more."""
        with self._lock:
            self._counts[figure, tuple(labels.items())] += n

    def of(self, figure: Figure) -> int:
        """Return the sum of a family."""
        with self._lock:
            return sum(n for (family, _), n in self._counts.items() if family is figure)

    def text(self, now: Mapping[Figure, Mapping[Labels, int]]) -> str:
        """Return everything as text, with figures of the moment beside those that were counted here."""
        with self._lock:
            found: dict[Figure, dict[Labels, int]] = {SPANS: {(): 0}, RECORDS: {(): 0}, REQUESTS: {}, REJECTED: {}}
            for (figure, labels), n in self._counts.items():
                found.setdefault(figure, {})[labels] = n
        return "".join(
            f"{line}\n" for figure, values in (*found.items(), *now.items()) for line in _lines(figure, values)
        )


def _lines(figure: Figure, values: Mapping[Labels, int]) -> Iterator[str]:
    yield f"# HELP {figure.name} {figure.help}"
    yield f"# TYPE {figure.name} {'counter' if figure.grows else 'gauge'}"
    for labels, n in sorted(values.items()):
        inside = ",".join(f'{name}="{value}"' for name, value in labels)
        yield f"{figure.name}{{{inside}}} {n}" if inside else f"{figure.name} {n}"
