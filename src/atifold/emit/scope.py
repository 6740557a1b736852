"""Name the instrumentation scope of what is emitted, the same for all three signals."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from atifold import semconv

_VERSION: Final[str] = import_module("atifold").__version__  # the package names its parts: no part imports it

SCOPE: Final[tuple[str, str, str, Mapping[str, str]]] = (
    semconv.SCOPE,
    _VERSION,
    semconv.SCHEMA_URL,
    semconv.SCOPE_ATTRIBUTES,
)
"""Name, version, schema URL and attributes, in the order in which all providers take them."""
