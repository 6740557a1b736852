"""`atifold replay`: spans to a file and a backend, documents, and what happens when one of them fails."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

SECRET = "the-word-of-the-user"
STAGES = {
    "agent.turn_start": "seed#0",
    "stream.llm_start": "call-llm#18",
    "stream.llm_end": "call-llm#18",
    "agent.turn_end": "final#23",
}
START_MS = 1_767_225_600_000


def event(kind: str, offset: int, payload: dict[str, Any], run_id: str = "run-1") -> str:
    """Return one line of a recording."""
    meta = {"wallClockMs": START_MS + offset, "runOffsetMs": offset, "runId": run_id}
    meta |= {"runtimeStageId": STAGES.get(kind, "other#19"), "subflowPath": [], "compositionPath": ["Agent:echo"]}
    return json.dumps({"type": f"agentfootprint.{kind}", "payload": payload, "meta": meta})


def recording(run_id: str = "run-1") -> list[str]:
    """Return the lines of one turn with one model call."""
    return [
        event("agent.turn_start", 0, {"turnIndex": 0, "userPrompt": SECRET}, run_id),
        event("stream.llm_start", 1, {"iteration": 1, "provider": "mock", "model": "mock-large"}, run_id),
        event(
            "stream.llm_end",
            9,
            {
                "iteration": 1,
                "content": "pong",
                "toolCallCount": 0,
                "usage": {"input": 3, "output": 2},
                "stopReason": "stop",
                "durationMs": 8,
            },
            run_id,
        ),
        event("agent.turn_end", 10, {"turnIndex": 0, "finalContent": "pong", "iterationCount": 1}, run_id),
    ]


@pytest.fixture
def rec(tmp_path: Path) -> Path:
    """Return a recording in the folder where commands run."""
    path = tmp_path / "rec.jsonl"
    path.write_text("\n".join(recording()), encoding="utf-8")
    return path


def test_documents_are_json_lines_on_stdout_unless_spans_are_asked_for(run: Any, rec: Path) -> None:
    """With --spans alone stdout stays empty, and it is said that documents were not written."""
    result = run("replay", rec)
    (document,) = map(json.loads, result.stdout.splitlines())
    assert [step["message"] for step in document["steps"]] == [SECRET, "pong"]
    assert result.stderr.startswith("4 events, 2 spans -> 1 trajectory on stdout")
    result = run("replay", rec, "--spans", "s.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "none written (-o DIR writes them)" in result.stderr


@pytest.mark.parametrize("version", ["1.7", "1.8"])
def test_the_version_can_be_chosen(run: Any, rec: Path, version: str) -> None:
    """As for a fold; both are valid."""
    result = run("replay", rec, "--atif", version)
    assert json.loads(result.stdout)["schema_version"] == f"ATIF-v{version}"
    assert run("check", "-", stdin=result.stdout.encode()).exit_code == 0


def test_a_bad_line_of_stdin_is_named_as_such(run: Any) -> None:
    """By the same name as in the other commands."""
    result = run("replay", "-", stdin="\n".join([*recording(), "{oops"]).encode())
    assert result.exit_code == 1
    assert result.stderr.startswith("atifold: <stdin>:5: found no JSON")


def test_spans_hold_content_only_on_demand(run: Any, rec: Path, tmp_path: Path) -> None:
    """The trajectory has the words either way."""
    for flags, expected in (((), False), (("--capture-content",), True)):
        assert run("replay", rec, "--spans", "s.jsonl", "-o", "out", *flags).exit_code == 0
        assert (SECRET in (tmp_path / "s.jsonl").read_text(encoding="utf-8")) is expected
        (document,) = (tmp_path / "out").iterdir()
        assert SECRET in document.read_text(encoding="utf-8")


def test_captured_spans_fold_to_the_same_documents(run: Any, rec: Path, tmp_path: Path) -> None:
    """From the recording or from its spans: the same names and bytes."""
    run("replay", rec, "--spans", "s.jsonl", "--capture-content", "-o", "one")
    assert run("fold", "s.jsonl", "-o", "two").exit_code == 0
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    assert len(one) == 1


def test_a_seed_gives_other_ids_to_the_same_runs(run: Any, rec: Path) -> None:
    """Without one, and with the same one, the bytes are the same."""
    plain, seeded = run("replay", rec).stdout, run("replay", rec, "--id-seed", "other").stdout
    assert plain == run("replay", rec, "--id-seed", "").stdout
    assert seeded == run("replay", rec, "--id-seed", "other").stdout
    assert plain != seeded


def test_stdin_and_files_are_one_set(run: Any, rec: Path) -> None:
    """Two runs from two places are two documents."""
    result = run("replay", rec, "-", stdin="\n".join(recording("run-2")).encode())
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 2


def test_a_bad_line_costs_only_itself(run: Any, rec: Path) -> None:
    """It is named with its number; exit 1."""
    lines = recording()
    rec.write_text("\n".join([lines[0], "{oops", *lines[1:]]), encoding="utf-8")
    result = run("replay", "rec.jsonl")
    assert result.exit_code == 1
    assert result.stderr.startswith("atifold: rec.jsonl:2: ")
    assert len(result.stdout.splitlines()) == 1


def test_unknown_events_and_fields_are_no_error(run: Any, rec: Path, tmp_path: Path) -> None:
    """A newer producer's events are kept and counted in the report; exit 0."""
    lines = [*recording(), event("future.thing", 5, {"x": 1})]
    lines[0] = lines[0].replace('"turnIndex"', '"newField": 7, "turnIndex"')
    rec.write_text("\n".join(lines), encoding="utf-8")
    result = run("replay", rec, "--report", "r.json")
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1)
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["refused"] == []
    assert any(count for count in report["events"].values())


@pytest.mark.parametrize(
    ("name", "said"),
    [("missing.jsonl", "cannot be read: No such file"), (".", "found a folder without a file to read")],
)
def test_nothing_readable_is_exit_code_3(run: Any, name: str, said: str) -> None:
    """One line says which file and why."""
    result = run("replay", name)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(f"atifold: {name}: {said}")


def test_a_recording_without_a_step_is_no_error(run: Any, rec: Path) -> None:
    """A prefix that ends before the first step writes no document, says so, and exits 0."""
    rec.write_text(event("agent.run_configured", 0, {"agentId": "echo"}), encoding="utf-8")
    result = run("replay", rec)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no trajectory" in result.stderr


def test_a_span_file_that_cannot_be_opened_costs_no_document(run: Any, rec: Path, tmp_path: Path) -> None:
    """The documents are written; exit 1."""
    (tmp_path / "taken").mkdir()
    result = run("replay", rec, "--spans", "taken", "-o", "out")
    assert result.exit_code == 1
    assert "atifold: taken: cannot be written: Is a directory" in result.stderr
    assert len(list((tmp_path / "out").iterdir())) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_one_line(program: Any, rec: Path) -> None:
    """The SDK's thread writes the spans: no traceback of it may show; nothing was written: exit 3."""
    done = program("replay", rec, "--spans", "/dev/full")
    assert done.returncode == 3
    first, *others = done.stderr.decode().splitlines()
    assert first == "atifold: /dev/full: cannot be written: No space left on device"
    assert b"Traceback" not in done.stderr
    assert others


def test_a_backend_that_is_away_costs_no_document(
    run: Any, rec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line names the backend; documents and span file are there; exit 1."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    result = run("replay", rec, "--otlp", url, "--spans", "s.jsonl", "-o", "out")
    assert result.exit_code == 1
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("atifold:")]
    assert line.startswith(f"atifold: {url}: cannot be written: 2 spans were not taken (")
    assert len(list((tmp_path / "out").iterdir())) == 1
    assert (tmp_path / "s.jsonl").stat().st_size


@pytest.mark.parametrize(("url", "protocol"), [("localhost:4318", ""), ("http://localhost:4318", "http/xml")])
def test_a_backend_that_nobody_can_speak_to_is_wrong_usage(
    run: Any, rec: Path, monkeypatch: pytest.MonkeyPatch, url: str, protocol: str
) -> None:
    """Said before anything is read; exit 2."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    result = run("replay", rec, "--otlp", url)
    assert (result.exit_code, result.stdout) == (2, "")
    assert url in result.stderr


# ---- log events ----------------------------------------------------------------------------------

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def log_records(text: str) -> list[dict[str, Any]]:
    """Return the log records of OTLP JSON Lines."""
    requests = [json.loads(line) for line in text.splitlines()]
    return [
        record
        for request in requests
        for resource in request["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def test_log_events_are_written_as_otlp_json_lines(run: Any, rec: Path, tmp_path: Path) -> None:
    """With the ids of the span beside them, and the recorded time."""
    result = run("replay", rec, "--spans", "s.jsonl", "--logs", "l.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    (record,) = log_records((tmp_path / "l.jsonl").read_text(encoding="utf-8"))
    assert record["eventName"] == "gen_ai.client.inference.operation.details"
    assert record["timeUnixNano"] == str((START_MS + 9) * 1_000_000)
    assert record["severityNumber"] == 5
    spans = (tmp_path / "s.jsonl").read_text(encoding="utf-8")
    assert f'"traceId":"{record["traceId"]}","spanId":"{record["spanId"]}","name":"chat mock-large"' in spans


def test_log_events_go_to_stdout_too(run: Any, rec: Path) -> None:
    """Documents leave it alone then; two things on it are refused."""
    assert len(log_records(run("replay", rec, "--logs", "-").stdout)) == 1
    refused = run("replay", rec, "--logs", "-", "--spans", "-")
    assert refused.exit_code == 2
    assert "--spans - and --logs - both want stdout" in refused.stderr


@pytest.mark.parametrize(
    ("mode", "flags", "on_spans", "on_logs"),
    [
        ("", (), False, False),
        ("SPAN_AND_EVENT", (), False, True),
        ("EVENT_ONLY", ("--capture-content",), True, True),
        ("SPAN_ONLY", ("--capture-content",), True, False),
        ("true", (), False, True),
    ],
)
def test_log_content_follows_the_environment(
    run: Any,
    rec: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    flags: tuple[str, ...],
    on_spans: bool,
    on_logs: bool,
) -> None:
    """The option is for spans."""
    monkeypatch.setenv(CAPTURE, mode)
    assert run("replay", rec, "--spans", "s.jsonl", "--logs", "l.jsonl", *flags).exit_code == 0
    held = ["pong" in (tmp_path / name).read_text(encoding="utf-8") for name in ("s.jsonl", "l.jsonl")]
    assert held == [on_spans, on_logs]


def test_the_catalogue_s_events_are_logged_on_demand(
    run: Any, rec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same setting as live."""
    lines = recording()
    lines.insert(1, event("skill.activated", 0, {"skillId": "s"}))
    rec.write_text("\n".join(lines), encoding="utf-8")
    for mode, expected in (("span", 0), ("both", 1)):
        monkeypatch.setenv("ATIFOLD_EVENTS", mode)
        run("replay", rec, "--logs", "l.jsonl")
        found = log_records((tmp_path / "l.jsonl").read_text(encoding="utf-8"))
        assert [record["eventName"] for record in found].count("agentfootprint.skill.activated") == expected


def test_attributes_are_named_as_in_a_live_program(
    run: Any, rec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same settings."""
    monkeypatch.setenv("ATIFOLD_ATTRIBUTES", "both")
    monkeypatch.setenv("ATIFOLD_OPENINFERENCE", "true")
    assert run("replay", rec, "--spans", "s.jsonl", "--capture-content").exit_code == 0
    written = (tmp_path / "s.jsonl").read_text(encoding="utf-8")
    for name in ("gen_ai.system", "gen_ai.provider.name", "openinference.span.kind", "input.value"):
        assert f'"{name}"' in written


def test_a_log_file_that_cannot_be_opened_costs_nothing_else(run: Any, rec: Path, tmp_path: Path) -> None:
    """Spans and documents are written; exit 1."""
    (tmp_path / "taken").mkdir()
    result = run("replay", rec, "--logs", "taken", "--spans", "s.jsonl", "-o", "out")
    assert result.exit_code == 1
    assert "atifold: taken: cannot be written: Is a directory" in result.stderr
    assert (tmp_path / "s.jsonl").stat().st_size
    assert len(list((tmp_path / "out").iterdir())) == 1


class Backend(HTTPServer):
    """A loopback server that keeps the paths and the names of log events, and answers by path."""

    answers: dict[str, int]
    paths: list[str]
    events: list[str]


class Handler(BaseHTTPRequestHandler):
    """Read one OTLP request."""

    server: Backend

    def do_POST(self) -> None:
        """Keep what it is."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.paths.append(self.path)
        if self.path == "/v1/logs":
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
                for scope in resource.scope_logs:
                    self.server.events.extend(record.event_name for record in scope.log_records)
        self.send_response(self.server.answers.get(self.path, 200))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Backend]:
    """Return a running server."""
    with Backend(("127.0.0.1", 0), Handler) as made:
        made.answers, made.paths, made.events = {}, [], []
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def test_a_backend_gets_both_signals(run: Any, rec: Path, server: Backend) -> None:
    """The spans first."""
    url = f"http://127.0.0.1:{server.server_port}"
    result = run("replay", rec, "--otlp", url)
    assert result.exit_code == 0
    assert server.paths == ["/v1/traces", "/v1/logs"]
    assert server.events == ["gen_ai.client.inference.operation.details"]
    assert f"2 spans sent to {url}\n1 log event sent to {url}\n" in result.stderr


@pytest.mark.parametrize("status", [404, 405])  # Jaeger and MLflow; Phoenix
def test_a_backend_without_logs_is_one_line_and_no_failure(status: int, run: Any, rec: Path, server: Backend) -> None:
    """As one for traces alone answers."""
    server.answers["/v1/logs"] = status
    url = f"http://127.0.0.1:{server.server_port}/v1/traces"
    result = run("replay", rec, "--otlp", url)
    assert result.exit_code == 0
    (line,) = [line for line in result.stderr.splitlines() if "log event" in line]
    assert line.startswith(f"1 log event not sent: {url} takes none (")
    assert str(status) in line
    assert "2 spans sent" in result.stderr


def test_a_backend_that_refuses_log_events_is_a_failure_of_these_alone(run: Any, rec: Path, server: Backend) -> None:
    """The spans have arrived; exit 1."""
    server.answers["/v1/logs"] = 401
    url = f"http://127.0.0.1:{server.server_port}"
    result = run("replay", rec, "--otlp", url)
    assert result.exit_code == 1
    assert "2 spans sent" in result.stderr
    assert f"atifold: {url}: cannot be written: 1 log event was not taken (" in result.stderr


def test_where_the_spans_are_refused_log_events_are_not_tried(run: Any, rec: Path, server: Backend) -> None:
    """It is said."""
    server.answers["/v1/traces"] = 401
    result = run("replay", rec, "--otlp", f"http://127.0.0.1:{server.server_port}")
    assert (result.exit_code, server.paths) == (3, ["/v1/traces"])
    assert "1 log event not sent either" in result.stderr


def test_a_folder_stands_for_the_recordings_in_it(run: Any, trace: Any, tmp_path: Path) -> None:
    """Below it too; what is of another kind there is one line, and an empty folder one."""
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / "a.jsonl").write_text("\n".join(recording("run-1")), encoding="utf-8")
    (tmp_path / "in" / "deeper" / "b.jsonl").write_text("\n".join(recording("run-2")), encoding="utf-8")
    assert run("replay", "in", "-o", "out").exit_code == 0
    assert len(list((tmp_path / "out").iterdir())) == 2
    for name in ("s.jsonl", "t.jsonl"):
        (tmp_path / "in" / name).write_bytes(trace())
    (tmp_path / "none").mkdir()
    result = run("replay", "in", "none", "-o", "again")
    assert result.exit_code == 1
    empty = "found a folder without a file to read, wanted at least one file that ends in .jsonl, .ndjson, .json"
    assert [line for line in result.stderr.splitlines() if line.startswith("atifold: ")] == [
        f"atifold: none: {empty}",
        "atifold: in: found 2 traces (in/s.jsonl and 1 other), wanted recordings of events (for traces: atifold fold)",
    ]
    assert len(list((tmp_path / "again").iterdir())) == 2
