"""`atifold check`: whether files are valid ATIF documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from atifold.cli.inputs import DOCUMENTS, files, stdin
from atifold.cli.words import Tally, one_line, plural, say
from atifold.cli.wrong_kind import Kind, Others, kind_of
from atifold.errors import InputError
from atifold.jsonfiles import BOM, STDIN, documents
from atifold.jsontext import to_json_text
from atifold.kinds import is_object
from atifold.packed import unpacked

if TYPE_CHECKING:
    from atifold.atif import Finding

_WANTED = "wanted a file with ATIF documents"


class Checked(NamedTuple):
    """One document: its place (`FILE` or `FILE:LINE`) and what was found in it."""

    where: str
    findings: list[Finding]

    @property
    def valid(self) -> bool:
        """Return whether nothing worse than warnings was found."""
        return all(finding.severity != "error" for finding in self.findings)


@click.command(name="check")
@click.argument("inputs", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per document, for machines.")
@click.pass_context
def command(context: click.Context, inputs: tuple[str, ...], *, as_json: bool) -> None:
    """Check that files are valid ATIF documents.

    Every finding names the path of what is wrong, on stdout. A FILE holds one document, or one per
    line, plain or gzip; a folder stands for the .json and .jsonl files in it, - for stdin. Warnings
    alone do not make a document invalid.
    """
    tally = Tally()
    paths, errors = files(inputs, DOCUMENTS)
    _refuse(errors, tally, as_json=as_json)
    others = Others(Kind.DOCUMENT)
    checked: list[Checked] = []
    for path, folder in paths.items():
        results = list(_check(path))
        for kind in dict.fromkeys(result for result in results if isinstance(result, Kind)):
            others.add(kind, path, folder)
        _refuse([result for result in results if isinstance(result, InputError)], tally, as_json=as_json)
        documents = [result for result in results if isinstance(result, Checked)]
        for result in documents:
            _show(result, as_json=as_json)
        checked += documents
    _refuse(others.errors(), tally, as_json=as_json)
    invalid = sum(not result.valid for result in checked)
    say(_closing(len(checked), invalid, sum(len(r.findings) for r in checked), tally.refused_inputs))
    context.exit(max(tally.exit_code(len(checked)), int(bool(invalid))))


def _check(path: str) -> Iterator[Checked | InputError | Kind]:
    """Yield what was found in each document of a file, an error for each that cannot be read, the kind of others."""
    from atifold import atif
    from atifold.atif.reading import parse

    name, file = (STDIN, None) if path == "-" else (path, Path(path))
    try:
        data, complaint = unpacked(stdin().read() if file is None else _bytes(file), name)
    except InputError as error:
        yield error
        return
    data = data.removeprefix(BOM)
    if complaint is None and not data.strip():
        complaint = InputError(name, "found an empty file", _WANTED)
    if complaint is not None:
        yield complaint
    for found in documents(data, _is_document) if data.strip() else ():
        kind = kind_of(found.value)
        if kind not in (None, Kind.DOCUMENT):
            yield kind
            continue
        try:
            where = name if found.line is None else f"{name}:{found.line}"
            yield Checked(where, atif.check(parse(found.text, name, line=found.line), file=file))
        except InputError as error:
            yield error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", _WANTED) from None


def _is_document(value: Any) -> bool:
    return is_object(value) and ("steps" in value or "schema_version" in value)


def _show(result: Checked, *, as_json: bool) -> None:
    if as_json:
        findings = [asdict(finding) for finding in result.findings]
        _put({"where": result.where, "valid": result.valid, "findings": findings})
        return
    for finding in result.findings:
        warning = "" if finding.severity == "error" else "warning: "
        click.echo(f"{result.where}: {warning}{finding}")


def _refuse(errors: list[InputError], tally: Tally, *, as_json: bool) -> None:
    """Count errors, and say each once: on stderr, or as JSON on stdout."""
    tally.refuse(errors, aloud=not as_json)
    for error in errors if as_json else ():
        _put({"where": error.where, "valid": False, "unreadable": one_line(error), "findings": []})


def _put(value: dict[str, Any]) -> None:
    click.echo(to_json_text(value))


def _closing(checked: int, invalid: int, findings: int, refused: int) -> str:
    if not checked:
        return "nothing was checked"
    state = "valid" if not invalid else "invalid" if checked == invalid else f"{invalid:,} invalid"
    found = plural(findings, "finding") if findings else "nothing found"
    more = f"; {refused:,} more could not be checked" if refused else ""
    return f"{plural(checked, 'document')} checked, {state}, {found}{more}"
