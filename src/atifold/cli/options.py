"""Options that several commands have, each defined once."""

from __future__ import annotations

from pathlib import Path

import click

output = click.option(
    "-o",
    "--output",
    metavar="DIR|FILE.jsonl|-",
    help="Where documents go: a folder with a file each, one JSON Lines file, or stdout.",
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
    metavar="FILE",
    help="Write what was inferred, merged or left out, as JSON.",
)
