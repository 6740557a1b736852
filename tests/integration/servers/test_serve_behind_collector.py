"""`atifold serve` behind a real Collector, which sends on over gRPC and over HTTP, queues, and tries again."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from backends.relay import over_grpc, over_http, relay
from backends.running import free_ports, wait_for
from backends.sending import GRPC, JSON, PROTOBUF, Protocol
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from serving import Server

from atifold import atif, dialects, fold, otlp
from atifold.replay import SpanFile, replay

pytestmark = pytest.mark.integration


def _canonical(documents: list[dict[str, Any]]) -> list[bytes]:
    return sorted(map(atif.dumps, documents))


def _send(recordings: list[Path], url: str, protocol: Protocol, folder: Path) -> list[Path]:
    """Replay recordings to a URL; return the files of what was sent."""
    files = []
    for recording in recordings:
        seed = f"{url} {protocol.name} {recording.name}"
        files.append(folder / f"{protocol.name.replace('/', '-')}-{recording.stem}.jsonl")
        exporters = [protocol.exporter(url, {}), SpanFile(files[-1])]
        replay([recording], exporters=exporters, capture_content=True, id_seed=seed)
    return files


def _directly(files: Sequence[Path]) -> list[bytes]:
    """Return the documents that files of spans fold to in a folder, as canonical JSON."""
    return _canonical(
        document.trajectory for document in fold.fold(dialects.read(otlp.read(files).spans), files=True).documents
    )


def _arrived(server: Server, wanted: list[bytes]) -> None:
    """Wait until the server has written exactly these documents; fails with the names of those that differ."""

    def differing() -> list[str]:
        found = [document for document in server.documents() if atif.dumps(document) not in set(wanted)]
        return [json.dumps(document)[:300] for document in found]

    wait_for(lambda: _canonical(server.documents()) == wanted, f"{len(wanted)} documents", differing, seconds=60)


@pytest.mark.parametrize("encoding", ["proto", "json"])
def test_what_a_collector_sends_on_becomes_the_documents_of_a_direct_fold(
    encoding: str, serve: Callable[..., Server], recordings_told: list[Path], tmp_path: Path
) -> None:
    """Every recording by each protocol in, and on by gRPC to one server and by HTTP to another, byte for byte."""
    by_grpc, by_http = serve("--idle", "5", out="grpc"), serve("--idle", "5", "--no-grpc", out="http")
    exporters = {**over_grpc(by_grpc.grpc), **over_http(by_http.http, encoding)}
    with relay(tmp_path / "collector", exporters) as collector:
        protocols = (GRPC, PROTOBUF, JSON) if encoding == "proto" else (PROTOBUF,)
        wanted = _directly(
            [
                file
                for protocol in protocols
                for file in _send(recordings_told, f"{collector.urls[protocol.name]}", protocol, tmp_path)
            ]
        )
    assert len(wanted) >= len(protocols) * len(recordings_told)
    for server in (by_grpc, by_http):
        _arrived(server, wanted)
        assert server.stop()[0] == 0
        assert _canonical(server.documents()) == wanted


class _Kept(SpanExporter):
    """Keeps spans until they are sent."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        return SpanExportResult.SUCCESS


def test_a_server_that_is_restarted_in_the_middle_loses_nothing(
    serve: Callable[..., Server], recordings_told: list[Path], tmp_path: Path
) -> None:
    """A third of the spans of every trace before, one while nobody listens, one after, and the first once more."""
    rpc, web = free_ports(2)
    place = ("--grpc-port", str(rpc), "--port", str(web), "--idle", "1")
    kept = _Kept()
    result = replay(recordings_told, exporters=[kept], capture_content=True, id_seed="restarted", files=True)
    wanted = _canonical([document.trajectory for document in result.folded.documents])
    thirds = [kept.spans[start::3] for start in range(3)]
    server = serve(*place)
    exporters = {**over_grpc(server.grpc), **over_http(server.http)}
    with relay(tmp_path / "collector", exporters) as collector:
        exporter = PROTOBUF.exporter(collector.urls["http/protobuf"], {})

        def send(spans: Sequence[ReadableSpan]) -> None:
            assert exporter.export(spans) is SpanExportResult.SUCCESS

        send(thirds[0])
        wait_for(lambda: server.figure("atifold_spans_total") == 2 * len(thirds[0]), "the first third, by each way")
        code, words = server.stop(signal.SIGTERM)
        assert (code, "lost" in words) == (0, False)
        assert _canonical(server.documents()) != wanted
        send(thirds[1])
        server = serve(*place)
        send(thirds[2])
        send(thirds[0])
        exporter.shutdown()
        _arrived(server, wanted)
        again = 2 * (len(thirds[1]) + len(thirds[2]) + len(thirds[0]))
        wait_for(lambda: server.figure("atifold_spans_total") == again, "all of it, by each way")
    assert server.stop()[0] == 0
    assert _canonical(server.documents()) == wanted
