"""Have a LoggerProvider feed what has the spans, unless it does already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opentelemetry import _logs

from atifold.plugin.intake import Intake


def feed_logs(provider: _logs.LoggerProvider | None, spans: Intake) -> None:
    """Add an AtifLogProcessor for `spans` to an SDK's LoggerProvider (None: the global one, if it is there).

    One that feeds a processor or an exporter of ours already is left as it is.
    """
    found: Any = _logs.get_logger_provider() if provider is None else provider
    if not hasattr(found, "add_log_record_processor"):
        return  # not the SDK's: it takes no processors
    from atifold.plugin.log_records import AtifLogExporter, AtifLogProcessor  # noqa: PLC0415 - by who has logs

    if not any(isinstance(part, (AtifLogProcessor, AtifLogExporter)) for part in _parts(found)):
        found.add_log_record_processor(AtifLogProcessor(spans))


def _parts(provider: Any) -> Iterator[object]:
    """Yield a provider's processors and their exporters, which the SDK has no public way for."""
    active = getattr(provider, "_multi_log_record_processor", None)
    for processor in getattr(active, "_log_record_processors", ()):
        inner = getattr(processor, "_batch_processor", processor)
        yield from (processor, getattr(inner, "_exporter", None))
