"""Run a Phoenix, and read traces back by its REST API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from backends.backend import Backend, View, one_file_each
from backends.facts import Facts
from backends.running import free_ports, get, program, running

_PAGE = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_STATUSES = {"UNSET": 0, "OK": 1, "ERROR": 2}


@contextmanager
def phoenix(folder: Path) -> Iterator[Backend]:
    """Run a Phoenix in `folder`; give what a test needs of it."""
    http, grpc = free_ports(2)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(http),
        "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        # Else it looks for its assistant's documentation on the web when it starts.
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
    }
    web = f"http://127.0.0.1:{http}"
    with running([program("phoenix"), "serve"], folder, f"{web}/healthz", environment):
        view = View(lambda trace_id: _facts(web, trace_id), one_file_each(lambda each: _raw(web, each), ".json"))
        yield Backend(
            urls={"grpc": f"http://127.0.0.1:{grpc}", "http/protobuf": web, "http/json": web},
            views={"spans": view},
            seen=lambda trace_id: len(_facts(web, trace_id)),
        )


def _raw(web: str, trace_id: str) -> bytes:
    """Return the spans of a trace as Phoenix tells them, on one page."""
    found = get(f"{web}/v1/projects/default/spans?limit={_PAGE}&trace_id={trace_id}")
    assert json.loads(found)["next_cursor"] is None, f"more than {_PAGE} spans in a trace"
    return found


def _facts(web: str, trace_id: str) -> list[Facts]:
    return [_of_span(span) for span in json.loads(_raw(web, trace_id))["data"]]


def _of_span(span: dict[str, Any]) -> Facts:
    return {
        **span["context"],
        "parent_id": span["parent_id"] or "",
        "name": span["name"],
        "status": _STATUSES[span["status_code"]],
        "status_message": span["status_message"],
        "start_ns": _ns(span["start_time"]),
        "end_ns": _ns(span["end_time"]),
        "attributes": span["attributes"],
        "events": [[event["name"], _ns(event["timestamp"]), event["attributes"]] for event in span["events"]],
        **{key: value for key, value in span.items() if key in ("links", "resource", "scope")},
    }


def _ns(text: str) -> int:
    since = datetime.fromisoformat(text.replace("Z", "+00:00")) - _EPOCH
    return since // timedelta(microseconds=1) * 1000
