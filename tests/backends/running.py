"""Start the real servers that `make servers` built, wait until they are ready, and stop them."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

BUILD = Path(__file__).resolve().parents[2] / "scripts" / "build-servers"
PATIENCE_S = 240
"""How long a server may take to start, and to show what it was sent, on a busy machine."""

T = TypeVar("T")


def program(name: str) -> Path:
    """Return the program of a server, or skip the test where nobody built it."""
    where = subprocess.run([BUILD, "--where", name], capture_output=True, text=True, check=True)
    found = Path(where.stdout.strip())
    if not found.with_name("..").joinpath("ready").exists():
        pytest.skip(f"no {name} of the pinned version is here: `make servers ARGS={name}` builds it")
    return found


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nobody listens on, all of them different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def running(
    command: Sequence[str | Path],
    folder: Path,
    ready: str,
    environment: Mapping[str, str] | None = None,
    *,
    answers: int = 200,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in a folder while the block lasts; it is ready when the URL `ready` answers as said.

    What it says goes to `log` in the folder, and stands in the error where it does not start.
    """
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **(environment or {})},
        )
    try:
        wait_for(lambda: _is_up(process, ready, answers), f"{command[0]} to answer", lambda: _tail(folder / "log"))
        yield process
    finally:
        stop(process)


def _is_up(process: subprocess.Popen[bytes], url: str, answers: int) -> bool:
    if process.poll() is not None:
        pytest.fail(f"{process.args!r} ended with {process.returncode}")
    try:
        return status_of(url) == answers
    except OSError:
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server; one that does not go when asked is killed."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_for(found: Callable[[], T], what: str, more: Callable[[], object] = str, seconds: float = PATIENCE_S) -> T:
    """Return the first true value of `found`; fails, with what `more` says, where none comes in time."""
    deadline = time.monotonic() + seconds
    while True:
        value = found()
        if value:
            return value
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} s for {what}: {more()}")
        time.sleep(0.1)


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]


_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str) -> bytes:
    """Return the body of an answer; raises OSError where the server refuses or is not there."""
    with _direct.open(url, timeout=30) as answer:
        return bytes(answer.read())


def status_of(url: str) -> int:
    """Return the status of an answer, whatever it is; raises OSError where nobody answers."""
    try:
        with _direct.open(url, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Send a body and return the status of the answer, whatever it is."""
    request = urllib.request.Request(url, body, {**headers}, method="POST")  # noqa: S310 - a server on loopback
    try:
        with _direct.open(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
