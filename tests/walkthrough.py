"""Do what an example's README says: its commands, word by word, in a copy of its folder, on free ports."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from backends.running import free_ports, wait_for

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TIMEOUT_S = 120

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+|(?<=--port )\d+|(?<=_PORT=)\d+")


def commands(readme: str) -> dict[str, list[str]]:
    """Return the blocks of shell below each second heading: each of `Start` goes into a terminal of its own."""
    parts = _HEADING.split(readme)[1:]
    return {heading: _BLOCK.findall(text) for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def ports(folder: Path) -> list[str]:
    """Return the ports that an example's files name, each once."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()) if path.is_file()]
    return sorted({port for text in texts for port in _PORT.findall(text)})


class Walk(NamedTuple):
    """A copy of an example's folder, its commands, and the ports by what they are called in the original."""

    folder: Path
    commands: Mapping[str, list[str]]
    ports: Mapping[str, int]
    environment: Mapping[str, str]

    def run(self, block: str) -> str:
        """Run a block of shell; return what it prints. It has to end well."""
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", block],
            cwd=self.folder,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout

    def all_of(self, heading: str) -> str:
        """Run all blocks below a heading; return what they print."""
        return "".join(map(self.run, self.commands[heading]))

    def look(self, found: Callable[[str], bool]) -> str:
        """Run the commands below `Look` until `found` says that what they print is there, and return that."""
        last = ""

        def is_there() -> bool:
            nonlocal last
            try:
                last = self.all_of("Look")
                return found(last)
            except AssertionError as error:  # a file that is not there yet
                last = str(error)
            except (LookupError, ValueError):  # words in the place of an answer, which `last` has
                pass
            return False

        wait_for(is_there, f"what `Look` of {self.folder.name} shows", lambda: last)
        return last

    def started(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start each block below `Start` as a group of processes of its own, whose shell ends last."""
        for number, block in enumerate(self.commands["Start"]):
            with (self.folder / f"log-{number}").open("wb") as log:
                yield subprocess.Popen(
                    ["/bin/sh", "-e", "-c", f"trap : TERM\n{block}"],
                    cwd=self.folder,
                    env=dict(self.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )

    def logs(self) -> str:
        """Return the ends of what the started programs said."""
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in sorted(self.folder.glob("log-*")))


@contextmanager
def walk(
    name: str, folder: Path, *, programs: Mapping[str, Path] | None = None, given: Mapping[str, int] | None = None
) -> Iterator[Walk]:
    """Copy an example into a folder, start what its README starts, and stop it at the end.

    `programs` are those of its commands that are called otherwise here or are not on PATH; `given` are
    ports at which something listens already. Every other port is exchanged for a free one.
    """
    target = folder / name
    shutil.copytree(EXAMPLES / name, target, ignore=shutil.ignore_patterns("__pycache__"))
    named = ports(target)
    exchanged = {**dict(zip(named, free_ports(len(named)), strict=True)), **(given or {})}
    for path in target.iterdir():
        path.write_text(_exchanged(path.read_text(encoding="utf-8"), exchanged), encoding="utf-8")
    its = commands((target / "README.md").read_text(encoding="utf-8"))
    walking = Walk(target, its, exchanged, _environment(folder / "bin", programs or {}))
    with ExitStack() as stack:
        if "Start" in its:
            processes = list(walking.started())
            for process in processes:
                stack.callback(_stop, process)
            wait_for(lambda: _all_up(processes, walking), f"{name} to listen on {exchanged}", walking.logs)
        yield walking


def _exchanged(text: str, exchanged: Mapping[str, int]) -> str:
    return re.sub(r"(?<![\d.])\d{4,5}(?!\d)", lambda found: str(exchanged.get(found[0], found[0])), text)


def _environment(shims: Path, programs: Mapping[str, Path]) -> dict[str, str]:
    shims.mkdir()
    for name, program in programs.items():
        shims.joinpath(name).symlink_to(program)
    path = (str(shims), str(Path(sys.executable).parent), os.environ["PATH"])
    return {**os.environ, "PATH": os.pathsep.join(path), "NO_PROXY": "*", "no_proxy": "*"}


def _all_up(processes: Iterable[subprocess.Popen[bytes]], walking: Walk) -> bool:
    for process in processes:
        if process.poll() is not None:
            pytest.fail(f"one of its programs ended with {process.returncode}: {walking.logs()}")
    return all(map(_listens, walking.ports.values()))


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a group of processes that we started; one that does not go when asked is killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
