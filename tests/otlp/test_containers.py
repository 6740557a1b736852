"""Files of spans: what is in them decides, and a bad place costs only itself."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from atifold import otlp


def line(span_id: int, **more: Any) -> bytes:
    """Return one export request of one span, without a line end."""
    span = {"traceId": "1" * 32, "spanId": f"{span_id:016x}", "name": "x", **more}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def ids(batch: otlp.Batch) -> list[int]:
    """Return the numbers of the spans in a batch."""
    return [int(span.span_id, 16) for span in batch.spans]


def test_each_line_is_a_request() -> None:
    """JSON Lines are read in their order; empty lines and carriage returns do not matter."""
    batch = otlp.parse(line(1) + b"\n\n" + line(2) + b"\r\n" + line(3), "s.jsonl")
    assert ids(batch) == [1, 2, 3]
    assert batch.complaints == []


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_bad_line_costs_only_that_line(bad: int) -> None:
    """Wherever it stands, a broken line is one complaint with its number."""
    lines = [line(1), line(2), line(3)]
    lines[bad] = b'{"resourceSpans": ['
    batch = otlp.parse(b"\n".join(lines), "s.jsonl")
    assert ids(batch) == [number for number in (1, 2, 3) if number != bad + 1]
    assert [complaint.where for complaint in batch.complaints] == [f"s.jsonl:{bad + 1}"]


def test_a_line_of_another_shape_is_named() -> None:
    """JSON that is no OTLP is refused by line, with what was found and wanted."""
    batch = otlp.parse(line(1) + b'\n{"a": 1}\n' + line(2), "s.jsonl")
    assert ids(batch) == [1, 2]
    assert str(batch.complaints[0]) == (
        "s.jsonl:2: found a JSON object with a, "
        "wanted OTLP JSON (resourceSpans) "
        "or an export of Jaeger, Tempo, Phoenix, MLflow, Langfuse, LangSmith or CloudWatch"
    )


@pytest.mark.parametrize(("text", "kind"), [(b"[1]", "a list"), (b'"hello"', "a text"), (b"7", "a number")])
def test_json_that_is_no_object_is_named_in_words(text: bytes, kind: str) -> None:
    """Never by the name of a Python type."""
    batch = otlp.parse(text, "s.json")
    assert str(batch.complaints[0]).startswith(f"s.json: found JSON that is {kind}, wanted OTLP JSON")


def test_a_file_cut_in_its_last_line_keeps_the_lines_before() -> None:
    """What a crashed writer left is read up to the cut."""
    batch = otlp.parse(line(1) + b"\n" + line(2)[:40], "s.jsonl")
    assert ids(batch) == [1]
    assert len(batch.complaints) == 1


def test_a_document_over_many_lines_is_one_document() -> None:
    """Indented JSON is no JSON Lines."""
    data = json.dumps(json.loads(line(1)), indent=1).encode()
    assert ids(otlp.parse(data, "s.json")) == [1]
    assert len(otlp.parse(data[:-20], "s.json").complaints) == 1


@pytest.mark.parametrize(
    "data", [b"not json", b"\x00\x01", b'{"a"', b"\x28\xb5\x2f\xfdxyz", b"PK\x03\x04", b"\xff\xfe"]
)
def test_what_is_no_json_is_one_complaint(data: bytes) -> None:
    """A file of something else costs one line, which names it."""
    batch = otlp.parse(data, "s.bin")
    assert batch.spans == []
    assert len(batch.complaints) == 1
    assert str(batch.complaints[0]).startswith("s.bin: ")
    assert "\n" not in str(batch.complaints[0])


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_input_holds_no_spans(data: bytes) -> None:
    """Nothing is nothing: no spans, no complaint."""
    assert otlp.parse(data, "s.jsonl") == otlp.Batch()


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_a_file_that_holds_nothing_is_a_complaint(data: bytes, tmp_path: Path) -> None:
    """Whoever names a file, or pipes one in, expects something in it."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    for batch, where in ((otlp.read([path]), path), (otlp.read(["-"], stdin=io.BytesIO(data)), "<stdin>")):
        assert batch.spans == []
        (complaint,) = batch.complaints
        assert str(complaint) == (
            f"{where}: found an empty file, wanted OTLP JSON (resourceSpans), whole or one request a line, "
            "OTLP protobuf, or an export of Jaeger, Tempo, Phoenix, MLflow, Langfuse, LangSmith or CloudWatch"
        )


def test_what_is_no_json_is_named_with_one_line_number() -> None:
    """In JSON Lines the place names the line, and the parser's reason the column; in a whole text both are its own."""
    lines = otlp.parse(line(1) + b"\n{oops\n", "s.jsonl").complaints
    assert re.fullmatch(r"s\.jsonl:2: found no JSON \([^:(]+: column \d+\), wanted OTLP .+", str(lines[0]))
    whole = otlp.parse(b'{"a":\n oops}', "s.json").complaints
    assert re.fullmatch(r"s\.json: found no JSON \([^:(]+: line 2 column \d+\), wanted OTLP .+", str(whole[0]))
    binary = otlp.parse(b"\xff\xfe", "s.bin").complaints
    assert str(binary[0]).startswith("s.bin: found no JSON (bytes that are not UTF-8), wanted OTLP ")


def test_gzip_is_known_by_its_first_bytes() -> None:
    """A compressed file is read whatever its name, also one of several members."""
    data = gzip.compress(line(1) + b"\n") + gzip.compress(line(2) + b"\n")
    batch = otlp.parse(b"" + data, "spans.txt")
    assert ids(batch) == [1, 2]
    assert batch.complaints == []


@pytest.mark.parametrize("damage", ["cut", "broken"])
def test_damaged_gzip_gives_the_lines_before_the_damage(damage: str) -> None:
    """Whole lines before the end of what can be unpacked are kept, with one complaint."""
    first, second = gzip.compress(line(1) + b"\n" + line(2)[:30]), gzip.compress(line(2)[30:])
    rest = second[: len(second) // 2] if damage == "cut" else b"\x1f\x8bnonsense"
    batch = otlp.parse(first + rest, "s.gz")
    assert ids(batch) == [1]
    assert [str(complaint) for complaint in batch.complaints] == [
        "s.gz: found a gzip stream that is cut or broken, wanted whole gzip"
    ]


def test_files_are_read_one_after_another(tmp_path: Path) -> None:
    """Good files are read, bad ones complained about, and `-` is the standard input."""
    good, missing = tmp_path / "a.json", tmp_path / "none.json"
    good.write_bytes(line(1))
    batch = otlp.read([good, str(missing), tmp_path, "-"], stdin=io.BytesIO(line(2)))
    assert ids(batch) == [1, 2]
    assert [complaint.where for complaint in batch.complaints] == [str(missing), str(tmp_path)]
    assert "No such file" in str(batch.complaints[0])


def test_every_container_of_the_corpus_is_read(shared: Path) -> None:
    """Real files of many writers give spans, and none of them raises."""
    without = [
        path.parent.name
        for path in sorted((shared / "corpus").glob("*/*.json"))
        if not path.name.endswith((".expect.json", ".logs.json")) and not otlp.read([path]).spans
    ]
    assert without == []


def pretty(number: int) -> bytes:
    """Return one export request of one span over many lines."""
    return json.dumps(json.loads(line(number)), indent=2).encode()


@pytest.mark.parametrize(
    "data",
    [
        pretty(1) + b"\n" + pretty(2) + b"\n",
        line(1) + line(2),
        pretty(1) + pretty(2),
        b"starting up\n" + pretty(1) + b"\ndone in 3 s\n" + pretty(2),
        line(1) + line(2) + b"\n",
    ],
    ids=["over many lines", "on one line", "without a line end", "between other output", "a line of two"],
)
def test_documents_may_follow_each_other(data: bytes) -> None:
    """As a console exporter prints them: none needs a line of its own."""
    batch = otlp.parse(data, "out.txt")
    assert ids(batch) == [1, 2]
    assert batch.complaints == []


def test_one_of_several_documents_that_does_not_end_costs_only_itself() -> None:
    """The complaint names the line on which it begins; one document that is cut is refused as a whole."""
    batch = otlp.parse(pretty(1) + b"\n" + pretty(2)[:60] + b"\n" + pretty(3), "out.txt")
    assert ids(batch) == [1, 3]
    begins = pretty(1).count(b"\n") + 2
    assert [str(complaint)[:24] for complaint in batch.complaints] == [f"out.txt:{begins}: found no JSON"[:24]]
    assert ids(otlp.parse(pretty(1)[:-9], "out.txt")) == []


def test_rows_of_a_data_frame_of_phoenix_are_spans() -> None:
    """Its client's columns are paths; what a span has not is null there."""
    row = {"context.trace_id": "1" * 32, "context.span_id": "1".rjust(16, "0"), "name": "x", "parent_id": None}
    row |= {
        "span_kind": "LLM",
        "start_time": "2026-05-01T10:00:00Z",
        "attributes.llm.model_name": "m",
        "attributes.a": None,
    }
    (span,) = otlp.parse(json.dumps([row]).encode(), "spans.json").spans
    assert span.attributes == {"llm.model_name": "m", "openinference.span.kind": "LLM"}
