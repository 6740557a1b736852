"""Options that several commands have, each defined once."""

from __future__ import annotations

import os.path
from collections.abc import Callable
from pathlib import Path

import click

STDOUT = "-"
PLACES = "a folder, a file that ends in .jsonl or - (stdout)"
_FLAGS = {"output": "-o", "report": "--report", "spans": "--spans", "logs": "--logs"}
_ONE_FILE = (".json", ".ndjson", ".gz")


def filled(wanted: str) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Return a callback that refuses an empty name, as a shell makes of an unset variable; `wanted` says what was."""

    def check(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        if value == "":
            msg = f"'': {wanted} was wanted"
            raise click.BadParameter(msg)
        return value

    return check


def folder(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return the name of a folder; refuse an empty one, and that of a file."""
    name = filled("a folder")(context, option, value)
    if name is not None and _is_file(name):
        msg = f"{name!r} is a file: a folder was wanted"
        raise click.BadParameter(msg)
    return name


def _is_file(name: str) -> bool:
    return os.path.isfile(name)  # noqa: PTH113 - Path.is_file raises where permission is missing


def file(context: click.Context, option: click.Parameter, value: str | None) -> Path | None:
    """Return the path of a file, or `-`; refuse an empty one."""
    name = filled("a file or - (stdout)")(context, option, value)
    return None if name is None else Path(name)


def _place(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Refuse what looks like the file of one document: a folder of that name would surprise."""
    name = filled(PLACES)(context, option, value)
    if name is not None and name.lower().endswith(_ONE_FILE) and not Path(name).is_dir():
        msg = f"{name!r}: {PLACES} was wanted"
        raise click.BadParameter(msg)
    if name is not None and is_folder(name) and _is_file(name):
        msg = f"{name!r} is a file: {PLACES} was wanted"
        raise click.BadParameter(msg)
    return name


def one_on_stdout(**places: str | Path | None) -> None:
    """Refuse two things on one stream, where nobody could tell them apart; `places` by the names of their options."""
    wanting = [f"{_FLAGS[name]} -" for name, place in places.items() if is_stdout(place)]
    if len(wanting) > 1:
        msg = f"{' and '.join(wanting[:2])} both want stdout: one of them needs a file"
        raise click.UsageError(msg)


def is_stdout(path: str | Path | None) -> bool:
    """Tell whether a path stands for stdout."""
    return str(path) == STDOUT


def is_folder(output: str | None) -> bool:
    """Tell whether documents go into a folder, which has room for the files that they name."""
    return bool(output) and output != STDOUT and not str(output).endswith(".jsonl")


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
    callback=file,
    metavar="FILE|-",
    help="Write what was inferred, merged or left out, as JSON; - is stdout, which documents then leave alone.",
)
