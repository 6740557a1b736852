"""What real servers give back folds to the trajectories that were written when it was sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from backends.backend import Backend, View
from backends.losses import PROTOCOLS
from backends.sending import JSON, Protocol
from click.testing import CliRunner
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atifold import EventBus, atif, dialects, fold, instrument, otlp
from atifold.cli import main
from atifold.readable import trace_id_of
from atifold.recording import Recording, in_order
from atifold.replay import SpanFile, replay

pytestmark = pytest.mark.integration


class Sent(NamedTuple):
    """What was sent of one recording: how many spans of which traces, and the documents written beside, in a folder."""

    traces: dict[str, int]
    documents: list[bytes]


def _live(recording: Path, backend: Backend, protocol: Protocol, folder: Path) -> Sent:
    """Emit the events on a bus that a program would have, with the SDK's exporter behind its provider."""
    events = in_order(list(Recording(recording)))
    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    exporter = protocol.exporter(backend.url(protocol), backend.headers)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=4 * len(events) + 512))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    # Long ago by the clock of today, the events would be past any grace time.
    bus = instrument(provider, directory=folder, bus=EventBus(), capture_content=True, grace_s=600)
    for event in events:
        bus.emit(event)
    provider.shutdown()
    traces = Counter(trace_id_of(span.context) for span in kept.get_finished_spans())
    return Sent(dict(traces), _canonical(json.loads(path.read_bytes()) for path in folder.glob("*.json")))


def _replayed(recording: Path, backend: Backend, protocol: Protocol, folder: Path) -> Sent:
    """Replay it with ids of this cell's own; by the command line where that speaks the protocol."""
    folder.mkdir(parents=True)
    seed, spans = str(folder), folder / "spans.jsonl"
    if protocol is JSON:
        exporters = [protocol.exporter(backend.url(protocol), backend.headers), SpanFile(spans)]
        result = replay([recording], exporters=exporters, capture_content=True, id_seed=seed, files=True)
        documents = [document.trajectory for document in result.folded.documents]
    else:
        documents = _by_command(recording, backend, protocol, seed, spans)
    traces = Counter(span.trace_id for span in otlp.read([spans]).spans)
    return Sent(dict(traces), _canonical(documents))


def _by_command(recording: Path, backend: Backend, protocol: Protocol, seed: str, spans: Path) -> list[dict[str, Any]]:
    environment = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": protocol.name,
        "OTEL_EXPORTER_OTLP_HEADERS": ",".join(f"{name}={value}" for name, value in backend.headers.items()),
    }
    out = spans.with_name("out")
    arguments = ["replay", recording, "--otlp", backend.url(protocol), "--id-seed", seed, "--capture-content"]
    done = CliRunner().invoke(main, [*map(str, arguments), "--spans", str(spans), "-o", str(out)], env=environment)
    assert done.exit_code == 0, done.output
    return [json.loads(path.read_bytes()) for path in out.glob("*.json")]


WAYS = {"live": _live, "replay": _replayed}


def _canonical(documents: Iterable[dict[str, Any]]) -> list[bytes]:
    return sorted(map(atif.dumps, documents))


def _folded(files: Sequence[Path], traces: Iterable[str]) -> list[bytes]:
    """Return the documents, in a folder, of some of the traces that files hold; all of each file has to be readable."""
    batch = otlp.read(files)
    assert batch.complaints == []
    wanted = set(traces)
    spans = [span for span in batch.spans if span.trace_id in wanted]
    return _canonical(document.trajectory for document in fold.fold(dialects.read(spans), files=True).documents)


def _differing(view: View, sent: dict[str, Sent], folder: Path) -> list[str]:
    """Return the recordings whose documents are others when what a view gives is folded."""
    return [
        name
        for name, one in sent.items()
        if _folded(view.files(one.traces, folder / name), one.traces) != one.documents
    ]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("server", "protocol"),
    [pytest.param(server, each, id=f"{server}-{each.name}") for server, spoken in PROTOCOLS.items() for each in spoken],
)
def test_what_a_server_gives_back_folds_to_the_same_trajectories(
    server: str, protocol: Protocol, way: str, recordings_told: list[Path], tmp_path: Path, request: Any
) -> None:
    """Every recording, in each of the server's views, in their order."""
    backend: Backend = request.getfixturevalue(server)
    sent = {each.stem: WAYS[way](each, backend, protocol, tmp_path / each.stem) for each in recordings_told}
    assert all(one.documents for one in sent.values())
    for one in sent.values():
        backend.wait(one.traces)
    differing = {name: _differing(view, sent, tmp_path / "back" / name) for name, view in backend.views.items()}
    assert differing == {name: [] for name in backend.views}
