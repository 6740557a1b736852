"""Run an OpenTelemetry Collector that writes what it gets to files, in each format of its fileexporter."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from backends.backend import Backend, View
from backends.facts import Facts, of_requests
from backends.running import free_ports, program, running
from backends.sending import as_json
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Format(NamedTuple):
    """A setting of the fileexporter: `format` and `compression`."""

    format: str
    zstd: bool


FORMATS = {
    "json": Format("json", zstd=False),
    "proto": Format("proto", zstd=False),
    "json-zstd": Format("json", zstd=True),
    "proto-zstd": Format("proto", zstd=True),
}
_MIB = 64
"""What a message may have; the default of gRPC, 4 MiB, loses one batch of long prompts."""


@contextmanager
def collector(folder: Path, *, rotated: bool = False, limits: bool = False) -> Iterator[Backend]:
    """Run a Collector that writes to `folder`, a file for each format and signal; give what a test needs of it.

    With `rotated` a file has one megabyte at most, and its older parts stand beside it. With `limits`
    the receivers keep their default limits on the size of a message.
    """
    grpc, http = free_ports(2)
    config = folder / "config.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps(_config(grpc, http, rotated=rotated, limits=limits)))  # JSON is YAML
    ready = f"http://127.0.0.1:{http}/v1/traces"
    with running([program("collector"), "--config", config], folder, ready, answers=405):
        web = f"http://127.0.0.1:{http}"
        yield Backend(
            urls={"grpc": f"http://127.0.0.1:{grpc}", "http/protobuf": web, "http/json": web},
            views={name: _view(folder, name) for name in FORMATS},
            seen=lambda trace_id: min(len(_facts(folder, name, trace_id)) for name in FORMATS),
        )


def _config(grpc: int, http: int, *, rotated: bool, limits: bool) -> dict[str, Any]:
    more = {} if limits else {"max_recv_msg_size_mib": _MIB}
    body = {} if limits else {"max_request_body_size": _MIB << 20}
    exporters = {
        f"file/{signal}-{name}": _exporter(f"{signal}-{name}.out", kind, rotated=rotated)
        for name, kind in FORMATS.items()
        for signal in ("traces", "logs")
    }
    return {
        "receivers": {
            "otlp": {
                "protocols": {
                    "grpc": {"endpoint": f"127.0.0.1:{grpc}", **more},
                    "http": {"endpoint": f"127.0.0.1:{http}", **body},
                }
            }
        },
        "exporters": exporters,
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {
                signal: {"receivers": ["otlp"], "exporters": [name for name in exporters if signal in name]}
                for signal in ("traces", "logs")
            },
        },
    }


def _exporter(path: str, kind: Format, *, rotated: bool) -> dict[str, Any]:
    return {
        "path": path,
        "format": kind.format,
        **({"compression": "zstd"} if kind.zstd else {}),
        **({"rotation": {"max_megabytes": 1}} if rotated else {"flush_interval": "100ms"}),
    }


def parts(folder: Path, name: str, signal: str = "traces") -> list[Path]:
    """Return the files of a format: the one that is written to, and the older ones beside it."""
    return sorted(folder.glob(f"{signal}-{name}.out")) + sorted(folder.glob(f"{signal}-{name}-2*.out"))


def _view(folder: Path, name: str) -> View:
    def files(_: Iterable[str], __: Path) -> list[Path]:
        return parts(folder, name)

    return View(lambda trace_id: _facts(folder, name, trace_id), files, lambda: parts(folder, name, "logs"))


def _facts(folder: Path, name: str, trace_id: str) -> list[Facts]:
    paths = parts(folder, name)
    return [facts for path in paths for facts in _told(path, path.stat().st_size, name).get(trace_id, [])]


@lru_cache(maxsize=64)
def _told(path: Path, size: int, name: str) -> dict[str, list[Facts]]:
    found: dict[str, list[Facts]] = {}
    for facts in of_requests(requests(path, FORMATS[name])):
        found.setdefault(facts["trace_id"], []).append(facts)
    return found


def requests(path: Path, kind: Format) -> Iterator[dict[str, Any]]:
    """Yield the requests of one file as OTLP JSON, by a reader of the tests' own; the end may be unwritten yet."""
    data = path.read_bytes()
    if kind == FORMATS["json"]:
        yield from map(json.loads, data[: data.rfind(b"\n") + 1].splitlines())
        return
    for body in _frames(data):
        plain = (
            pytest.importorskip("zstandard").ZstdDecompressor().decompressobj().decompress(body) if kind.zstd else body
        )
        yield json.loads(plain) if kind.format == "json" else as_json(ExportTraceServiceRequest.FromString(plain))


def _frames(data: bytes) -> Iterator[bytes]:
    """Yield the bodies: each has its length before it, four bytes, big-endian."""
    at = 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 4 + length]
        if len(body) < length:
            return
        yield body
        at += 4 + length
