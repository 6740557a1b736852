"""What a server holds when it stops, and what the next one makes of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atifold.assemble import Carried
from atifold.serve import Receiver, carrying
from atifold.serve.signals import LOGS, TRACES, Form
from atifold.spans import LogRecord, Span

Make = Callable[..., Receiver]
TRACE = "a" * 32
HELD = Carried(
    TRACE,
    2,
    frozenset({"one", "two"}),
    awaited=True,
    written=True,
    spans=[Span(TRACE, "1" * 16, None, "agent", 1, 2, attributes={"k": [1, "x"]}, resource={"service.name": "s"})],
    logs=[LogRecord("e", 3, TRACE, "1" * 16, body={"content": "x"})],
)
BARE = Carried("session s", 1, frozenset(), awaited=False, written=False, spans=[], logs=[LogRecord("e", 3)])


def _send(receiver: Receiver, data: bytes, signal: Any = TRACES) -> None:
    with receiver.admit(None, 1) as share:
        receiver.take(data, Form.JSON, signal, share)


def test_what_is_saved_is_loaded_once(tmp_path: Path) -> None:
    """Every fact of each trace; then it is gone."""
    path = tmp_path / carrying.FILE
    carrying.save(path, [HELD])
    carrying.save(path, [BARE])  # as of a server that never was asked to go on with the first
    assert carrying.load(path) == [HELD, BARE]
    assert not path.exists()
    assert carrying.load(path) == []


def test_without_anything_held_there_is_no_file(tmp_path: Path) -> None:
    """An idle server leaves nothing behind."""
    carrying.save(tmp_path / carrying.FILE, [])
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_cannot_be_read_costs_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is named by its number."""
    path = tmp_path / carrying.FILE
    carrying.save(path, [HELD])
    path.write_bytes(b'{"atifold": {}}\n{"cut\n[]\n' + path.read_bytes())
    assert carrying.load(path) == [HELD]
    assert [record.getMessage().split(": ")[0] for record in caplog.records] == [f"{path}:{n}" for n in (1, 2, 3)]


@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may read and write everywhere")
def test_a_file_that_may_not_be_read_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The server starts without it."""
    path = tmp_path / carrying.FILE
    carrying.save(path, [HELD])
    path.chmod(0)
    assert carrying.load(path) == []
    assert "cannot be read" in caplog.text


def test_a_place_that_takes_nothing_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The server ends well all the same."""
    (tmp_path / "file").write_text("in the way")
    carrying.save(tmp_path / "file" / carrying.FILE, [HELD])
    assert "cannot be handed on to the next server" in caplog.text


def test_a_trace_that_a_restart_cuts_is_one_document(
    receiver_of: Make, requests: Any, documents: Any, tmp_path: Path
) -> None:
    """The call and its content come to the first server, the agent to the second."""
    carry = tmp_path / "held.jsonl"
    first = receiver_of(carry=carry)
    _send(first, requests.json(requests.said()), LOGS)
    _send(first, requests.json(requests.spans(requests.chat)))
    assert first.close()
    (document,) = documents()
    assert document["extra"]["atifold"]["incomplete"] == ["no_root"]
    second = receiver_of(carry=carry)
    _send(second, requests.json(requests.spans(requests.agent)))
    assert second.close()
    (document,) = documents()
    assert [step["message"] for step in document["steps"]] == ["ping", "pong"]
    assert "incomplete" not in document["extra"]["atifold"]


def test_what_is_sent_again_after_a_restart_takes_nothing_away(
    receiver_of: Make, requests: Any, documents: Any, tmp_path: Path
) -> None:
    """The agent's span alone: a client whose first answer was lost; also after one more restart."""
    carry = tmp_path / "held.jsonl"
    first = receiver_of(carry=carry)
    _send(first, requests.json(requests.said()), LOGS)
    _send(first, requests.json(requests.spans(requests.chat, requests.agent)))
    assert first.close()
    (before,) = documents()
    for _ in range(2):
        server = receiver_of(carry=carry)
        _send(server, requests.json(requests.spans(requests.agent)))
        assert server.close()
        assert documents() == [before]


def test_a_document_that_could_not_be_written_is_written_by_the_next_server(
    receiver_of: Make, requests: Any, documents: Any, tmp_path: Path
) -> None:
    """The folder is a file while the first server stops."""
    carry = tmp_path / "held.jsonl"
    (tmp_path / "out").write_text("in the way")
    first = receiver_of(carry=carry)
    _send(first, requests.json(requests.said()), LOGS)
    _send(first, requests.json(requests.spans(requests.chat, requests.agent)))
    assert not first.close()
    (tmp_path / "out").unlink()
    assert receiver_of(carry=carry).close()
    (document,) = documents()
    assert [step["message"] for step in document["steps"]] == ["ping", "pong"]
