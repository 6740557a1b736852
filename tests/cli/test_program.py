"""The program as a whole: help, wrong usage, and being stopped from outside."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from atifold import __version__
from atifold.cli import main
from atifold.cli.words import Tally
from atifold.errors import InputError, OutputError

PROGRAM = (sys.executable, "-c", "from atifold.cli import main; main(prog_name='atifold')")
COMMANDS = ("demo", "replay", "fold", "check", "dialects", "serve", "runs")


def test_help_names_every_command_in_the_order_of_the_contract(run: Any) -> None:
    """A newcomer reads demo first."""
    text = run("--help").stdout
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert tuple(main.commands) == COMMANDS


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("demo", ["-o"]),
        ("replay", ["--otlp", "--spans", "-o", "--atif", "--capture-content", "--group", "--id-seed", "--report"]),
        ("fold", ["-o", "--atif", "--group", "--report"]),
        ("check", ["--json"]),
        (
            "serve",
            ["-o", "--host", "--port", "--grpc-port", "--group", "--atif", "--grace", "--token-file", "--tls-cert"],
        ),
    ],
)
def test_help_of_a_command_names_its_flags(run: Any, command: str, flags: list[str]) -> None:
    """The flags of the contract are there, and each has words."""
    result = run(command, "--help")
    assert result.exit_code == 0
    for flag in flags:
        assert flag in result.stdout
    options = {word for parameter in main.commands[command].params for word in parameter.opts if word.startswith("-")}
    assert set(flags) <= options


@pytest.mark.parametrize(
    "arguments", [[], ["nope"], ["fold"], ["replay"], ["check"], ["fold", "--nope", "x"], ["fold", "x", "--atif", "2"]]
)
def test_wrong_usage_is_exit_code_2(run: Any, arguments: list[str]) -> None:
    """Nothing is done, and stdout stays empty for whoever reads it."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr


@pytest.mark.parametrize("arguments", [[], ["runs"]])
def test_what_the_list_says_of_a_command_is_whole(run: Any, arguments: list[str]) -> None:
    """In eighty columns, as in a file; nothing ends in dots."""
    commands = run(*arguments, "--help").stdout.split("Commands:\n")[1]
    assert "..." not in commands


def test_help_of_serve_names_each_default(run: Any) -> None:
    """Also of the options that are settings, as these have them."""
    text = " ".join(run("serve", "--help").stdout.split())
    for option, default in (("grace", "2"), ("idle", "60"), ("retain", "300"), ("max-bytes", "64000000")):
        assert re.search(rf"--{option} [SN] [^-]*\[default: {default}\b", text), option


def test_help_and_version_answer_without_the_heavy_parts() -> None:
    """No SDK, no models, no terminal library are loaded to say how the program is used."""
    code = "import sys, atifold.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "opentelemetry.sdk", "rich"}.intersection(done.stdout.split())


@pytest.mark.parametrize("more", [[], ["--report", "-"]])
def test_a_reader_that_goes_away_is_no_error(trace: Any, tmp_path: Path, more: list[str]) -> None:
    """`atifold fold … | head`: not a word, not even from Python's own last flush; the code is that of SIGPIPE."""
    (tmp_path / "t.jsonl").write_bytes(b"".join(trace(number) for number in range(1, 50)))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as stdout:
        done = subprocess.run(
            [*PROGRAM, "fold", str(tmp_path / "t.jsonl"), *more],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, "")


def test_the_package_runs_as_a_module() -> None:
    """`python -m atifold` is the program, and importing the module runs nothing."""
    done = subprocess.run([sys.executable, "-m", "atifold", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["python", "-m", "atifold", __version__]
    quiet = subprocess.run([sys.executable, "-c", "import atifold.__main__"], capture_output=True, check=True)
    assert (quiet.stdout, quiet.stderr) == (b"", b"")


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_is_one_line(tmp_path: Path) -> None:
    """A program that waits for stdin is interrupted: no traceback, the shell's exit code."""
    with subprocess.Popen(
        [*PROGRAM, "check", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as started:
        assert started.stdin is not None
        started.stdin.write(b"{")
        started.stdin.flush()
        _wait_until_reading(started.pid)
        started.send_signal(signal.SIGINT)
        assert started.stderr is not None
        assert started.stderr.read().strip() == b"atifold: interrupted"
        assert started.wait() == 130


def _wait_until_reading(pid: int) -> None:
    """Return when the process sleeps in a read (Linux), or after a second elsewhere."""
    for _ in range(100):
        time.sleep(0.05)
        try:
            waits = Path(f"/proc/{pid}/wchan").read_text(encoding="ascii")
        except OSError:
            waits = ""
        if "pipe" in waits and "read" in waits:
            return


def test_closed_standard_streams_are_no_traceback(trace: Any, tmp_path: Path) -> None:
    """A service manager may start a program without stdin or stdout."""
    (tmp_path / "t.jsonl").write_bytes(trace())
    for redirection, code in (("<&-", 0), (">&-", 3)):
        done = subprocess.run(
            ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *PROGRAM, "fold", str(tmp_path / "t.jsonl")],
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("refused", "read", "failed", "written", "code"),
    [
        (0, 5, 0, 1, 0),
        (0, 0, 0, 0, 0),
        (1, 5, 0, 1, 1),
        (1, 0, 0, 0, 3),
        (0, 5, 1, 1, 1),
        (0, 5, 1, 0, 3),
    ],
)
def test_the_exit_code_tells_some_from_nothing(refused: int, read: int, failed: int, written: int, code: int) -> None:
    """0 all done, 1 some refused, 3 nothing read or nothing written."""
    tally = Tally()
    tally.refuse(InputError("f", "x", "y") for _ in range(refused))
    for _ in range(failed):
        tally.fail(OutputError("f", "x"))
    tally.wrote(written)
    assert tally.exit_code(read) == code


def test_an_error_is_one_line_whatever_a_file_is_called(run: Any) -> None:
    """Line breaks and escape sequences in a name do not reach the terminal."""
    result = run("check", "a\nb\x1b[31m.json")
    assert result.stderr.splitlines()[0].startswith("atifold: a b [31m.json: cannot be read")


@pytest.mark.skipif(os.name != "posix", reason="limits of a process are POSIX's")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [["demo"], ["fold", "t.jsonl"], ["fold", "t.jsonl", "--report", "-"], ["dialects"]])
def test_a_stdout_that_is_full_is_one_line(trace: Any, tmp_path: Path, command: list[str], unbuffered: str) -> None:
    """`atifold … > file` on a full disk: no traceback, not even from Python's own last flush; exit 3."""
    (tmp_path / "t.jsonl").write_bytes(b"".join(trace(number) for number in range(1, 9)))
    limited = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (64, 64))"
    code = f"{limited}; from atifold.cli import main; main(prog_name='atifold')"
    with (tmp_path / "stdout").open("wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-B", "-c", code, *command],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.stderr.count("atifold: stdout: cannot be written: File too large") == 1
