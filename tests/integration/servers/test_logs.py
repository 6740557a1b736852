"""Log records: the Collector keeps them, and servers of traces refuse them; which is no failure of a replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from backends.backend import Backend
from backends.running import post, wait_for
from click.testing import CliRunner
from story import DEMO

from atifold import otlp
from atifold.cli import main

pytestmark = pytest.mark.integration

TRACE, SPAN = "ab" * 16, "cd" * 8
REFUSED = {"jaeger": 404, "phoenix": 405, "mlflow": 404}


def test_a_collector_keeps_a_log_record(collector: Backend, request: Any) -> None:
    """In each format: name, body and the span that it names."""
    record = {
        "timeUnixNano": "1800000000123456789",
        "eventName": "e",
        "traceId": TRACE,
        "spanId": SPAN,
        "body": {"stringValue": "b"},
        "attributes": [{"key": "k", "value": {"intValue": "7"}}],
    }
    told = {"resourceLogs": [{"scopeLogs": [{"scope": {"name": "s"}, "logRecords": [record]}]}]}
    url = f"{collector.urls['http/json']}/v1/logs"
    assert post(url, json.dumps(told).encode(), {"Content-Type": "application/json"}) == 200
    for view in collector.views.values():

        def found(files: Any = view.logs) -> list[Any]:
            return [log for log in otlp.read(files()).logs if log.trace_id == TRACE]

        (log,) = wait_for(found, "the log record")
        assert (log.name, log.body, log.span_id, log.time_ns) == ("e", "b", SPAN, 1800000000123456789)
        assert (log.attributes, log.scope_name) == ({"k": 7}, "s")


@pytest.mark.parametrize("server", REFUSED)
def test_a_server_of_traces_takes_no_logs_and_a_replay_says_so(server: str, request: Any, tmp_path: Path) -> None:
    """With the status that it has for what it does not know; the spans arrive, and the exit code is 0."""
    backend: Backend = request.getfixturevalue(server)
    url = backend.urls["http/protobuf"]
    assert post(f"{url}/v1/logs", b"", {"Content-Type": "application/x-protobuf"}) == REFUSED[server]
    environment = {"OTEL_EXPORTER_OTLP_HEADERS": ",".join(f"{n}={v}" for n, v in backend.headers.items())}
    arguments = ["replay", str(DEMO), "--otlp", url, "--id-seed", f"logs {server}"]
    done = CliRunner().invoke(main, arguments, env=environment)
    assert done.exit_code == 0, done.output
    assert f"not sent: {url} takes none" in done.stderr
