"""Make trajectories of exported spans: what `OTEL_TRACES_EXPORTER=otlp,atif` loads."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from atifold.plugin.intake import Intake
from atifold.redaction import Redact

_log = logging.getLogger("atifold")


class AtifSpanExporter(Intake, SpanExporter):
    """Fold exported spans into trajectories in a folder.

    Without arguments everything comes from the environment (`ATIFOLD_DIR` and the other settings); a
    declarative configuration gives `directory` and settings as keyword arguments. An exporter sees
    sampled spans only and hears nothing of starts, but it is a side door too: what is emitted through
    atifold's bus comes in whole, sampled or not. It never raises.
    """

    def __init__(
        self, directory: str | Path | None = None, *, redact: Redact | None = None, **settings: object
    ) -> None:
        """Take the folder and settings by name (`atifold.settings`); the environment fills the rest.

        `redact(span, attribute, value)` says what of others' spans may stand in trajectories
        (`atifold.redaction`).
        """
        super().__init__(directory, redact=redact, **settings)
        self._shut = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take finished spans; FAILURE after the shutdown or where a span could not be taken."""
        if self._shut:
            return SpanExportResult.FAILURE
        result = SpanExportResult.SUCCESS
        for span in spans:
            try:
                self._put(span)
            except Exception as error:  # noqa: BLE001 - guards the user's program and the spans beside it
                _log.warning("a span could not be taken: %s", type(error).__name__)
                result = SpanExportResult.FAILURE
        return result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what is finished now; return whether all of it was written in time."""
        return self.flush(timeout_millis)

    def shutdown(self) -> None:
        """Write everything, unfinished traces as incomplete, and stop."""
        self.close()
        self._shut = True
