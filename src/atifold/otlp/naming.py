"""Name the container of an input, for people: its form, what it holds, and how it is packed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from atifold.jsonfiles import BOM, documents
from atifold.kinds import is_list, is_object
from atifold.otlp.containers import format_of, parse
from atifold.otlp.frames import frames, is_framed
from atifold.packed import ZSTD, unpacked

_PACKED: Final = ((b"\x1f\x8b", "gzip"), (ZSTD, "zstd"))
_VARIANTS: Final = (
    ("OTLP JSON in snake case", ("resource_spans", "resource_logs", "resource_metrics")),
    ("Tempo JSON", ("batches",)),
)
"""OTLP JSON by other names at its top."""

_WRAPPERS: Final = ("result", "trace")
"""What the interfaces of backends put around one."""


def container_of(data: bytes) -> str:
    """Return the container of these bytes, as `OTLP JSON Lines, gzip`; `unknown` where nothing tells."""
    packing = next((f", {name}" for magic, name in _PACKED if data.startswith(magic)), "")
    content = unpacked(data, "")[0].removeprefix(BOM)
    if is_framed(content):
        inside = next((container_of(message) for message in frames(content) if message), "unknown")
        return f"length-prefixed messages of {inside}{packing}"
    if content.startswith(b"\x0a") and not _is_empty(content):
        return f"OTLP protobuf{packing}"
    name, lines = next(_names(content), ("unknown", False))
    return f"{name}{' Lines' if lines else ''}{packing}"


def _is_empty(content: bytes) -> bool:
    batch = parse(content, "")
    return not batch.spans and not batch.logs


def _names(content: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the container of each part that tells, and whether it is a line."""
    for found in documents(content, lambda value: _name(value) is not None) if content.strip() else ():
        name = _name(found.value) if found.error is None else None
        if name is not None:
            yield name, found.line is not None


def _name(value: Any) -> str | None:
    if is_list(value) and format_of(value) is None:
        return next((name for item in value[:1] if (name := _name(item)) is not None), None)
    known = format_of(value) if value else None
    if known is None:
        return None
    return _variant(value) or f"{known.form.partition(' ')[2]} JSON"


def _variant(value: Any) -> str | None:
    """Return which variant of OTLP JSON a value is, None for the usual one and for other formats."""
    inner = value
    for name in _WRAPPERS:
        if is_object(inner) and is_object(inner.get(name)):
            inner = inner[name]
    keys = inner if is_object(inner) else {}
    return next((name for name, tops in _VARIANTS if any(top in keys for top in tops)), None)
