"""Where output goes: files of every kind, stdout, and names that are none."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parents[2] / "src" / "atifold" / "data" / "demo.jsonl"


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """Return a named pipe in the folder where commands run, and the descriptor that reads it."""
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, reader
    os.close(reader)


@pytest.mark.parametrize("option", ["--report", "-o"])
def test_a_pipe_is_written_to_and_stays_a_pipe(run: Any, trace: Any, fifo: tuple[Path, int], option: str) -> None:
    """Whoever reads it gets the JSON; a device is the same case."""
    path, reader = fifo
    result = run("fold", "-", option, path, stdin=trace())
    assert result.exit_code == 0
    assert json.loads(os.read(reader, 1 << 16))
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_spans_go_into_a_pipe_too(run: Any, fifo: tuple[Path, int]) -> None:
    """Recorded here: the demo's, whose structure fits into the buffer of a pipe."""
    path, reader = fifo
    assert run("replay", DEMO, "--spans", path).exit_code == 0
    assert os.read(reader, 1 << 16).startswith(b'{"resourceSpans":')
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed_and_stays_a_link(run: Any, trace: Any, tmp_path: Path, exists: bool) -> None:
    """The file that it points to holds the report, whether it was there before or not."""
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    if exists:
        target.write_text("x" * 100_000, encoding="utf-8")
    link.symlink_to(target)
    assert run("fold", "-", "--report", link, "-o", "out", stdin=trace()).exit_code == 0
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["totals"]["documents"] == 1


def test_the_file_of_a_document_may_be_a_link(run: Any, trace: Any, tmp_path: Path) -> None:
    """As for a report: what was put there stays, and its target holds the document."""
    run("fold", "-", "-o", "out", stdin=trace())
    (file,) = (tmp_path / "out").iterdir()
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    assert run("fold", "-", "-o", "out", "--atif", "1.8", stdin=trace()).exit_code == 0
    assert file.is_symlink()
    assert json.loads((tmp_path / "elsewhere.json").read_bytes())["schema_version"] == "ATIF-v1.8"


@pytest.mark.parametrize("place", [".", "..", "/"])
def test_a_folder_in_place_of_a_report_is_one_line(run: Any, trace: Any, place: str) -> None:
    """Also where its path has no last part that could be a file's name."""
    result = run("fold", "-", "-o", "out", "--report", place, stdin=trace())
    assert result.exit_code == 1
    assert result.stderr.startswith(f"atifold: {place}: cannot be written: Is a directory\n")


def test_spans_on_stdout_stand_there_alone(run: Any, tmp_path: Path) -> None:
    """`--spans -` is OTLP JSON Lines; documents go to -o, or are not written, which is said."""
    result = run("replay", DEMO, "--spans", "-", "--capture-content")
    assert result.exit_code == 0
    assert all(json.loads(line)["resourceSpans"] for line in result.stdout.splitlines())
    assert "none written (-o DIR writes them)" in result.stderr
    piped = run("fold", "-", stdin=result.stdout_bytes)
    assert (piped.exit_code, piped.stdout) == (0, run("replay", DEMO).stdout)
    assert run("replay", DEMO, "--spans", "-", "-o", "out").stdout == run("replay", DEMO, "--spans", "-").stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_reader_of_spans_may_leave(tmp_path: Path) -> None:
    """As for documents: nothing is said, and the code is that of a closed pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    code = "from atifold.cli import main; main(prog_name='atifold')"
    command = [sys.executable, "-c", code, "replay", str(DEMO), "--spans", "-"]
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path, check=False, timeout=60)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    "options", [("-o", "-", "--spans", "-"), ("--report", "-", "--spans", "-"), ("-o", "-", "--report", "-")]
)
def test_one_thing_only_goes_to_stdout(run: Any, options: tuple[str, ...]) -> None:
    """Nobody could tell two apart: wrong usage, which names both."""
    result = run("replay", DEMO, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{options[0]} - and {options[2]} - both want stdout: one of them needs a file" in result.stderr


def test_the_help_says_what_a_dash_does(run: Any) -> None:
    """Each option that takes one shows it."""
    words = " ".join(run("replay", "--help").stdout.split())
    for option in ("--spans FILE.jsonl|-", "--report FILE|-", "--output DIR|FILE.jsonl|-"):
        assert option in words


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("fold", "-o"),
        ("fold", "--report"),
        ("replay", "-o"),
        ("replay", "--report"),
        ("replay", "--spans"),
        ("replay", "--otlp"),
        ("demo", "-o"),
    ],
)
def test_an_empty_name_is_wrong_usage(run: Any, tmp_path: Path, command: str, option: str) -> None:
    """A variable that the shell found empty: said in one line, and nothing is done."""
    result = run(command, *(() if command == "demo" else (DEMO,)), option, "")
    assert (result.exit_code, result.stdout) == (2, "")
    *_, error = result.stderr.splitlines()
    assert error.startswith("Error: Invalid value for")
    assert "'':" in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["fold", "replay", "check"])
@pytest.mark.parametrize("place", ["file", "stdin"])
def test_a_byte_order_mark_is_no_part_of_the_text(
    run: Any, trace: Any, tmp_path: Path, command: str, place: str
) -> None:
    """Editors of Windows put it there: nothing is lost, nothing is said."""
    plain = {"fold": trace(), "replay": DEMO.read_bytes(), "check": run("fold", "-", stdin=trace()).stdout_bytes}
    marked = b"\xef\xbb\xbf" + plain[command]
    (tmp_path / "bom.jsonl").write_bytes(marked)
    with_mark = run(command, "bom.jsonl" if place == "file" else "-", stdin=marked)
    without = run(command, "-", stdin=plain[command])
    assert (with_mark.exit_code, with_mark.output) == (0, without.output)


@pytest.mark.parametrize("command", ["fold", "replay", "demo"])
def test_a_file_in_the_place_of_the_folder_is_wrong_usage(run: Any, tmp_path: Path, command: str) -> None:
    """It is said before anything is read, with what was wanted; the file stays as it is."""
    (tmp_path / "there").write_text("mine", encoding="utf-8")
    inputs = [] if command == "demo" else [DEMO]
    result = run(command, *inputs, "-o", "there")
    assert result.exit_code == 2
    assert "'there' is a file: a folder" in result.stderr
    assert (tmp_path / "there").read_text(encoding="utf-8") == "mine"
