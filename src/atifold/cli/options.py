"""Options that several commands have, each defined once."""

from __future__ import annotations

from pathlib import Path

import click

STDOUT = "-"
_ONE_FILE = (".json", ".ndjson", ".gz")


def _place(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Refuse what looks like the file of one document: a folder of that name would surprise."""
    if value is not None and value.lower().endswith(_ONE_FILE) and not Path(value).is_dir():
        msg = f"{value!r}: a folder, a file that ends in .jsonl or - (stdout) was wanted"
        raise click.BadParameter(msg)
    return value


def both_on_stdout(output: str | None, report: Path | None) -> None:
    """Refuse documents and report on one stream, where nobody could tell them apart."""
    if output == STDOUT and is_stdout(report):
        msg = "-o - and --report - both want stdout: one of them needs a file"
        raise click.UsageError(msg)


def is_stdout(path: Path | None) -> bool:
    """Tell whether a path stands for stdout."""
    return str(path) == STDOUT


output = click.option(
    "-o",
    "--output",
    metavar="DIR|FILE.jsonl|-",
    callback=_place,
    help="Where documents go: a folder with a file each, one JSON Lines file, or stdout.",
)
version = click.option(
    "--atif",
    "version",
    type=click.Choice(["1.7", "1.8"]),
    default="1.7",
    show_default=True,
    help="Version of ATIF to write.",
)
group = click.option(
    "--group",
    type=click.Choice(["trace", "conversation"]),
    default="trace",
    show_default=True,
    envvar="ATIFOLD_GROUP",
    help="What one document covers.",
)
report = click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE|-",
    help="Write what was inferred, merged or left out, as JSON; - is stdout, which documents then leave alone.",
)
