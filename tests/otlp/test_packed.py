"""Compressed inputs, and the messages that the Collector's file exporter puts behind each other."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from atifold import otlp
from atifold.otlp import encode_lines
from atifold.spans import Span

try:
    from compression.zstd import compress  # from Python 3.14 on
except ImportError:
    compress = pytest.importorskip("zstandard").compress

LIBRARIES = ("compression.zstd", "zstandard")


def line(number: int) -> bytes:
    """Return a request of one span as a line of JSON."""
    return encode_lines([Span("1" * 32, f"{number:016x}", None, "x", 1_000, 2_000)])


def protobuf(number: int) -> bytes:
    """Return a request of one span in protobuf."""
    import exports  # noqa: PLC0415 - the protobuf of it alone

    return exports.protobuf([Span("1" * 32, f"{number:016x}", None, "x", 1_000, 2_000)])


def framed(*messages: bytes) -> bytes:
    """Return messages each after its length."""
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def ids(batch: otlp.Batch) -> list[int]:
    """Return the numbers of the spans in a batch."""
    return [int(span.span_id, 16) for span in batch.spans]


INPUTS: dict[str, bytes] = {
    "JSON Lines as a whole": compress(line(1) + line(2)),
    "two frames of zstd": compress(line(1)) + compress(line(2)),
    "zstd in gzip": gzip.compress(compress(line(1) + line(2))),
    "framed protobuf": framed(protobuf(1), protobuf(2)),
    "framed protobuf, each compressed": framed(compress(protobuf(1)), compress(protobuf(2))),
    "framed JSON, each compressed": framed(compress(line(1)), compress(line(2))),
    "framed protobuf as a whole": compress(framed(protobuf(1), protobuf(2))),
    "an empty message between": framed(protobuf(1), b"", protobuf(2)),
    "an empty message first": framed(b"", protobuf(1), protobuf(2)),
}


@pytest.mark.parametrize("name", INPUTS)
def test_each_way_of_packing_is_known_by_its_bytes(name: str) -> None:
    """Whatever the file is called."""
    batch = otlp.parse(INPUTS[name], "x.txt")
    assert (ids(batch), batch.complaints) == ([1, 2], [])


@pytest.mark.parametrize("pack", [bytes, compress])
def test_messages_before_a_cut_are_kept(pack: Any) -> None:
    """Rotation and crashes cut a file anywhere; the message that is cut is one complaint."""
    whole = framed(pack(protobuf(1)), pack(protobuf(2)))
    for cut in (1, 5, 9):
        batch = otlp.parse(whole[:-cut], "x.pb")
        assert ids(batch) == [1]
        assert [str(complaint) for complaint in batch.complaints] == [
            "x.pb, message 2: found a message that is cut, wanted as many bytes as it says"
        ]


def test_a_broken_message_costs_only_itself() -> None:
    """It is named by its number."""
    batch = otlp.parse(framed(protobuf(1), b"\x0a\xff\xff", protobuf(3)), "x.pb")
    assert ids(batch) == [1, 3]
    (complaint,) = batch.complaints
    assert str(complaint).startswith("x.pb, message 2: found no JSON (bytes that are not UTF-8), wanted OTLP JSON")


def test_gzip_that_is_cut_gives_the_messages_before() -> None:
    """Of binary content everything is kept that could be unpacked."""
    noise = Span("1" * 32, "2".zfill(16), None, "".join(map(str, range(9_000))), 1, 2)
    import exports  # noqa: PLC0415 - the protobuf of it alone

    data = gzip.compress(framed(protobuf(1), exports.protobuf([noise])))
    batch = otlp.parse(data[: len(data) // 2], "x.pb.gz")
    assert ids(batch) == [1]
    assert [complaint.where for complaint in batch.complaints] == ["x.pb.gz", "x.pb.gz, message 2"]


@pytest.mark.parametrize("damage", ["cut", "broken"])
def test_damaged_zstd_gives_what_stands_before_it(damage: str) -> None:
    """As with gzip."""
    second = compress(line(2))
    rest = second[:-3] if damage == "cut" else second[:4] + b"nonsense, and more"
    batch = otlp.parse(compress(line(1)) + rest, "x.zst")
    assert ids(batch) == [1]
    assert [str(complaint) for complaint in batch.complaints] == [
        "x.zst: found a zstd stream that is cut or broken, wanted whole zstd"
    ]


def test_where_no_library_reads_zstd_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line says what to install, and the other files are read."""
    for library in LIBRARIES:
        monkeypatch.setitem(sys.modules, library, None)
    packed, plain = tmp_path / "a.zst", tmp_path / "b.json"
    packed.write_bytes(compress(line(1)))
    plain.write_bytes(line(2))
    batch = otlp.read([packed, plain])
    assert ids(batch) == [2]
    assert str(batch.complaints[0]) == (
        f"{packed}: found zstd-compressed data, wanted the package that reads it: pip install zstandard"
    )


def test_json_is_never_taken_for_a_message() -> None:
    """Indented lists have a line end at the fifth byte, as protobuf after a length has."""
    document = json.loads(line(1))
    for data in (b"[\n \n\n" + json.dumps(document).encode() + b"]", b"\n\n\n\n\n" + line(1)):
        assert ids(otlp.parse(data, "x.json")) == [1]
