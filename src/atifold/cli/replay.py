"""`atifold replay`: recordings of events become spans, log events and trajectories."""

from __future__ import annotations

from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import click

from atifold.cli import options
from atifold.cli.inputs import RECORDINGS, files, stdin
from atifold.cli.outputs import in_version, stdout, write_documents, write_report
from atifold.cli.summary import summarise
from atifold.cli.words import Tally, busy, one_line, plural, say
from atifold.cli.wrong_kind import Kind, sorted_out
from atifold.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter

    from atifold.cli.backend import Backend
    from atifold.replay import LogFile, Replayed, SpanFile


@click.command(name="replay", short_help="Turn recordings of events into spans and trajectories.")
@click.argument("inputs", nargs=-1, required=True, metavar="REC...")
@click.option(
    "--otlp",
    "url",
    metavar="URL",
    callback=options.filled("a base URL"),
    help="Send the spans and log events to an OTLP backend, by its base URL.",
)
@click.option(
    "--spans",
    metavar="FILE.jsonl|-",
    callback=options.file,
    help="Write the spans as OTLP JSON Lines; - is stdout, which documents then leave alone.",
)
@click.option(
    "--logs",
    metavar="FILE.jsonl|-",
    callback=options.file,
    help="Write the log events as OTLP JSON Lines; - is stdout, which documents then leave alone.",
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
    *,
    inputs: tuple[str, ...],
    url: str | None,
    spans: Path | None,
    logs: Path | None,
    output: str | None,
    version: str,
    group: Literal["trace", "conversation"],
    id_seed: str,
    report: Path | None,
    capture_content: bool,
) -> None:
    """Turn recordings of events into spans, log events and trajectories.

    The recordings are one set: a run may be spread over several; a folder stands for those in it, - for stdin.
    Trajectories always hold the content; spans hold it only with --capture-content, log events only where
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is EVENT_ONLY or SPAN_AND_EVENT. ATIFOLD_EVENTS says
    whether the events on spans are log events too; ATIFOLD_ATTRIBUTES, ATIFOLD_COST_NAMES and
    ATIFOLD_OPENINFERENCE name attributes on spans otherwise, as in a live program. Without -o, --spans, --logs
    and --otlp, documents are JSON Lines on stdout (but for --report -). --otlp speaks what
    OTEL_EXPORTER_OTLP_PROTOCOL says, http/protobuf by default.
    """
    options.one_on_stdout(output=output, report=report, spans=spans, logs=logs)
    if spans is not None and spans == logs:
        raise click.UsageError(f"--spans and --logs are one file: {spans}")
    tally = Tally()
    paths, missing = files(inputs, RECORDINGS)
    piped = stdin().read() if "-" in paths else b""
    with ExitStack() as stack:
        backend = stack.enter_context(_backend(url)) if url else None
        made = _files(spans, logs)
        kept = _kept() if url else None
        sinks = {
            "exporters": [exporter for exporter in (backend, made.spans) if exporter is not None],
            "log_exporters": [exporter for exporter in (kept, made.logs) if exporter is not None],
        }
        how: dict[str, Any] = {"capture_content": capture_content, "group": group, "id_seed": id_seed}
        replayed = _replay(tuple(paths), piped, **sinks, **_settings(), files=options.is_folder(output), **how)
    complaints = [*missing, *sorted_out(replayed.complaints, paths, piped, Kind.RECORDING)]
    tally.refuse(complaints)
    _account(backend, made, tally)
    if backend is not None and kept is not None:
        _send_logs(backend, kept.get_finished_logs(), tally)
    write_report(report, replayed.folded.report, complaints, tally, events=dict(replayed.counts))
    if replayed.events or not complaints:  # else nothing was read, and what an earlier run wrote stays
        elsewhere = url or spans or logs or options.is_stdout(report)
        _write(replayed, output or (None if elsewhere else options.STDOUT), version, tally)
    context.exit(tally.exit_code(replayed.events))


def _write(replayed: Replayed, target: str | None, version: str, tally: Tally) -> None:
    """Write the documents to `target`, None for nowhere, and say what came of the recordings."""
    documents = in_version(replayed.folded.documents, version)
    written = len(write_documents(documents, target, tally)) if target else 0
    source = f"{plural(replayed.events, 'event')}, {plural(len(replayed.spans), 'span')}"
    summarise(source, replayed.folded, written, target)


class _Files(NamedTuple):
    """The files of the two signals that are asked for."""

    spans: SpanFile | None
    logs: LogFile | None


def _files(spans: Path | None, logs: Path | None) -> _Files:
    from atifold.replay import LogFile, SpanFile

    return _Files(SpanFile(_target(spans)) if spans else None, LogFile(_target(logs)) if logs else None)


def _target(path: Path) -> BinaryIO | Path:
    return stdout() if options.is_stdout(path) else path


def _kept() -> InMemoryLogRecordExporter:
    """Return where log events wait until the spans have arrived."""
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter

    return InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]


def _settings() -> dict[str, Any]:
    """Return what the environment says of log events and of names."""
    from atifold.emit.spellings import spelling
    from atifold.settings import Settings

    chosen = Settings.from_env()
    spelled = spelling(chosen.attributes, chosen.cost_names, openinference=chosen.openinference)
    return {"events": chosen.events, "log_content": chosen.capture_content.on_events, "spelling": spelled}


def _replay(inputs: tuple[str, ...], piped: bytes, **how: Any) -> Replayed:
    from atifold.replay import replay

    words = inputs[0] if len(inputs) == 1 else f"{len(inputs):,} recordings"
    with busy(f"replaying {words}"):
        return replay(inputs, stdin=BytesIO(piped), **how)


def _backend(url: str) -> Backend:
    from atifold.cli.backend import Backend, fault_of

    fault = fault_of(url)
    if fault:
        raise click.BadParameter(f"{url!r}: {fault}", param_hint="--otlp")
    try:
        return Backend(url)
    except OutputError as error:  # a protocol that is not spoken
        raise click.UsageError(one_line(error)) from None


def _account(backend: Backend | None, files: _Files, tally: Tally) -> None:
    """Count where spans and log events went, and say what was lost."""
    for exporter in (backend, *files):
        if exporter is not None and exporter.error is not None:
            if isinstance(exporter.error.__cause__, BrokenPipeError):  # who read them on stdout has enough
                raise exporter.error.__cause__
            tally.fail(exporter.error)
    for file in files:
        if file is not None and file.error is None:
            tally.wrote()
    if backend is not None and backend.sent:
        tally.wrote()
        say(f"{plural(backend.sent, 'span')} sent to {backend.url}")


def _send_logs(backend: Backend, events: Sequence[ReadableLogRecord], tally: Tally) -> None:
    """Send log events to a backend that took the spans; one that takes none at all is no failure."""
    from atifold.cli.backend import LogBackend

    if not events:
        return
    if backend.refused:
        say(f"{plural(len(events), 'log event')} not sent either")
        return
    with LogBackend(backend.url) as logs:
        logs.send(events)
    if logs.error is None:
        tally.wrote()
        say(f"{plural(logs.sent, 'log event')} sent to {logs.url}")
    elif logs.is_without_logs:
        say(f"{plural(logs.lost, 'log event')} not sent: {logs.url} takes none ({logs.reason})")
    else:
        tally.fail(logs.error)
