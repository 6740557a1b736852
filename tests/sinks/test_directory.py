"""A folder with one file a document."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from atifold.errors import OutputError
from atifold.filename import file_stem
from atifold.sinks import DirectorySink


@dataclass(frozen=True)
class Document:
    """A document as sinks see it."""

    name: str
    trajectory: dict[str, Any] = field(default_factory=lambda: {"schema_version": "ATIF-v1.7", "steps": []})
    files: dict[str, bytes] = field(default_factory=dict)


def test_nothing_is_touched_before_the_first_document(tmp_path: Path) -> None:
    """A program that traces no agent leaves no folder."""
    sink = DirectorySink(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    assert sink.write(Document("one")) == tmp_path / "a" / "b" / "one.json"


def test_the_same_name_again_replaces_the_file(tmp_path: Path) -> None:
    """One file a document, the newest, and no other file beside it."""
    sink = DirectorySink(tmp_path)
    sink.write(Document("one", {"n": 1}))
    path = sink.write(Document("one", {"n": 2, "s": "é\ud800"}))
    assert json.loads(path.read_bytes()) == {"n": 2, "s": "é\ufffd"}
    assert [file.name for file in tmp_path.iterdir()] == ["one.json"]


def test_a_place_that_is_no_folder_is_one_clear_line(tmp_path: Path) -> None:
    """The error names the path and the reason."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError) as caught:
        DirectorySink(tmp_path / "file").write(Document("one"))
    assert str(caught.value) == f"{tmp_path / 'file' / 'one.json'}: cannot be written: File exists"


def test_a_failed_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    """Here a folder stands where the file should be."""
    (tmp_path / "one.json").mkdir()
    with pytest.raises(OutputError, match="Is a directory"):
        DirectorySink(tmp_path).write(Document("one"))
    assert [file.name for file in tmp_path.iterdir()] == ["one.json"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_an_output_error_and_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old document stays whole."""
    sink = DirectorySink(tmp_path)
    path = sink.write(Document("one", {"n": 1}))
    temporary = tmp_path / f".one.{os.getpid()}-{threading.get_ident()}.tmp"
    temporary.symlink_to("/dev/full")
    with pytest.raises(OutputError, match="No space left on device"):
        sink.write(Document("one", {"n": 2}))
    assert json.loads(path.read_bytes()) == {"n": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["one.json"]


def test_a_document_can_be_taken_back(tmp_path: Path) -> None:
    """Twice is no error."""
    sink = DirectorySink(tmp_path)
    path = sink.write(Document("one"))
    sink.discard("one")
    sink.discard("one")
    assert not path.exists()


def test_what_cannot_be_taken_back_is_an_output_error(tmp_path: Path) -> None:
    """A folder of that name is not removed."""
    (tmp_path / "one.json").mkdir()
    with pytest.raises(OutputError):
        DirectorySink(tmp_path).discard("one")


def test_a_name_of_a_fold_is_the_file_s_stem(tmp_path: Path) -> None:
    """Whatever a run is called, the document's name is made so that no sink changes it."""
    for name in ("run-1", "a/b", "x" * 150, ".hidden"):
        stem = file_stem(name)
        assert DirectorySink(tmp_path).write(Document(stem)) == tmp_path / f"{stem}.json"


def test_any_other_name_becomes_a_file_in_the_folder(tmp_path: Path) -> None:
    """A fold of somebody else's may call its documents as it likes."""
    path = DirectorySink(tmp_path).write(Document("../a:b"))
    assert path.parent == tmp_path
    assert path.exists()


def test_readers_never_see_half_a_document(tmp_path: Path) -> None:
    """While two threads write one name, every read is a whole document."""
    sink = DirectorySink(tmp_path)
    path = sink.write(Document("one", {"n": "x" * 100_000}))
    writers = [
        threading.Thread(target=lambda: [sink.write(Document("one", {"n": "y" * 100_000})) for _ in range(50)])
        for _ in range(2)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert len(json.loads(path.read_bytes())["n"]) == 100_000
    assert [file.name for file in tmp_path.iterdir()] == ["one.json"]
