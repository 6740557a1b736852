"""Make trajectories of what a TracerProvider's spans tell, as a span processor."""

from __future__ import annotations

import logging

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from atifold.plugin.intake import Intake

_log = logging.getLogger("atifold")


class AtifSpanProcessor(Intake, SpanProcessor):
    """Fold the spans of each trace into trajectories in a folder, while the program runs.

    Add it to a provider: `provider.add_span_processor(AtifSpanProcessor("trajectories"))`. Spans that
    are recorded but not sampled count too (see the setting `follow_sampler`). It is also a side door.
    It never raises into the program, and writes on a thread of its own.
    """

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:  # noqa: ARG002 - SDK's signature
        """Note that a span was started."""
        try:
            self._put(span)
        except Exception as error:  # noqa: BLE001 - guards the user's program
            _log.debug("a started span was not noted: %s", type(error).__name__)

    def on_end(self, span: ReadableSpan) -> None:
        """Take the span's values."""
        try:
            self._put(span)
        except Exception as error:  # noqa: BLE001 - guards the user's program
            _log.warning("a span could not be taken: %s", type(error).__name__)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Write what is finished now; return whether all of it was written in time."""
        return self.flush(timeout_millis)

    def shutdown(self) -> None:
        """Write everything, unfinished traces as incomplete, and stop."""
        self.close()
