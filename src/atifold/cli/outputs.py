"""Write documents and reports where the command line says."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Union

from atifold.cli.words import Tally
from atifold.errors import InputError, OutputError

if TYPE_CHECKING:
    from atifold.fold import Document
    from atifold.sinks import DirectorySink, JsonLinesSink

    Sink = Union[DirectorySink, JsonLinesSink]

STDOUT = "-"


def write_documents(documents: Sequence[Document], output: str, tally: Tally) -> int:
    """Write documents to `output` (a folder, a `.jsonl` file or `-`) and return how many.

    What cannot be written is said and counted in `tally`, a reason once; the others are written.
    """
    if not documents and output.endswith(".jsonl"):
        _empty(Path(output), tally)
        return 0
    try:
        with _sink(output) as sink:
            written, errors = _write(documents, sink)
    except OutputError as error:
        written, errors = 0, {"": error}
    for first in errors.values():
        tally.fail(first)
    tally.wrote(written)
    return written


def _write(documents: Sequence[Document], sink: Sink) -> tuple[int, dict[str, OutputError]]:
    """Return how many documents were written, and the first error of each reason."""
    written = 0
    errors: dict[str, OutputError] = {}
    for document in documents:
        try:
            sink.write(document)
        except OutputError as error:
            if isinstance(error.__cause__, BrokenPipeError):
                raise error.__cause__ from None
            errors.setdefault(error.why, error)
        else:
            written += 1
    return written, errors


@contextmanager
def _sink(output: str) -> Generator[Sink]:
    from atifold.sinks import DirectorySink, JsonLinesSink

    if output != STDOUT and not output.endswith(".jsonl"):
        yield DirectorySink(output)
        return
    with closing(JsonLinesSink(_stdout() if output == STDOUT else output)) as sink:
        yield sink


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        raise OutputError("stdout", "it is closed")
    return sys.stdout.buffer


def _empty(path: Path, tally: Tally) -> None:
    """Leave no documents of an earlier run behind as if they were of this one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    except OSError as error:
        tally.fail(OutputError(path, error.strerror or str(error)))


def write_report(
    path: Path | None, report: dict[str, Any], refused: Iterable[InputError], tally: Tally, **more: Any
) -> None:
    """Write the report of a fold, with the refused inputs, as indented JSON; nothing for None."""
    if path is None:
        return
    said = [{"where": error.where, "found": error.found, "wanted": error.wanted} for error in refused]
    text = json.dumps({**more, **report, "refused": said}, indent=2, ensure_ascii=False, default=str)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text + "\n", encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        tally.fail(OutputError(path, error.strerror or str(error)))
    else:
        tally.wrote()


def in_version(documents: Iterable[Document], version: str) -> tuple[Document, ...]:
    """Return the documents as ATIF `version` (`1.7` or `1.8`): all that a fold writes is in both."""
    return tuple(
        replace(document, trajectory={**document.trajectory, "schema_version": f"ATIF-v{version}"})
        for document in documents
    )
