"""Requests of both signals in both forms: what is read, what is refused, and the answers."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from google.rpc import error_details_pb2
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from atifold.serve.refusals import BUSY, TOO_LARGE, RefusedError
from atifold.serve.room import Room
from atifold.serve.signals import LOGS, TRACES, Form, Signal, read, response, unpacked, written


@pytest.mark.parametrize("form", Form)
def test_both_signals_are_read_in_both_forms(form: Form, requests: Any) -> None:
    """The same items, whatever wrote them."""
    write = requests.json if form is Form.JSON else requests.protobuf
    spans = read(write(requests.spans(requests.agent, requests.chat)), form, TRACES)
    assert [span.name for span in spans.items] == ["invoke_agent echo", "chat mock"]
    records = read(write(requests.said()), form, LOGS)
    assert [record.name for record in records.items] == ["gen_ai.user.message", "gen_ai.choice"]
    assert (spans.rejected, records.rejected) == (0, 0)


@pytest.mark.parametrize(
    ("form", "empty"), [(Form.JSON, b"{}"), (Form.PROTOBUF, b""), (Form.JSON, b'{"resourceSpans":[]}')]
)
def test_an_empty_request_is_taken(form: Form, empty: bytes) -> None:
    """A client may have nothing to tell."""
    assert read(empty, form, TRACES) == ([], 0, "", {})


@pytest.mark.parametrize(
    ("form", "data", "words"),
    [
        (Form.JSON, b"{", "found no JSON"),
        (Form.JSON, b"", "found no JSON"),
        (Form.JSON, b'"text"', "found a text that is no request"),
        (Form.JSON, b'{"foo": 1}', "found an object that is no request"),
        (Form.JSON, b"\xff\xfe", "found no JSON"),
        (Form.PROTOBUF, b"\xff\xff\xff", "found no protobuf of spans"),
        (Form.PROTOBUF, b"{}", "found no protobuf of spans"),
    ],
)
def test_what_is_no_request_is_refused(form: Form, data: bytes, words: str) -> None:
    """Status 400, with what was found."""
    with pytest.raises(RefusedError, match=words) as caught:
        read(data, form, TRACES)
    assert caught.value.reason.http == 400


@pytest.mark.parametrize("form", Form)
def test_a_request_of_the_other_signal_is_refused(form: Form, requests: Any) -> None:
    """Log records do not belong to the path of spans."""
    write = requests.json if form is Form.JSON else requests.protobuf
    with pytest.raises(RefusedError, match=r"found another signal, wanted spans|found no protobuf of spans"):
        read(write(requests.said()), form, TRACES)


def test_a_span_that_cannot_be_read_costs_nothing_but_itself(requests: Any) -> None:
    """The others are taken; the answer says how many are not, and why."""
    bad = {**requests.chat, "traceId": "xyz"}
    found = read(requests.json(requests.spans(requests.agent, bad, bad)), Form.JSON, TRACES)
    assert ([span.name for span in found.items], found.rejected) == (["invoke_agent echo"], 2)
    assert found.words.startswith("request: found a span that cannot be read")
    answer = response(TRACES, found.rejected, found.words)
    back = ExportTraceServiceResponse.FromString(written(answer, Form.PROTOBUF))
    assert (back.partial_success.rejected_spans, back.partial_success.error_message) == (2, found.words)


@pytest.mark.parametrize("signal", [TRACES, LOGS])
def test_the_answer_to_a_request_that_was_taken_whole_is_empty(signal: Signal) -> None:
    """`partial_success` is then not there."""
    assert written(response(signal), Form.PROTOBUF) == b""
    assert written(response(signal), Form.JSON) == b"{}"


def test_answers_in_json_are_as_the_mapping_of_protobuf_has_them() -> None:
    """Names in camelCase, int64 as text."""
    assert written(response(LOGS, 3, "why"), Form.JSON) == (
        b'{"partialSuccess": {"rejectedLogRecords": "3", "errorMessage": "why"}}'
    )
    back = ExportLogsServiceResponse.FromString(written(response(LOGS, 3, "why"), Form.PROTOBUF))
    assert back.partial_success.rejected_log_records == 3


def test_gzip_is_unpacked_within_a_bound() -> None:
    """A small body that unpacks to a large one is refused before it is there; so is one that is cut or none."""
    packed = gzip.compress(b"\0" * 10_000_000, mtime=0)
    assert len(unpacked(packed, 10_000_000)) == 10_000_000
    with pytest.raises(RefusedError, match="more than 9,999,999 bytes when unpacked") as caught:
        unpacked(packed, 9_999_999)
    assert caught.value.reason is TOO_LARGE
    with pytest.raises(RefusedError, match="gzip data that is cut"):
        unpacked(packed[:-9], 10_000_000)
    with pytest.raises(RefusedError, match="no gzip"):
        unpacked(b"plain", 10)


def test_who_may_come_again_is_told_when() -> None:
    """`RetryInfo` stands in the status of a server that is busy, and in no other."""
    status = RefusedError(BUSY, "later", retry_s=7).status()
    info = error_details_pb2.RetryInfo()
    assert status.details[0].Unpack(info)
    assert (info.retry_delay.seconds, status.message) == (7, "later")
    assert not RefusedError(TOO_LARGE, "never", retry_s=7).status().details


def test_requests_share_a_room_and_one_may_always_have_more() -> None:
    """A request that is alone is never refused for its size; given back, the bytes are free again."""
    room = Room(100, retry_s=1)
    with room.share() as large:
        large.grow(90)
        large.grow(90)
        with room.share() as other, pytest.raises(RefusedError) as caught:
            other.grow(1)
        assert (caught.value.reason, caught.value.retry_s, room.held) == (BUSY, 1, 180)
    with room.share() as one, room.share() as two:
        one.grow(50)
        two.grow(50)
        with pytest.raises(RefusedError):
            one.grow(1)
    assert room.held == 0
