"""Attach without code: what `opentelemetry-instrument` and a declarative configuration load.

This module alone needs the package opentelemetry-instrumentation, which both of them bring.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined]  # untyped

from atifold.plugin import doors
from atifold.plugin.attach import attach
from atifold.plugin.exporter import AtifSpanExporter
from atifold.plugin.termination import flush_at_sigterm
from atifold.settings import Settings


class AtifInstrumentor(BaseInstrumentor):  # type: ignore[misc]
    """Write trajectories of the global provider's spans, and make spans of the shared bus's events.

    No processor is added where an AtifSpanExporter is at work already (`OTEL_TRACES_EXPORTER=…,atif`).
    `OTEL_PYTHON_DISABLED_INSTRUMENTATIONS=atifold` turns it off.
    """

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return nothing: no other package is needed."""
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        self._release = attach(processor=doors.first(AtifSpanExporter) is None, **kwargs).release
        if Settings.from_env().flush_at_sigterm:
            flush_at_sigterm()

    def _uninstrument(self, **kwargs: Any) -> None:  # noqa: ARG002 - the base class's signature
        """Make no more spans of events; the provider keeps its processor, as the SDK takes none out again."""
        self._release()
