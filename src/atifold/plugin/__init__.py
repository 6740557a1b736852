"""Hold what the OpenTelemetry SDK can load: processors and exporters, and the ways to attach them.

Names load on first use, so that the shared bus is at hand without the SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atifold.plugin.attach import instrument
    from atifold.plugin.exporter import AtifSpanExporter
    from atifold.plugin.log_records import AtifLogExporter, AtifLogProcessor
    from atifold.plugin.processor import AtifSpanProcessor
    from atifold.plugin.shared import shared_bus

__all__ = [
    "AtifLogExporter",
    "AtifLogProcessor",
    "AtifSpanExporter",
    "AtifSpanProcessor",
    "instrument",
    "shared_bus",
]

_HOMES = {
    "AtifLogExporter": "log_records",
    "AtifLogProcessor": "log_records",
    "AtifSpanExporter": "exporter",
    "AtifSpanProcessor": "processor",
    "instrument": "attach",
    "shared_bus": "shared",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
