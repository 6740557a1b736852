"""Write documents and reports where the command line says."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Union

from atifold.cli.options import STDOUT, is_folder, is_stdout
from atifold.cli.words import Tally
from atifold.errors import InputError, OutputError

if TYPE_CHECKING:
    from atifold.fold import Document
    from atifold.sinks import DirectorySink, JsonLinesSink

    Sink = Union[DirectorySink, JsonLinesSink]


def write_documents(documents: Sequence[Document], output: str, tally: Tally) -> dict[str, Path | None]:
    """Write documents to `output` (a folder, a `.jsonl` file or `-`); return the file of each by its name.

    The file is None on stdout. What cannot be written is said and counted in `tally`, a reason once;
    the others are written.
    """
    if not documents and output.endswith(".jsonl"):
        _empty(Path(output), tally)
        return {}
    try:
        with _sink(output) as sink:
            written, errors = _write(documents, sink)
    except OutputError as error:
        written, errors = {}, {"": error}
    for first in errors.values():
        tally.fail(first)
    tally.wrote(len(written))
    return written


def _write(documents: Sequence[Document], sink: Sink) -> tuple[dict[str, Path | None], dict[str, OutputError]]:
    """Return where each document was written, and the first error of each reason."""
    written: dict[str, Path | None] = {}
    errors: dict[str, OutputError] = {}
    for document in documents:
        try:
            written[document.name] = sink.write(document)
        except OutputError as error:
            if isinstance(error.__cause__, BrokenPipeError):
                raise error.__cause__ from None
            errors.setdefault(error.why, error)
    return written, errors


@contextmanager
def _sink(output: str) -> Generator[Sink]:
    from atifold.sinks import DirectorySink, JsonLinesSink

    if is_folder(output):
        yield DirectorySink(output)
        return
    with closing(JsonLinesSink(stdout() if output == STDOUT else output)) as sink:
        yield sink


def stdout() -> BinaryIO:
    """Return stdout for bytes; raises OutputError where the program was started without one."""
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
    """Write the report of a fold, with the refused inputs, as indented JSON; `-` is stdout; nothing for None."""
    if path is None:
        return
    from atifold.sinks import write_file

    said = [{"where": error.where, "found": error.found, "wanted": error.wanted} for error in refused]
    text = json.dumps({**more, **report, "refused": said}, indent=2, ensure_ascii=False, default=str)
    data = f"{text}\n".encode(errors="replace")
    try:
        if is_stdout(path):
            _print(data)
        else:
            write_file(path, data)
    except OutputError as error:
        tally.fail(error)
    else:
        tally.wrote()


def _print(data: bytes) -> None:
    """Write to stdout; raises OutputError where that cannot be, and BrokenPipeError where nobody reads it."""
    try:
        stdout().write(data)
        stdout().flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError("stdout", error.strerror or str(error)) from error


def in_version(documents: Iterable[Document], version: str) -> tuple[Document, ...]:
    """Return the documents as ATIF `version` (`1.7` or `1.8`): all that a fold writes is in both."""
    return tuple(
        replace(document, trajectory={**document.trajectory, "schema_version": f"ATIF-v{version}"})
        for document in documents
    )
