"""Model, check, read and write ATIF documents (the Agent Trajectory Interchange Format, 1.0 to 1.8).

A document is a plain dict of JSON values everywhere in atifold; the models serve validation, the
generated schemas and people who build documents by hand. Nothing here loads pydantic before a model
or `check` is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atifold.atif.checking import check, check_file
    from atifold.atif.findings import Finding
    from atifold.atif.models import (
        Agent,
        AudioSource,
        ContentPart,
        FinalMetrics,
        ImageSource,
        Metrics,
        Observation,
        ObservationResult,
        Step,
        SubagentTrajectoryRef,
        ToolCall,
        Trajectory,
    )
    from atifold.atif.reading import load
    from atifold.atif.versions import SINCE, VERSIONS, WRITTEN, Since
    from atifold.atif.writing import canonical, dumps, writable

__all__ = [
    "SINCE",
    "VERSIONS",
    "WRITTEN",
    "Agent",
    "AudioSource",
    "ContentPart",
    "FinalMetrics",
    "Finding",
    "ImageSource",
    "Metrics",
    "Observation",
    "ObservationResult",
    "Since",
    "Step",
    "SubagentTrajectoryRef",
    "ToolCall",
    "Trajectory",
    "canonical",
    "check",
    "check_file",
    "dumps",
    "load",
    "writable",
]

_HOMES = {
    "checking": ("check", "check_file"),
    "findings": ("Finding",),
    "reading": ("load",),
    "versions": ("SINCE", "VERSIONS", "WRITTEN", "Since"),
    "writing": ("canonical", "dumps", "writable"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562); what `_HOMES` does not list is a model."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF.get(name, 'models')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted(__all__)
