"""Name the container of an input, for people: its form, what it holds, and how it is packed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from atifold.jsonfiles import BOM, documents, unpacked
from atifold.kinds import is_list, is_object
from atifold.otlp import protobuf

_PACKED: Final = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_KEYS: Final = (
    ("OTLP JSON", ("resourceSpans", "resourceLogs", "resourceMetrics")),
    ("OTLP JSON in snake case", ("resource_spans", "resource_logs", "resource_metrics")),
    ("Tempo JSON", ("batches",)),
    ("Jaeger JSON", ("data",)),
)
"""Containers by the names at their top."""

_WRAPPERS: Final = ("result", "trace")
"""What the interfaces of backends put around one."""


def container_of(data: bytes) -> str:
    """Return the container of these bytes, as `OTLP JSON Lines, gzip`; `unknown` where nothing tells."""
    packing = next((f", {name}" for magic, name in _PACKED if data.startswith(magic)), "")
    content, _ = unpacked(data, "")
    content = content.removeprefix(BOM)
    if protobuf.decode(content, "") is not None:
        return f"OTLP protobuf{packing}"
    name, lines = next(_names(content), ("unknown", False))
    return f"{name}{' Lines' if lines else ''}{packing}"


def _names(content: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the container of each part that tells, and whether it is a line."""
    for found in documents(content, lambda value: _name(value) is not None) if content.strip() else ():
        name = _name(found.value) if found.error is None else None
        if name is not None:
            yield name, found.line is not None


def _name(value: Any) -> str | None:
    if is_list(value):
        return next((name for item in value[:1] if (name := _name(item)) is not None), None)
    if not is_object(value):
        return None
    inner = next((value[name] for name in _WRAPPERS if is_object(value.get(name))), None)
    return _name(inner) if inner else next((name for name, keys in _KEYS if any(key in value for key in keys)), None)
