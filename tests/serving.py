"""Run `atifold serve` as a process of its own, and look at what it writes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_S = 60
CARRIED = ".atifold-serve.jsonl"
PROGRAM = (sys.executable, "-c", "from atifold.cli import main; main(prog_name='atifold')")
LISTENING = re.compile(r"listening on (\S+) \(HTTP\)(?: and (\S+) \(gRPC\))?; trajectories go to (\S+)\n")


@dataclass
class Server:
    """A running `atifold serve`."""

    process: subprocess.Popen[str]
    http: str
    grpc: str
    out: Path

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and what was said since it listens.

        Unless it was killed, nothing but documents, and what it hands on, is in its folder then.
        """
        self.process.send_signal(number)
        _, words = self.process.communicate(timeout=TIMEOUT_S)
        if self.process.returncode >= 0 and self.out.is_dir():
            assert {file.name for file in self.out.iterdir() if file.suffix != ".json"} <= {CARRIED}
        return self.process.returncode, words

    def documents(self) -> list[dict[str, Any]]:
        """Return the documents that are there, and be sure that nothing else is, but for what is being written."""
        files = sorted(self.out.iterdir()) if self.out.is_dir() else []
        assert {file.name for file in files if file.suffix not in (".json", ".tmp")} <= {CARRIED}
        found = []
        for file in files:
            # one that became part of another document may go at any moment
            with suppress(FileNotFoundError):
                found += [json.loads(file.read_bytes())] if file.suffix == ".json" else []
        return found

    def wait_for(self, wanted: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """Return the documents as soon as they are what is wanted."""
        end = time.monotonic() + TIMEOUT_S
        while not wanted(found := self.documents()):
            assert time.monotonic() < end, found
            time.sleep(0.02)
        return found

    def ask(self, path: str, data: bytes | None = None, **headers: str) -> tuple[int, str]:
        """Send one request over HTTP; return the status and the body."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.http + path, data, named)  # noqa: S310 - loopback
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 - the same
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def figure(self, name: str) -> int:
        """Return one of its figures, by the name and labels that it has at `/metrics`; 0 where it is not there."""
        lines = self.ask("/metrics")[1].splitlines()
        return next((int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name} ")), 0)


Start = Callable[..., Server]


@contextmanager
def servers(folder: Path) -> Iterator[Start]:
    """Give what starts servers on free ports, their documents in `out`; at the end none is left running."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, out: str = "out", **environment: str) -> Server:
        process = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0", "--grpc-port", "0", "-o", out, "--grace", "0.1", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, **environment},
        )
        started.append(process)
        assert process.stderr is not None
        line = process.stderr.readline()
        found = LISTENING.fullmatch(line)
        assert found is not None, line + process.stderr.read()
        return Server(process, found[1], found[2] or "", folder / out)

    try:
        yield begin
    finally:
        for process in started:
            process.kill()
            process.communicate()
