"""A disk that is full: documents wait within their bound, are written once there is room, and else are counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from serving import Server

from atifold import atif

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform != "linux", reason="mount and prlimit of Linux")]

resource: Any = pytest.importorskip("resource", reason="this system has no limits of resources")
DISK_BYTES = 1_000_000


@dataclass
class Disk:
    """A folder whose room a test takes away and gives back; both calls take the id of the process that writes."""

    out: Path
    fill: Callable[[int], None]
    empty: Callable[[int], None]


def _mounted(folder: Path) -> Iterator[Disk]:
    """Mount a small file system in memory, and fill it with a file."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here: root alone may")
    ballast = folder / "ballast"

    def fill(_: int) -> None:
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass
        assert os.statvfs(folder).f_bavail == 0

    try:
        yield Disk(folder / "out", fill, lambda _: ballast.unlink())
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _limited(folder: Path) -> Iterator[Disk]:
    """Have the system refuse the process every file of more than 1,000 bytes (EFBIG)."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(to: int) -> Callable[[int], None]:
        return lambda pid: resource.prlimit(pid, resource.RLIMIT_FSIZE, (to, hard)) and None

    yield Disk(folder / "out", limit(1_000), limit(hard))


@pytest.fixture(params=[_mounted, _limited], ids=["tmpfs", "rlimit"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """Return a disk that can be filled."""
    yield from request.param(tmp_path / "disk")


def _documents(folder: Path) -> list[dict[str, Any]]:
    """Return the documents of a folder in which nothing else is, each whole and valid."""
    names = [path.name for path in folder.iterdir()]
    assert [name for name in names if not name.endswith(".json")] == []
    found = [json.loads((folder / name).read_bytes()) for name in names]
    assert [document for document in found if atif.check(document)] == []
    return found


def _asked(documents: list[dict[str, Any]]) -> list[int]:
    return sorted(int(document["steps"][0]["message"]) for document in documents)


def _tell(process: subprocess.Popen[str], line: str = "") -> dict[str, int]:
    """Have the program take a turn, or none, and flush; return what it counts then."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    found: dict[str, int] = json.loads(process.stdout.readline())
    return found


def test_documents_wait_for_room_and_are_written_then(disk: Disk, start: Callable[..., Any]) -> None:
    """Three turns before, three while it is full, one afterwards: each has its document, none is half there."""
    process = start("filling.py", ATIFOLD_DIR=str(disk.out))
    for turn in range(3):
        assert _tell(process, str(turn))["written"]
    disk.fill(process.pid)
    for turn in range(3, 6):
        counts = _tell(process, str(turn))
        assert not counts["written"]
        assert counts["sink_errors"] >= 1
    assert _asked(_documents(disk.out)) == [0, 1, 2]
    disk.empty(process.pid)
    counts = _tell(process, "6")
    assert (counts["written"], counts["documents_written"], counts.get("documents_lost")) == (True, 7, None)
    output, words = process.communicate(timeout=60)
    assert (process.returncode, words.count("tried again later"), "Traceback" in words) == (0, 1, False)
    assert _asked(_documents(disk.out)) == list(range(7))
    assert json.loads(output)["documents_written"] == 7


def test_what_passes_the_bound_is_counted_and_the_rest_is_written(disk: Disk, start: Callable[..., Any]) -> None:
    """Unsaved documents may hold an eighth of `max_bytes`, here 125 KB: the oldest of twelve are lost, by number."""
    process = start("filling.py", ATIFOLD_DIR=str(disk.out), ATIFOLD_MAX_BYTES="1000000")
    _tell(process, "0")
    disk.fill(process.pid)
    for turn in range(1, 13):
        counts = _tell(process, str(turn))
    lost = counts["documents_lost"]
    assert 0 < lost < 12
    disk.empty(process.pid)
    assert _tell(process)["written"]
    _, words = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in words) == (0, False)
    assert _asked(_documents(disk.out)) == [0, *range(1 + lost, 13)]


def test_what_never_finds_room_is_counted_at_the_end(disk: Disk, start: Callable[..., Any]) -> None:
    """The program ends well; its log says how many documents were lost, and nothing half-written is there."""
    process = start("filling.py", ATIFOLD_DIR=str(disk.out))
    _tell(process, "0")
    disk.fill(process.pid)
    _tell(process, "1")
    _tell(process, "2")
    output, words = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in words) == (0, False)
    assert json.loads(output)["documents_lost"] == 2
    assert "documents_lost" in words
    assert _asked(_documents(disk.out)) == [0]


def _request(number: int) -> bytes:
    """Return a request of one agent's turn, 20 KB."""
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "x" * 20_000}]}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": str(number)}]}]
    facts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(said),
    }
    span = {
        "traceId": f"{number + 1:032x}",
        "spanId": f"{number + 1:016x}",
        "name": "chat gpt-4o",
        "startTimeUnixNano": "1800000000000000000",
        "endTimeUnixNano": "1800000001000000000",
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in facts.items()],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def test_a_server_on_a_full_disk_refuses_what_it_could_not_hold(disk: Disk, serve: Callable[..., Server]) -> None:
    """What it took it writes once there is room; what it refused comes again, with 429 and the time to wait."""
    server = serve("--max-bytes", "2000000", "--grace", "0", out=str(disk.out))
    pid = server.process.pid

    def send(number: int) -> int:
        return server.ask("/v1/traces", _request(number), Content_Type="application/json")[0]

    assert send(0) == 200
    server.wait_for(bool)
    disk.fill(pid)
    taken, deadline = 1, time.monotonic() + 30
    while (status := send(taken)) == 200:
        taken += 1
        assert time.monotonic() < deadline, "it goes on taking"
        time.sleep(0.02)
    assert status == 429
    assert 2 < taken < 20
    assert len(_documents(disk.out)) == 1
    disk.empty(pid)
    server.wait_for(lambda found: len(found) == taken)
    assert send(taken) == 200
    server.wait_for(lambda found: len(found) == taken + 1)
    code, words = server.stop()
    assert (code, words.count("tried again later")) == (0, 1)
    assert _asked(server.documents()) == list(range(taken + 1))
