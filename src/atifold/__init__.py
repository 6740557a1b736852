"""Put AI-agent events into OpenTelemetry as spans, and fold finished traces into ATIF trajectories.

Everything loads on first use: importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atifold.bus import EventBus
    from atifold.errors import AtifoldError, InputError, OutputError
    from atifold.plugin import (
        AtifLogExporter,
        AtifLogProcessor,
        AtifSpanExporter,
        AtifSpanProcessor,
        instrument,
        shared_bus,
    )
    from atifold.recording import Recording
    from atifold.redaction import WITHHELD

__all__ = [
    "WITHHELD",
    "AtifLogExporter",
    "AtifLogProcessor",
    "AtifSpanExporter",
    "AtifSpanProcessor",
    "AtifoldError",
    "EventBus",
    "InputError",
    "OutputError",
    "Recording",
    "__version__",
    "instrument",
    "shared_bus",
]

__version__ = "0.1.0"

_HOMES = {
    "AtifLogExporter": "atifold.plugin",
    "AtifLogProcessor": "atifold.plugin",
    "AtifSpanExporter": "atifold.plugin",
    "AtifSpanProcessor": "atifold.plugin",
    "AtifoldError": "atifold.errors",
    "EventBus": "atifold.bus",
    "InputError": "atifold.errors",
    "OutputError": "atifold.errors",
    "Recording": "atifold.recording",
    "WITHHELD": "atifold.redaction",
    "instrument": "atifold.plugin",
    "shared_bus": "atifold.plugin",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the part it lives in."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
