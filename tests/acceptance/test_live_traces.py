"""Anybody's traces give the same documents live as from their files: through the SDK's types, and through a server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from atifold import AtifLogProcessor, AtifSpanProcessor, dialects, otlp
from atifold.fold import fold
from atifold.serve import Limits, Receiver
from atifold.serve.signals import LOGS, TRACES, Form, Signal
from atifold.settings import Settings
from atifold.sinks import DirectorySink
from atifold.spans import LogRecord as Record
from atifold.spans import Span

Group = Literal["trace", "conversation"]
ROOT = Path(__file__).resolve().parents[2]
GOLDEN = sorted(path.parent for path in (ROOT / "tests" / "golden").glob("**/spans.jsonl"))
SHARED = ROOT.parent / "shared"
STRANGERS = sorted([*SHARED.glob("corpus/*/*.expect.json"), *SHARED.glob("faults/*.expect.json")])
CASES = [*GOLDEN, *STRANGERS]
by_case = pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.name.split('.expect')[0]}")
by_group = pytest.mark.parametrize("group", ["trace", "conversation"])


@cache
def batch_of(case: Path) -> otlp.Batch:
    """Return the spans and log records of a golden folder, or of a stranger's expectation."""
    if case.is_dir():
        return otlp.read(sorted(case.glob("*.jsonl")))
    names = json.loads(case.read_bytes())["inputs"]
    return otlp.read([case.parent / name for name in names])


def files_in(folder: Path) -> dict[str, bytes]:
    """Return what a folder of documents holds, by path."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def offline(case: Path, group: Group, folder: Path) -> dict[str, bytes]:
    """Return the files of the documents that all traces of a case fold to."""
    batch, sink = batch_of(case), DirectorySink(folder / "offline")
    for document in fold(dialects.read(batch.spans, batch.logs), group=group, files=True).documents:
        sink.write(document)
    return files_in(folder / "offline")


# ---- as the SDK has them -------------------------------------------------------------------------


def context_of(trace_id: str, span_id: str) -> SpanContext:
    """Return a span's context."""
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


def readable_span(span: Span) -> ReadableSpan:
    """Return a span as the SDK hands it to processors."""
    failed = span.status.value == "ERROR"
    return ReadableSpan(
        name=span.name,
        context=context_of(*span.key),
        parent=None if span.parent_id is None else context_of(span.trace_id, span.parent_id),
        resource=Resource(span.resource),
        attributes=span.attributes,
        events=[Event(event.name, event.attributes, event.time_ns) for event in span.events],
        links=[Link(context_of(link.trace_id, link.span_id), link.attributes) for link in span.links],
        kind=SpanKind[span.kind.value if span.kind.value != "UNSPECIFIED" else "INTERNAL"],
        status=Status(StatusCode[span.status.value], span.status_message if failed else None),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=InstrumentationScope(span.scope_name, span.scope_version),
    )


def record_parts(record: Record) -> tuple[LogRecord, Resource, InstrumentationScope]:
    """Return a log record as the SDK has it."""
    told = LogRecord(
        timestamp=record.time_ns,
        trace_id=int(record.trace_id or "0", 16),
        span_id=int(record.span_id or "0", 16),
        trace_flags=TraceFlags(1),
        body=record.body,
        attributes=record.attributes,
        event_name=record.name,
    )
    return told, Resource(record.resource), InstrumentationScope(record.scope_name, record.scope_version)


def by_trace(items: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield the spans of each trace, traces and their spans in the order of their ends."""
    ends = {span.trace_id: max(s.end_ns or 0 for s in items if s.trace_id == span.trace_id) for span in items}
    ordered = sorted(items, key=lambda span: (ends[span.trace_id], span.trace_id, span.end_ns or 0))
    return (list(spans) for _, spans in groupby(ordered, key=lambda span: span.trace_id))


@by_group
@by_case
def test_the_processors_write_what_the_files_fold_to(case: Path, group: Group, tmp_path: Path) -> None:
    """Spans and log records of all traces at once, in the order of the files; to the byte."""
    batch = batch_of(case)
    spans = AtifSpanProcessor(tmp_path / "live", group=group)
    logs = AtifLogProcessor(spans)
    for record in batch.logs:
        logs.on_emit(ReadWriteLogRecord(*record_parts(record)))
    for span in batch.spans:
        spans.on_end(readable_span(span))
    spans.shutdown()
    assert files_in(tmp_path / "live") == offline(case, group, tmp_path)


@by_group
@by_case
def test_traces_that_are_written_one_by_one_come_to_the_same(case: Path, group: Group, tmp_path: Path) -> None:
    """Each trace has its documents before the next one comes: those of the earlier ones are written again."""
    batch = batch_of(case)
    spans = AtifSpanProcessor(tmp_path / "live", group=group)
    logs = AtifLogProcessor(spans)
    for record in batch.logs:
        logs.on_emit(ReadWriteLogRecord(*record_parts(record)))
    for trace in by_trace(batch.spans):
        for span in trace:
            spans.on_end(readable_span(span))
        assert spans.force_flush()
    spans.shutdown()
    assert files_in(tmp_path / "live") == offline(case, group, tmp_path)


# ---- long sessions -------------------------------------------------------------------------------

SAID = "gen_ai.input.messages", "gen_ai.output.messages"


def turns(count: int) -> Iterator[Span]:
    """Yield the model calls of a session, a trace each, that tell the whole history each time."""
    history: list[dict[str, Any]] = []
    for at in range(1, count + 1):
        history.append({"role": "user", "parts": [{"type": "text", "content": f"question {at}"}]})
        answer = {"role": "assistant", "parts": [{"type": "text", "content": f"answer {at}"}]}
        about = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "s-1", SAID[0]: json.dumps(history)}
        start = 1_790_000_000_000_000_000 + at * 1_000_000_000
        yield Span(
            f"{at:032x}", f"{at:016x}", None, "chat", start, start + 1000,
            attributes={**about, SAID[1]: json.dumps([answer])},
        )  # fmt: skip
        history.append(answer)


def references(folder: Path) -> list[tuple[str, str | None]]:
    """Return the name of each document and of the one that carries it on, in the order of their traces."""
    found = ((file.name, json.loads(file.read_bytes())) for file in sorted(folder.glob("*.json")))
    return [(name, document.get("continued_trajectory_ref")) for name, document in found]


@pytest.mark.parametrize("max_bytes", [64_000_000, 40_000])
def test_the_turns_of_a_long_session_name_the_next_one(max_bytes: int, tmp_path: Path) -> None:
    """Only a few of them are folded at once, and with little room only a few are held."""
    spans = AtifSpanProcessor(tmp_path, max_bytes=max_bytes)
    for span in turns(30):
        spans.on_end(readable_span(span))
        assert spans.force_flush()
    written = spans.counts["documents_written"]
    spans.shutdown()
    found = references(tmp_path)
    names = [name for name, _ in found]
    assert [following for _, following in found] == [*names[1:], None]
    assert len(names) == 30
    assert 59 <= written <= 90
    assert "trace_bound" not in spans.counts


# ---- as a server gets them -----------------------------------------------------------------------


def requests_in_protobuf(batch: otlp.Batch) -> Iterator[tuple[bytes, Signal]]:
    """Yield requests as the SDK's exporters write them: every span in one of its own, the log records in one."""
    if batch.logs:
        records = [ReadableLogRecord(*record_parts(record)) for record in batch.logs]
        yield encode_logs(records).SerializeToString(), LOGS
    for span in batch.spans:
        yield encode_spans([readable_span(span)]).SerializeToString(), TRACES


def served(requests: Iterator[tuple[bytes, Signal]], form: Form, group: Group, folder: Path) -> dict[str, bytes]:
    """Return the files that a server writes which takes these requests and stops."""
    receiver = Receiver(Settings(group=group), DirectorySink(folder), Limits())
    for data, signal in requests:
        with receiver.admit(None, 1) as share:
            assert receiver.take(data, form, signal, share).rejected == 0
    assert receiver.close()
    return files_in(folder)


def is_whole(case: Path) -> bool:
    """Tell whether protobuf can hold a trace: a lone surrogate it cannot."""
    return "surrogate" not in case.name


@by_group
@by_case
def test_a_server_writes_what_the_files_fold_to(case: Path, group: Group, tmp_path: Path) -> None:
    """Whatever the requests hold of it, in protobuf; spans alone also in JSON."""
    batch = batch_of(case)
    wanted = offline(case, group, tmp_path)
    if is_whole(case):
        found = served(requests_in_protobuf(batch), Form.PROTOBUF, group, tmp_path / "protobuf")
        assert found == wanted
    if not batch.logs:
        lines = ((line, TRACES) for line in otlp.encode_lines(batch.spans).splitlines())
        assert served(lines, Form.JSON, group, tmp_path / "json") == wanted
