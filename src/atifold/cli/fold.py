"""`atifold fold`: traces in files become trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from atifold.cli import options
from atifold.cli.inputs import TRACES, files, stdin
from atifold.cli.outputs import STDOUT, in_version, write_documents, write_report
from atifold.cli.summary import summarise
from atifold.cli.words import Tally, busy, plural

if TYPE_CHECKING:
    from atifold.errors import InputError
    from atifold.fold import Folded
    from atifold.spans import Span


@click.command(name="fold")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.output
@click.option(
    "--atif",
    "version",
    type=click.Choice(["1.7", "1.8"]),
    default="1.7",
    show_default=True,
    help="Version of ATIF to write.",
)
@options.group
@options.report
@click.pass_context
def command(
    context: click.Context,
    inputs: tuple[str, ...],
    output: str | None,
    version: str,
    group: Literal["trace", "conversation"],
    report: Path | None,
) -> None:
    """Turn traces in files into trajectories.

    An INPUT is a file of OTLP JSON or OTLP JSON Lines, plain or gzip, a folder of such files, or -
    for stdin. All inputs are one set of spans: a trace may be spread over
    several, and a span that comes twice counts once. Without -o, documents are JSON Lines on stdout.
    """
    tally = Tally()
    paths, complaints = files(inputs, TRACES)
    spans, unread = _read(paths)
    complaints += unread
    tally.refuse(complaints)
    folded = _fold(spans, group)
    target = output or STDOUT
    written = write_documents(in_version(folded.documents, version), target, tally)
    write_report(report, folded.report, complaints, tally)
    summarise(plural(len(spans), "span"), folded, written, target)
    context.exit(tally.exit_code(len(spans)))


def _read(paths: list[str]) -> tuple[list[Span], list[InputError]]:
    """Return the spans of all files, and a complaint for each part that could not be read."""
    from atifold import otlp

    spans: list[Span] = []
    complaints: list[InputError] = []
    for number, path in enumerate(paths, 1):
        with busy(f"reading {path} ({number} of {len(paths)})"):
            batch = otlp.read([path], stdin=stdin())
        spans += batch.spans
        complaints += batch.complaints
    return spans, complaints


def _fold(spans: list[Span], group: Literal["trace", "conversation"]) -> Folded:
    from atifold import dialects, fold

    with busy(f"folding {len(spans):,} spans"):
        return fold.fold(dialects.read(spans), group=group)
