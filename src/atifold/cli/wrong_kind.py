"""Know a file that is meant for another command, and name that command instead of each line of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from atifold.cli.words import plural
from atifold.errors import InputError
from atifold.jsonfiles import BOM, STDIN, documents
from atifold.kinds import is_list, is_object
from atifold.packed import unpacked


class Kind(Enum):
    """What a file can hold."""

    TRACE = ("a trace", "traces", "for traces: atifold fold")
    RECORDING = ("a recording of events", "recordings of events", "for recordings: atifold replay")
    DOCUMENT = ("an ATIF document", "ATIF documents", "for documents: atifold check")
    REPORT = ("the report of a fold", "reports of folds", "reports are for people")
    OTHER = ("JSON of another kind", "files of other JSON", "")

    def __init__(self, one: str, many: str, remedy: str) -> None:
        """Take the words for one of it and for many, and the remedy where another kind was wanted."""
        self.one, self.many, self.remedy = one, many, remedy

    def error(self, where: str, wanted: Kind) -> InputError:
        """Return the one line about a file of this kind where another was wanted."""
        return InputError(where, f"found {self.one}", f"wanted {wanted.one}{self.hint}")

    @property
    def hint(self) -> str:
        """Return the remedy in brackets, "" where there is none."""
        return f" ({self.remedy})" if self.remedy else ""


class Others:
    """Files of other kinds than the wanted one: each that was named is an error, those of a folder are one a kind."""

    def __init__(self, wanted: Kind) -> None:
        """Start with none."""
        self._wanted = wanted
        self._found: dict[tuple[str, Kind], list[str]] = {}

    def add(self, kind: Kind, path: str, folder: str) -> None:
        """Take a file; `folder` is what stood for it, "" where it was named itself."""
        if folder and kind is Kind.REPORT:
            return  # it lies beside the documents, and nobody asked for it
        self._found.setdefault((folder or path, kind), []).append(path)

    def errors(self) -> list[InputError]:
        """Return one error for each file that was named, and for each kind in each folder."""
        return [self._error(place, kind, paths) for (place, kind), paths in self._found.items()]

    def _error(self, place: str, kind: Kind, paths: list[str]) -> InputError:
        if len(paths) == 1:
            return kind.error(STDIN if place == "-" else paths[0], self._wanted)
        found = f"found {len(paths):,} {kind.many} ({paths[0]} and {plural(len(paths) - 1, 'other')})"
        return InputError(place, found, f"wanted {self._wanted.many}{kind.hint}")


def kind_of(value: Any) -> Kind | None:
    """Return what a parsed value is, None where nothing tells."""
    from atifold.otlp.containers import is_trace

    if not is_object(value):
        return Kind.TRACE if value and is_trace(value) else None
    if is_list(value.get("steps")) or str(value.get("schema_version", "")).startswith("ATIF"):
        return Kind.DOCUMENT
    if is_object(value.get("totals")) and is_list(value.get("documents")):
        return Kind.REPORT
    if value and is_trace(value):
        return Kind.TRACE
    event = isinstance(value.get("type"), str) and ("payload" in value or "meta" in value)
    whole = is_object(value.get("recording")) or is_list(value.get("events"))
    return Kind.RECORDING if event or whole else None


def kind_in(data: bytes) -> Kind | None:
    """Return what a file's bytes hold, by the first part of it that is JSON; None where there is none."""
    content, _ = unpacked(data, "")
    for found in documents(content.removeprefix(BOM), lambda value: kind_of(value) is not None):
        if found.error is None:
            return kind_of(found.value) or Kind.OTHER
    return None


def kind_at(path: str, stdin: bytes) -> Kind | None:
    """Return what a file (`-`: stdin, of which these are the bytes) holds."""
    try:
        return kind_in(stdin if path == "-" else Path(path).read_bytes())
    except OSError:
        return None


def sorted_out(errors: Iterable[InputError], paths: Mapping[str, str], stdin: bytes, wanted: Kind) -> list[InputError]:
    """Return the errors with one in place of all those of a file, or of files of a folder, of another kind.

    Each path comes with the folder that stood for it, "" where it was named itself.
    """
    left = list(errors)
    others = Others(wanted)
    for path, folder in paths.items():
        name = STDIN if path == "-" else path
        own = [error for error in left if name in (error.where, error.where.rpartition(":")[0])]
        kind = kind_at(path, stdin) if own else None
        if folder and kind not in (None, wanted):
            others.add(kind, path, folder)
            left = [error for error in left if error not in own]
        elif kind not in (None, Kind.OTHER, wanted):
            at = left.index(own[0])
            left = [*left[:at], kind.error(name, wanted), *(error for error in left[at:] if error not in own)]
    return [*left, *others.errors()]
