"""`atifold replay`: recordings of events become spans, and trajectories."""

from __future__ import annotations

from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from atifold.cli import options
from atifold.cli.inputs import stdin
from atifold.cli.outputs import in_version, stdout, write_documents, write_report
from atifold.cli.summary import summarise
from atifold.cli.words import Tally, busy, one_line, plural, say
from atifold.cli.wrong_kind import Kind, sorted_out
from atifold.errors import OutputError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from atifold.cli.backend import Backend
    from atifold.replay import Replayed, SpanFile


@click.command(name="replay")
@click.argument("inputs", nargs=-1, required=True, metavar="REC.jsonl...")
@click.option(
    "--otlp",
    "url",
    metavar="URL",
    callback=options.filled("a base URL"),
    help="Send the spans to an OTLP backend, by its base URL.",
)
@click.option(
    "--spans",
    metavar="FILE.jsonl|-",
    callback=options.file,
    help="Write the spans as OTLP JSON Lines; - is stdout, which documents then leave alone.",
)
@options.output
@click.option("--capture-content", is_flag=True, help="Put messages, arguments and results on the spans too.")
@options.version
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
    version: str,
    group: Literal["trace", "conversation"],
    id_seed: str,
    *,
    report: Path | None,
    capture_content: bool,
) -> None:
    """Turn recordings of events into spans and trajectories.

    The recordings are one set: a run may be spread over several; - is stdin. Trajectories always hold
    the content; spans hold it only with --capture-content. Without -o, --spans and --otlp, documents
    are JSON Lines on stdout (but for --report -). --otlp speaks what OTEL_EXPORTER_OTLP_PROTOCOL says,
    http/protobuf by default.
    """
    options.one_on_stdout(output=output, report=report, spans=spans)
    tally = Tally()
    piped = stdin().read() if "-" in inputs else b""
    with ExitStack() as stack:
        backend = stack.enter_context(_backend(url)) if url else None
        file = _span_file(spans) if spans else None
        exporters: list[SpanExporter] = [exporter for exporter in (backend, file) if exporter is not None]
        how: dict[str, Any] = {"capture_content": capture_content, "group": group, "id_seed": id_seed}
        replayed = _replay(inputs, piped, exporters, files=options.is_folder(output), **how)
    complaints = sorted_out(replayed.complaints, inputs, piped, Kind.RECORDING)
    tally.refuse(complaints)
    _account(backend, file, tally)
    write_report(report, replayed.folded.report, complaints, tally, events=dict(replayed.counts))
    if replayed.events or not complaints:  # else nothing was read, and what an earlier run wrote stays
        target = output or (None if url or spans or options.is_stdout(report) else options.STDOUT)
        documents = in_version(replayed.folded.documents, version)
        written = len(write_documents(documents, target, tally)) if target else 0
        source = f"{plural(replayed.events, 'event')}, {plural(len(replayed.spans), 'span')}"
        summarise(source, replayed.folded, written, target)
    context.exit(tally.exit_code(replayed.events))


def _replay(inputs: tuple[str, ...], piped: bytes, exporters: list[SpanExporter], **how: Any) -> Replayed:
    from atifold.replay import replay

    words = inputs[0] if len(inputs) == 1 else f"{len(inputs):,} recordings"
    with busy(f"replaying {words}"):
        return replay(inputs, exporters=exporters, stdin=BytesIO(piped), **how)


def _backend(url: str) -> Backend:
    from atifold.cli.backend import Backend, fault_of

    fault = fault_of(url)
    if fault:
        raise click.BadParameter(f"{url!r}: {fault}", param_hint="--otlp")
    try:
        return Backend(url)
    except OutputError as error:  # a protocol that is not spoken
        raise click.UsageError(one_line(error)) from None


def _span_file(path: Path) -> SpanFile:
    from atifold.replay import SpanFile

    return SpanFile(stdout() if options.is_stdout(path) else path)


def _account(backend: Backend | None, file: SpanFile | None, tally: Tally) -> None:
    """Count where the spans went, and say what was lost."""
    for exporter in (backend, file):
        if exporter is not None and exporter.error is not None:
            if isinstance(exporter.error.__cause__, BrokenPipeError):  # who read the spans on stdout has enough
                raise exporter.error.__cause__
            tally.fail(exporter.error)
    if file is not None and file.error is None:
        tally.wrote()
    if backend is not None and backend.sent:
        tally.wrote()
        say(f"{plural(backend.sent, 'span')} sent to {backend.url}")
