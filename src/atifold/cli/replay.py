"""`atifold replay`: recordings of events become spans, and trajectories."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from atifold.cli import options
from atifold.cli.inputs import stdin
from atifold.cli.outputs import STDOUT, write_documents, write_report
from atifold.cli.summary import summarise
from atifold.cli.words import Tally, busy, one_line, plural, say
from atifold.errors import OutputError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from atifold.cli.backend import Backend
    from atifold.cli.span_output import SpanOutput
    from atifold.replay import Replayed


@click.command(name="replay")
@click.argument("inputs", nargs=-1, required=True, metavar="REC.jsonl...")
@click.option("--otlp", "url", metavar="URL", help="Send the spans to an OTLP backend, by its base URL.")
@click.option(
    "--spans", type=click.Path(path_type=Path), metavar="FILE.jsonl", help="Write the spans as OTLP JSON Lines."
)
@options.output
@click.option("--capture-content", is_flag=True, help="Put messages, arguments and results on the spans too.")
@options.group
@click.option("--id-seed", default="", metavar="TEXT", help="Derive other trace and span ids from the same runs.")
@options.report
@click.pass_context
def command(
    context: click.Context,
    inputs: tuple[str, ...],
    url: str | None,
    spans: Path | None,
    output: str | None,
    group: Literal["trace", "conversation"],
    id_seed: str,
    report: Path | None,
    *,
    capture_content: bool,
) -> None:
    """Turn recordings of events into spans and trajectories.

    The recordings are one set: a run may be spread over several; - is stdin. Trajectories always hold
    the content; spans hold it only with --capture-content. Without -o, --spans and --otlp, documents
    are JSON Lines on stdout. --otlp speaks what OTEL_EXPORTER_OTLP_PROTOCOL says, http/protobuf by
    default.
    """
    tally = Tally()
    with ExitStack() as stack:
        backend = stack.enter_context(_backend(url)) if url else None
        file = _span_output(spans) if spans else None
        exporters: list[SpanExporter] = [exporter for exporter in (backend, file) if exporter is not None]
        replayed = _replay(inputs, exporters, capture_content=capture_content, group=group, id_seed=id_seed)
    tally.refuse(replayed.complaints)
    _account(backend, file, tally)
    target = output or (None if url or spans else STDOUT)
    written = write_documents(replayed.folded.documents, target, tally) if target else 0
    write_report(report, replayed.folded.report, replayed.complaints, tally, events=dict(replayed.counts))
    summarise(
        f"{plural(replayed.events, 'event')}, {plural(len(replayed.spans), 'span')}", replayed.folded, written, target
    )
    context.exit(tally.exit_code(replayed.events))


def _replay(inputs: tuple[str, ...], exporters: list[SpanExporter], **how: Any) -> Replayed:
    from atifold.replay import replay

    words = inputs[0] if len(inputs) == 1 else f"{len(inputs):,} recordings"
    with busy(f"replaying {words}"):
        return replay(inputs, exporters=exporters, stdin=stdin(), **how)


def _backend(url: str) -> Backend:
    from atifold.cli.backend import Backend, fault_of

    fault = fault_of(url)
    if fault:
        raise click.BadParameter(f"{url!r}: {fault}", param_hint="--otlp")
    try:
        return Backend(url)
    except OutputError as error:  # a protocol that is not spoken
        raise click.UsageError(one_line(error)) from None


def _span_output(path: Path) -> SpanOutput:
    from atifold.cli.span_output import SpanOutput

    return SpanOutput(path)


def _account(backend: Backend | None, file: SpanOutput | None, tally: Tally) -> None:
    """Count where the spans went, and say what was lost."""
    for exporter in (backend, file):
        if exporter is not None and exporter.error is not None:
            tally.fail(exporter.error)
    if file is not None and file.error is None:
        tally.wrote()
    if backend is not None and backend.sent:
        tally.wrote()
        say(f"{plural(backend.sent, 'span')} sent to {backend.url}")
