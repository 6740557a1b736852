"""What a receiver takes in and turns away, whatever the protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atifold import atif
from atifold.serve import Limits, Receiver
from atifold.serve import signals as signals_of
from atifold.serve.refusals import BUSY, CLOSING, FAULT, UNKNOWN, RefusedError
from atifold.serve.signals import LOGS, TRACES, Form, Signal

Make = Callable[..., Receiver]


def _send(receiver: Receiver, data: bytes, signal: Signal, form: Form = Form.JSON) -> Any:
    with receiver.admit(None, 1) as share:
        return receiver.take(data, form, signal, share)


def test_spans_and_log_records_of_several_requests_are_one_document(
    receiver_of: Make, requests: Any, documents: Any
) -> None:
    """The records come first, the root last, in whatever form."""
    receiver = receiver_of()
    _send(receiver, requests.json(requests.said()), LOGS)
    _send(receiver, requests.protobuf(requests.spans(requests.chat)), TRACES, Form.PROTOBUF)
    _send(receiver, requests.json(requests.spans(requests.agent)), TRACES)
    assert receiver.close()
    (document,) = documents()
    assert atif.check(document) == []
    assert [step["message"] for step in document["steps"]] == ["ping", "pong"]
    assert "incomplete" not in document["extra"]["atifold"]


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer other", "Basic s3cret", "s3cret", "Bearer s3cret2", "Bearer \udce4"]
)
def test_a_request_without_the_token_is_refused(receiver_of: Make, given: str | None) -> None:
    """Nothing of it is read."""
    with pytest.raises(RefusedError) as caught:
        receiver_of(token="s3cret").admit(given, 1)
    assert caught.value.reason is UNKNOWN
    assert "s3cret" not in caught.value.words


@pytest.mark.parametrize("given", ["Bearer s3cret", "bearer s3cret", "Bearer  s3cret "])
def test_the_token_lets_in(receiver_of: Make, given: str) -> None:
    """The scheme's letters may be small (RFC 9110)."""
    with receiver_of(token="s3cret").admit(given, 1) as share:
        share.grow(1)


def test_a_server_that_stops_takes_nothing_more(receiver_of: Make) -> None:
    """Whoever sent it may come again: another one may be there then."""
    receiver = receiver_of()
    receiver.closing = True
    with pytest.raises(RefusedError) as caught:
        receiver.admit(None, 1)
    assert (caught.value.reason, caught.value.retry_s) == (CLOSING, 5)


def test_too_many_connections_are_refused(receiver_of: Make) -> None:
    """The one above the limit."""
    receiver = receiver_of(limits=Limits(max_connections=2))
    receiver.admit(None, 2)
    with pytest.raises(RefusedError, match="too many connections"):
        receiver.admit(None, 3)


class _Full:
    """A sink on a full disk."""

    def write(self, document: object) -> None:
        raise OSError(28, "No space left on device")

    def discard(self, name: str) -> None: ...


def test_requests_are_refused_while_documents_cannot_be_written(receiver_of: Make, requests: Any) -> None:
    """Documents wait for room on the disk up to a bound; what comes then stays where it is kept."""
    receiver = receiver_of(sink=_Full(), max_bytes=16_000)
    spans = requests.spans(requests.agent, requests.chat)
    _send(receiver, requests.json(spans), TRACES)
    receiver._assembler.flush()
    with pytest.raises(RefusedError, match="writing does not keep up") as caught:
        _send(receiver, requests.json(spans), TRACES)
    assert caught.value.reason is BUSY
    assert receiver.counts["sink_errors"] >= 1
    assert not receiver.close()
    assert receiver.counts["documents_lost"] == 1


def test_an_error_of_ours_costs_one_request(receiver_of: Make, requests: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted by its kind; its text, which may hold content, goes nowhere."""

    def stumble(*_: object) -> None:
        raise ZeroDivisionError("what somebody said")

    receiver = receiver_of()
    monkeypatch.setattr(signals_of.json, "decode", stumble)
    with pytest.raises(RefusedError, match=r"an error of atifold itself: ZeroDivisionError$") as caught:
        _send(receiver, requests.json(requests.said()), LOGS)
    assert caught.value.reason is FAULT
    assert receiver.counts == {"internal_errors": 1}


def test_the_figures_are_lines_of_prometheus(receiver_of: Make, requests: Any) -> None:
    """Requests by what became of them, items, what could not be read, documents, bytes."""
    receiver = receiver_of()
    bad = {**requests.chat, "spanId": ""}
    _send(receiver, requests.json(requests.spans(requests.agent, requests.chat, bad)), TRACES)
    _send(receiver, requests.json(requests.said()), LOGS)
    receiver.count("http", TRACES, None)
    receiver.count("http", TRACES, None)
    receiver.count("grpc", LOGS, BUSY)
    receiver._assembler.flush()
    lines = receiver.metrics({"http": 3, "grpc": 0}).splitlines()
    figures = [line for line in lines if not line.startswith("#")]
    held = next(line for line in figures if line.startswith('atifold_held_bytes{of="traces"}'))
    assert int(held.split()[-1]) > 1_000
    assert [line for line in figures if line != held] == [
        "atifold_spans_total 2",
        "atifold_log_records_total 2",
        'atifold_requests_total{protocol="grpc",signal="logs",outcome="busy"} 1',
        'atifold_requests_total{protocol="http",signal="traces",outcome="taken"} 2',
        'atifold_rejected_total{signal="traces"} 1',
        "atifold_documents_total 1",
        'atifold_held_bytes{of="unsaved"} 0',
        'atifold_held_bytes{of="waiting"} 0',
        "atifold_requests_bytes 0",
        'atifold_connections{protocol="grpc"} 0',
        'atifold_connections{protocol="http"} 3',
    ]
    families = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(families) == len(set(families)) == 9
