"""Run an MLflow tracking server, and read traces back as the artifacts that it makes of them."""

from __future__ import annotations

import base64
import json
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backends.backend import Backend, View, one_file_each
from backends.facts import Facts
from backends.running import free_ports, get, program, running

_STATUSES = {"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}


@contextmanager
def mlflow(folder: Path) -> Iterator[Backend]:
    """Run an MLflow in `folder`, one worker and no jobs; give what a test needs of it. It speaks no gRPC."""
    (port,) = free_ports(1)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    command = [
        *(program("mlflow"), "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder}/store.db", "--artifacts-destination", str(folder / "artifacts")),
    ]
    web = f"http://127.0.0.1:{port}"
    with running(command, folder, f"{web}/health", environment):
        view = View(lambda trace_id: _facts(web, trace_id), one_file_each(lambda each: _raw(web, each), ".json"))
        yield Backend(
            urls={"http/protobuf": web, "http/json": web},
            views={"artifact": view},
            seen=lambda trace_id: _count(web, trace_id),
            headers={"x-mlflow-experiment-id": "0"},
        )


def _raw(web: str, trace_id: str) -> bytes:
    return get(f"{web}/ajax-api/2.0/mlflow/get-trace-artifact?request_id=tr-{trace_id}")


def _facts(web: str, trace_id: str) -> list[Facts]:
    return [_of_span(span) for span in json.loads(_raw(web, trace_id))["spans"]]


def _count(web: str, trace_id: str) -> int:
    try:
        return len(_facts(web, trace_id))
    except urllib.error.HTTPError:  # not there yet
        return 0


def _of_span(span: dict[str, Any]) -> Facts:
    return {
        "trace_id": _hex(span["trace_id"]),
        "span_id": _hex(span["span_id"]),
        "parent_id": _hex(span["parent_span_id"] or ""),
        "name": span["name"],
        "status": _STATUSES[span["status"]["code"]],
        "status_message": span["status"]["message"],
        "start_ns": span["start_time_unix_nano"],
        "end_ns": span["end_time_unix_nano"],
        "attributes": span["attributes"],
        "events": [[e["name"], e["time_unix_nano"], e["attributes"]] for e in span["events"]],
        "links": [
            [link["trace_id"].removeprefix("tr-"), link["span_id"], link["attributes"] or {}] for link in span["links"]
        ],
        **{key: value for key, value in span.items() if key in ("kind", "resource", "scope", "flags")},
    }


def _hex(text: str) -> str:
    return base64.b64decode(text).hex()
