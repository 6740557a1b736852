"""One document a line."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from atifold.errors import OutputError
from atifold.sinks import JsonLinesSink


@dataclass(frozen=True)
class Document:
    """A document as sinks see it."""

    name: str
    trajectory: dict[str, Any] = field(default_factory=dict)


def test_each_document_is_a_line(tmp_path: Path) -> None:
    """A line break inside a text does not break it, and what was in the file before is gone."""
    path = tmp_path / "new" / "out.jsonl"
    path.parent.mkdir()
    path.write_text("old\n")
    sink = JsonLinesSink(path)
    assert sink.write(Document("one", {"text": "a\nb"})) == path
    sink.write(Document("two", {"text": "é"}))
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == [{"text": "a\nb"}, {"text": "é"}]
    sink.close()
    sink.write(Document("three"))
    sink.close()
    assert len(path.read_bytes().splitlines()) == 3, "a closed sink that is used again goes on"


def test_a_file_can_be_appended_to(tmp_path: Path) -> None:
    """Also one that is not there yet."""
    path = tmp_path / "out.jsonl"
    for n in range(2):
        sink = JsonLinesSink(path, append=True)
        sink.write(Document("one", {"n": n}))
        sink.close()
    assert path.read_text() == '{"n":0}\n{"n":1}\n'


def test_a_stream_is_written_and_left_open() -> None:
    """It is its owner's to close."""
    stream = io.BytesIO()
    sink = JsonLinesSink(stream)
    assert sink.write(Document("one", {"n": 1})) is None
    sink.discard("one")
    sink.close()
    assert stream.getvalue() == b'{"n":1}\n'


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_place_that_takes_nothing_is_an_output_error() -> None:
    """The line names it and the reason."""
    with Path("/dev/full").open("wb", buffering=0) as stream, pytest.raises(OutputError) as caught:
        JsonLinesSink(stream).write(Document("one"))
    assert str(caught.value) == "/dev/full: cannot be written: No space left on device"


def test_a_path_that_is_a_folder_is_an_output_error(tmp_path: Path) -> None:
    """Nothing is opened."""
    with pytest.raises(OutputError, match="Is a directory"):
        JsonLinesSink(tmp_path).write(Document("one"))
