"""`atifold fold`: traces in files become trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from atifold.cli import options
from atifold.cli.inputs import TRACES, files
from atifold.cli.outputs import in_version, write_documents, write_report
from atifold.cli.summary import summarise
from atifold.cli.traces import read_traces
from atifold.cli.words import Tally, busy, plural

if TYPE_CHECKING:
    from atifold.fold import Folded
    from atifold.otlp import Batch


@click.command(name="fold")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.output
@options.version
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

    An INPUT is a file, a folder of such files, or - for stdin. What a file is shows in what it holds: OTLP JSON, OTLP
    JSON Lines or OTLP protobuf, also as the Collector's file exporter frames it; what Jaeger (v3 and classic), Tempo,
    Phoenix (/spans and /spans/otlpv1), MLflow (get-trace-artifact and traces/get), Langfuse, LangSmith or CloudWatch
    export; each of them plain, gzip or zstd.

    All inputs are one set of spans and log records: a trace may be spread over several, what was said in
    it may stand in records of another file, and a span that comes twice counts
    once. Without -o, documents are JSON Lines on stdout.
    """
    options.one_on_stdout(output=output, report=report)
    tally = Tally()
    paths, complaints = files(inputs, TRACES)
    batch, unread = read_traces(paths)
    complaints += unread
    tally.refuse(complaints)
    folded = _fold(batch, group, files=options.is_folder(output))
    write_report(report, folded.report, complaints, tally)
    if _size(batch) or not complaints:  # else nothing was read, and what an earlier run wrote stays
        target = output or (None if options.is_stdout(report) else options.STDOUT)
        written = write_documents(in_version(folded.documents, version), target, tally) if target else {}
        summarise(_what(batch), folded, len(written), target, foreign=len(batch.spans))
    context.exit(tally.exit_code(_size(batch)))


def _size(batch: Batch) -> int:
    return len(batch.spans) + len(batch.logs)


def _what(batch: Batch) -> str:
    """Return what was read, in words."""
    logs = f", {plural(len(batch.logs), 'log record')}" if batch.logs else ""
    return plural(len(batch.spans), "span") + logs


def _fold(batch: Batch, group: Literal["trace", "conversation"], *, files: bool) -> Folded:
    from atifold import dialects, fold

    with busy(f"folding {len(batch.spans):,} spans"):
        return fold.fold(dialects.read(batch.spans, batch.logs), group=group, files=files)
