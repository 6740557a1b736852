"""Hand on what a server holds when it stops to the one that is started after it, by a file beside the documents.

A trace may be cut by the restart, and a client may send again what the first server had taken: without its
earlier spans, the document of what comes afterwards would take the place of one that holds more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from atifold import otlp
from atifold.assemble import Carried
from atifold.errors import AtifoldError
from atifold.jsontext import from_json, to_json
from atifold.otlp import json
from atifold.otlp.batch import Batch
from atifold.otlp.place import BAD, Place
from atifold.sinks.files import write_file

FILE: Final = ".atifold-serve.jsonl"
"""Its name in the folder of the documents; a trace a line, as an OTLP request with facts of ours beside."""

_OURS: Final = "atifold"
_log = logging.getLogger("atifold")


def save(path: Path, held: Iterable[Carried]) -> None:
    """Write what is held after what is there; never raises: where it cannot be written, a line says so."""
    lines = b"".join(to_json(_line(one)) + b"\n" for one in held)
    try:
        if lines:
            write_file(path, (path.read_bytes() if path.exists() else b"") + lines)
    except (AtifoldError, OSError) as error:
        _log.warning("what is held cannot be handed on to the next server: %s", error)


def load(path: Path) -> list[Carried]:
    """Return what was handed on and take it away; never raises: what cannot be read is said and left out."""
    try:
        data = path.read_bytes()
        path.unlink()
    except FileNotFoundError:
        return []
    except OSError as error:
        _log.warning("%s cannot be read: %s", path, error.strerror)
        return []
    return list(_read(path, data))


def _line(one: Carried) -> dict[str, Any]:
    return {
        _OURS: {
            "trace_id": one.trace_id,
            "part": one.part,
            "names": sorted(one.names),
            "awaited": one.awaited,
            "written": one.written,
        },
        "resourceSpans": [each for request in otlp.requests_of(one.spans) for each in request["resourceSpans"]],
        "resourceLogs": otlp.resource_logs(one.logs),
    }


def _read(path: Path, data: bytes) -> Iterator[Carried]:
    for number, line in enumerate(data.splitlines(), 1):
        batch = Batch()
        try:
            value = from_json(line)
            json.decode(value, Place(batch, str(path), number))
            yield _carried(value[_OURS], batch)
        except BAD as error:
            _log.warning("%s:%d: left out, it cannot be read (%s)", path, number, type(error).__name__)


def _carried(ours: dict[str, Any], batch: Batch) -> Carried:
    return Carried(
        str(ours["trace_id"]),
        int(ours["part"]),
        frozenset(map(str, ours["names"])),
        bool(ours["awaited"]),
        bool(ours["written"]),
        batch.spans,
        batch.logs,
    )
