"""Read the files of traces that a command is given."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from atifold.cli.inputs import stdin
from atifold.cli.words import busy
from atifold.cli.wrong_kind import Kind, Others, kind_at
from atifold.jsonfiles import STDIN

if TYPE_CHECKING:
    from atifold.errors import InputError
    from atifold.otlp import Batch


def read_traces(paths: dict[str, str], containers: dict[str, str] | None = None) -> tuple[Batch, list[InputError]]:
    """Return what all files hold, and a complaint for each part that could not be read.

    A file of another kind is one complaint; all of one kind in a folder are one. `containers` gets the
    container of each file of which something could be read.
    """
    from atifold import otlp

    whole = otlp.Batch()
    complaints: list[InputError] = []
    others = Others(Kind.TRACE)
    for number, (path, folder) in enumerate(paths.items(), 1):
        piped = stdin().read() if path == "-" else b""
        with busy(f"reading {path} ({number} of {len(paths)})"):
            batch = otlp.read([path], stdin=BytesIO(piped))
        whole.spans += batch.spans
        whole.logs += batch.logs
        if containers is not None and (batch.spans or batch.logs):
            containers[STDIN if path == "-" else path] = otlp.container_of(piped or Path(path).read_bytes())
        kind = kind_at(path, piped) if batch.complaints and not (batch.spans or batch.logs) else None
        if kind in (None, Kind.TRACE) or (kind is Kind.OTHER and not folder):
            complaints += batch.complaints
        else:
            others.add(kind, path, folder)
    return whole, complaints + others.errors()
