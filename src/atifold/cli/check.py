"""`atifold check`: whether files are valid ATIF documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from atifold.cli.inputs import DOCUMENTS, files, stdin
from atifold.cli.words import Tally, one_line, say
from atifold.errors import InputError
from atifold.jsontext import from_json, to_json_text

if TYPE_CHECKING:
    from atifold.atif import Finding

_WANTED = "wanted one ATIF document"


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

    Every finding names the path of what is wrong, on stdout. A FILE holds one document, or (.jsonl)
    one per line; a folder stands for the .json and .jsonl files in it, - for stdin. Warnings alone do
    not make a document invalid.
    """
    tally = Tally()
    paths, errors = files(inputs, DOCUMENTS)
    tally.refuse(errors)
    checked = []
    for path in paths:
        for result in _check(path):
            if isinstance(result, InputError):
                tally.refuse([result])
                _show_refused(result, as_json=as_json)
            else:
                checked.append(result)
                _show(result, as_json=as_json)
    invalid = sum(not result.valid for result in checked)
    say(_closing(len(checked), invalid, sum(len(r.findings) for r in checked)))
    context.exit(max(tally.exit_code(len(checked)), int(bool(invalid))))


def _check(path: str) -> Iterator[Checked | InputError]:
    """Yield what was found in each document of a file, and an error for each that cannot be read."""
    from atifold import atif
    from atifold.atif.reading import parse_file

    try:
        if path != "-" and not path.endswith(".jsonl"):
            yield Checked(path, atif.check(parse_file(path), file=Path(path)))
            return
        data = stdin().read() if path == "-" else _bytes(path)
    except InputError as error:
        yield error
        return
    folder = None if path == "-" else Path(path)
    for where, line in _documents("<stdin>" if path == "-" else path, data):
        try:
            yield Checked(where, atif.check(from_json(line), file=folder))
        except ValueError as error:
            yield InputError(where, f"not JSON ({one_line(error)})", _WANTED)


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", "wanted a file with ATIF documents") from None


def _documents(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each document's place and text: the whole where that is JSON, else a document a line."""
    try:
        from_json(data)
    except ValueError:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                yield f"{name}:{number}", line
    else:
        yield name, data


def _show(result: Checked, *, as_json: bool) -> None:
    if as_json:
        findings = [asdict(finding) for finding in result.findings]
        _put({"where": result.where, "valid": result.valid, "findings": findings})
        return
    for finding in result.findings:
        warning = "" if finding.severity == "error" else "warning: "
        click.echo(f"{result.where}: {warning}{finding}")


def _show_refused(error: InputError, *, as_json: bool) -> None:
    if as_json:
        _put({"where": error.where, "valid": False, "unreadable": one_line(error), "findings": []})


def _put(value: dict[str, Any]) -> None:
    click.echo(to_json_text(value))


def _closing(checked: int, invalid: int, findings: int) -> str:
    if not checked:
        return "nothing was checked"
    documents = "1 document" if checked == 1 else f"{checked:,} documents"
    state = "valid" if not invalid else f"{invalid:,} of them invalid"
    found = "nothing found" if not findings else "1 finding" if findings == 1 else f"{findings:,} findings"
    return f"{documents} checked, {state}, {found}"
