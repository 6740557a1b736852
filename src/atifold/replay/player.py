"""Play recordings: events → bus → spans → exporters, and the whole records → trajectories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from atifold import dialects, fold
from atifold.bus import EventBus
from atifold.emit import Emitter
from atifold.emit.log import NO_LOG
from atifold.emit.logs import EventLog
from atifold.emit.scope import SCOPE
from atifold.emit.spellings import Spelling
from atifold.errors import InputError
from atifold.events.envelope import Event
from atifold.recording import Recording, in_order
from atifold.replay.ids import ReplayIds
from atifold.spans import Span


@dataclass
class Replayed:
    """What came of a replay.

    `spans` are whole records, structure and content, in order of sealing. `counts` has what the
    report says of the events: `events`, `repeated`, `events_unmapped`, `events_unreadable`, ….
    """

    spans: list[Span]
    folded: fold.Folded
    complaints: list[InputError] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    events: int = 0


class _Kept:
    """A side door that keeps every record."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def opened(self, trace_id: str, span_id: str, **_: object) -> None:
        """Hear of a start; only ends matter here."""

    def closed(self, span: Callable[[], Span], **_: object) -> None:
        """Keep the record."""
        self.spans.append(span())


def replay(  # noqa: PLR0913  what may leave, and where to, is said at once
    paths: Sequence[str | Path],
    *,
    exporters: Sequence[SpanExporter] = (),
    log_exporters: Sequence[LogRecordExporter] = (),
    capture_content: bool = False,
    log_content: bool = False,
    events: Literal["span", "log", "both"] = "span",
    group: Literal["trace", "conversation"] = "trace",
    id_seed: str = "",
    session_id: Literal["raw", "hashed"] = "raw",
    spelling: Spelling | None = None,
    stdin: BinaryIO | None = None,
    files: bool = False,
) -> Replayed:
    """Play recordings as one stream of events, by time.

    Spans keep the recorded times; their ids come from the run ids and `id_seed`. Exporters get them
    as any pipeline would (the SDK's sampler and limits apply); content only with `capture_content`,
    and with `log_content` on log events, of which `events` says whether the catalogue's are among them.
    `spelling` names the attributes of their spans otherwise (`atifold.emit.spellings`).
    The trajectories come from the whole records, with `files` for their images. Exporters are shut
    down. A file that cannot be read is a complaint, and costs the others nothing.
    """
    told, complaints, repeated = _read(paths, stdin)
    kept = _Kept()
    room = max(2048, 4 * len(told) + 1)  # an event gives four spans and log events at most
    ids = ReplayIds(id_seed)
    provider = _provider(exporters, ids, room)
    logger_provider = _logger_provider(log_exporters, room) if log_exporters else None
    emitter = Emitter(
        provider.get_tracer(*SCOPE),
        side_doors=(kept,),
        capture_content=capture_content,
        session_id=session_id,
        live=False,
        ids=ids.tell,
        spelling=spelling,
        log=EventLog(logger_provider, events=events, content=log_content, live=False) if logger_provider else NO_LOG,
    )
    _play(told, emitter)
    provider.shutdown()
    if logger_provider is not None:
        logger_provider.shutdown()
    folded = fold.fold(dialects.read(kept.spans), group=group, files=files)
    return Replayed(kept.spans, folded, complaints, {**emitter.counts, "repeated": repeated}, len(told))


def _read(paths: Sequence[str | Path], stdin: BinaryIO | None) -> tuple[list[Event], list[InputError], int]:
    events: list[Event] = []
    complaints: list[InputError] = []
    repeated = 0
    seen: set[bytes] = set()
    for path in paths:
        recording = Recording(path, stdin=stdin, seen=seen)
        try:
            events.extend(recording)
        except InputError as error:
            complaints.append(error)
        complaints.extend(recording.complaints)
        repeated += recording.repeated
    return in_order(events), complaints, repeated


def _provider(exporters: Sequence[SpanExporter], ids: ReplayIds, room: int) -> TracerProvider:
    provider = TracerProvider(id_generator=ids, shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=room))
    return provider


def _logger_provider(exporters: Sequence[LogRecordExporter], room: int) -> LoggerProvider:
    provider = LoggerProvider(shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter, max_queue_size=room))
    return provider


def _play(events: list[Event], emitter: Emitter) -> None:
    bus = EventBus()
    emitter.attach(bus)
    for event in events:
        bus.emit(event)
    emitter.flush()
