"""What the tests of the command line share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atifold.cli import main
from atifold.otlp import encode_lines
from atifold.spans import Kind, Span

Run = Callable[..., Result]
Program = Callable[..., "subprocess.CompletedProcess[bytes]"]
PROGRAM = (sys.executable, "-c", "from atifold.cli import main; main(prog_name='atifold')")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command in this process, in an empty folder, stdin as bytes.

    An exception that reaches the top fails the test: a user would see a traceback.
    """
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, stdin: bytes = b"") -> Result:
        result = CliRunner().invoke(main, [str(a) for a in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Return a function that runs a command as a program of its own, in an empty folder."""

    def call(*arguments: object, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
            check=False,
            timeout=60,
        )

    return call


def _span(number: int, trace: int, parent: int | None, name: str, **attributes: object) -> Span:
    start_ns = 1_767_225_600_000_000_000 + number * 1_000_000_000
    return Span(
        f"{trace:032x}",
        f"{trace * 100 + number:016x}",
        None if parent is None else f"{trace * 100 + parent:016x}",
        name,
        start_ns,
        start_ns + 500_000_000,
        kind=Kind.INTERNAL,
        attributes={"gen_ai.operation.name": name.split(maxsplit=1)[0], **attributes},
        scope_name="atifold",
    )


def _text(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


@pytest.fixture
def trace() -> Callable[..., bytes]:
    """Return a function that makes a trace of one agent with one model call, as OTLP JSON Lines."""

    def make(number: int = 1, *, content: bool = True) -> bytes:
        said = {"gen_ai.input.messages": _text("user", "ping"), "gen_ai.output.messages": _text("assistant", "pong")}
        agent = _span(0, number, None, "invoke_agent echo", **{"gen_ai.agent.name": "echo"})
        chat = _span(
            1,
            number,
            0,
            "chat mock",
            **{
                "gen_ai.request.model": "mock",
                "gen_ai.usage.input_tokens": 3,
                "gen_ai.usage.output_tokens": 2,
                **(said if content else {}),
            },
        )
        return encode_lines([agent, chat])

    return make
