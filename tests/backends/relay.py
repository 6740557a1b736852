"""Run an OpenTelemetry Collector whose exporters a test chooses: to files, and on to another OTLP backend."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from backends.running import free_ports, program, running

_PATIENT: Mapping[str, Any] = {
    # Kept in memory, and tried again until it is taken: `max_elapsed_time: 0` never gives up.
    "sending_queue": {"enabled": True, "queue_size": 10_000},
    "retry_on_failure": {"enabled": True, "initial_interval": "100ms", "max_interval": "500ms", "max_elapsed_time": 0},
}


class Relay(NamedTuple):
    """A running Collector: its process, and its base URLs by protocol."""

    process: subprocess.Popen[bytes]
    urls: Mapping[str, str]


def over_grpc(endpoint: str) -> dict[str, Any]:
    """Return the exporter that sends on over gRPC, with a queue and retries."""
    return {"otlp": {"endpoint": endpoint.removeprefix("http://"), "tls": {"insecure": True}, **_PATIENT}}


def over_http(endpoint: str, encoding: str = "proto") -> dict[str, Any]:
    """Return the exporter that sends on over HTTP, with a queue and retries."""
    return {"otlphttp": {"endpoint": endpoint, "encoding": encoding, **_PATIENT}}


def to_file(path: Path) -> dict[str, Any]:
    """Return the exporter that writes spans as JSON Lines, after those that are in the file."""
    return {"file": {"path": str(path), "append": True, "flush_interval": "100ms"}}


@contextmanager
def relay(
    folder: Path, exporters: Mapping[str, Any], ports: tuple[int, int] | None = None, *, batches: bool = True
) -> Iterator[Relay]:
    """Run a Collector that gives spans to `exporters`, log records too but for files; `ports` are gRPC's and HTTP's.

    Without `batches` each request goes on by itself, before it is answered.
    """
    folder.mkdir(parents=True, exist_ok=True)
    grpc, http = ports or free_ports(2)
    config = folder / "config.yaml"
    config.write_text(json.dumps(_config(grpc, http, exporters, batches=batches)))  # JSON is YAML
    ready = f"http://127.0.0.1:{http}/v1/traces"
    with running([program("collector"), "--config", config], folder, ready, answers=405) as process:
        web = f"http://127.0.0.1:{http}"
        yield Relay(process, {"grpc": f"http://127.0.0.1:{grpc}", "http/protobuf": web, "http/json": web})


def _config(grpc: int, http: int, exporters: Mapping[str, Any], *, batches: bool) -> dict[str, Any]:
    processors = ["memory_limiter", "batch"] if batches else ["memory_limiter"]
    # A fileexporter of two signals crashes when it is stopped in the midst of a write, and loses the batch:
    # https://github.com/open-telemetry/opentelemetry-collector-contrib/pull/46947
    of_signals = {"traces": list(exporters), "logs": [name for name in exporters if name != "file"]}
    return {
        "receivers": {
            "otlp": {
                "protocols": {
                    "grpc": {"endpoint": f"127.0.0.1:{grpc}", "max_recv_msg_size_mib": 64},
                    "http": {"endpoint": f"127.0.0.1:{http}"},
                }
            }
        },
        "processors": {
            "memory_limiter": {"check_interval": "1s", "limit_mib": 512},
            "batch": {"timeout": "50ms", "send_batch_size": 100, "send_batch_max_size": 200},
        },
        "exporters": {**exporters},
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {
                signal: {"receivers": ["otlp"], "processors": processors, "exporters": names}
                for signal, names in of_signals.items()
                if names
            },
        },
    }
