"""`atifold dialects`: what files speak, in words and as JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atifold.cli import main
from atifold.dialects import DIALECTS

TRACE = "0af7651916cd43dd8448eb211c80319c"
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "p", "gen_ai.request.model": "m"}


def span(number: int, scope: str, parent: int = 0, **attributes: str) -> dict[str, Any]:
    """Return an export request of one span; names of attributes have `__` for a dot."""
    found = [{"key": k.replace("__", "."), "value": {"stringValue": v}} for k, v in attributes.items()]
    record = {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "name": f"s{number}",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": found,
        **({"parentSpanId": f"{parent:016x}"} if parent else {}),
    }
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope, "version": "1.0"}, "spans": [record]}]}]}


def log(name: str, number: int) -> dict[str, Any]:
    """Return an export request of one log record of a span."""
    record = {"eventName": name, "timeUnixNano": "1", "traceId": TRACE, "spanId": f"{number:016x}"}
    return {"resourceLogs": [{"scopeLogs": [{"scope": {"name": "logs"}, "logRecords": [record]}]}]}


def lines(*requests: dict[str, Any]) -> str:
    """Return export requests as JSON Lines."""
    return "".join(f"{json.dumps(request)}\n" for request in requests)


def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["dialects", *map(str, arguments)], input=stdin)


MIXED = lines(
    span(1, "app", http__method="GET"),
    span(2, "lib", 1, **CHAT, gen_ai__new="x", **{"gen_ai.usage.input_tokens": "3"}),
    span(3, "strange", 2, foo__prompt="p", foo__model="m"),
    log("gen_ai.user.message", 2),
    log("odd.event", 9),
)


def test_a_file_s_container_dialects_and_unread_parts_are_told(tmp_path: Path) -> None:
    """In lines on stdout, the most frequent first."""
    path = tmp_path / "a.jsonl"
    path.write_text(MIXED, encoding="utf-8")
    result = run(path)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{path}: OTLP JSON Lines",
        "3 spans, 2 log records",
        "genai: 1 span (1 call), 1 log record",
        "  versions: 1.37 and later 1",
        "  scopes: lib 1.0 1",
        "no dialect: 2 spans",
        "  scopes: app 1.0 1, strange 1.0 1",
        "  keys: foo.model 1, foo.prompt 1, http.method 1",
        "loose: 1 log record of no span that is here",
        "  scopes: logs 1",
        "  names: odd.event 1",
        "keys that nobody reads: gen_ai.new 1",
        "spans that are no calls: http 1, no dialect 1",
    ]


def test_the_same_as_json() -> None:
    """One object with all keys, also those that hold nothing."""
    found = json.loads(run("-", "--json", stdin=MIXED).stdout)
    assert found["containers"] == {"<stdin>": "OTLP JSON Lines"}
    assert found["dialects"]["genai"] == {
        "spans": 1,
        "calls": 1,
        "beside": 0,
        "log_records": 1,
        "versions": {"1.37 and later": 1},
        "scopes": {"lib 1.0": 1},
    }
    assert found["no_dialect"]["keys"] == {"foo.model": 1, "foo.prompt": 1, "http.method": 1}
    assert found["loose_log_records"] == {"log_records": 1, "scopes": {"logs": 1}, "names": {"odd.event": 1}}
    assert (found["unknown_keys"], found["ignored"]) == ({"gen_ai.new": 1}, {"http": 1, "no dialect": 1})
    empty = json.loads(run("-", "--json", stdin=lines(span(1, "x", a="b"))).stdout)
    assert empty.keys() == found.keys()


def test_an_unknown_dialect_is_said_with_its_keys() -> None:
    """It is no error: the file was read."""
    result = run("-", stdin=lines(span(1, "strange", foo__prompt="p")))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[2:] == [
        "no dialect that is read is spoken here",
        "no dialect: 1 span",
        "  scopes: strange 1.0 1",
        "  keys: foo.prompt 1",
        "spans that are no calls: no dialect 1",
    ]


def test_a_span_and_its_record_may_lie_in_two_files(tmp_path: Path) -> None:
    """All files are one set; each has its container."""
    (tmp_path / "a.json").write_text(json.dumps(span(1, "lib", **CHAT)), encoding="utf-8")
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(log("gen_ai.user.message", 1)).encode()))
    result = run(tmp_path)
    assert [line.rpartition("/")[2] for line in result.stdout.splitlines()[:3]] == [
        "a.json: OTLP JSON",
        "b.json.gz: OTLP JSON, gzip",
        "1 span, 1 log record",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "found no JSON"),
        ('{"type": "agentfootprint.stream.llm_start", "payload": {}}', "for recordings: atifold replay"),
        ('{"schema_version": "ATIF-v1.7", "steps": []}', "for documents: atifold check"),
    ],
)
def test_what_is_no_trace_is_refused(content: str, said: str) -> None:
    """In one line, as `atifold fold` does."""
    result = run("-", stdin=content)
    assert (result.exit_code, result.stdout) == (3, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    """Exit code 1."""
    (tmp_path / "a.json").write_text(json.dumps(span(1, "lib", **CHAT)), encoding="utf-8")
    result = run(tmp_path / "a.json", tmp_path / "none.json")
    assert result.exit_code == 1
    assert "genai: 1 span (1 call)" in result.stdout
    assert "none.json: cannot be read" in result.stderr


def test_without_a_file_the_dialects_that_are_read_are_listed() -> None:
    """Each with its versions, what it carries and what it lacks."""
    told = run().stdout.splitlines()
    assert [line.partition(":")[0] for line in told[::3]] == [dialect.name for dialect in DIALECTS]
    assert list(json.loads(run("--json").stdout)) == [dialect.name for dialect in DIALECTS]


def test_names_of_strangers_do_no_harm_to_a_terminal() -> None:
    """A key may hold an escape sequence."""
    assert "\x1b" not in run("-", stdin=lines(span(1, "x\x1b[31m", **{"k\x1b[2J": "v"}))).stdout
