"""`atifold serve` under load from several senders, and killed in the midst of it."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loading import SENDERS, TEXT, Load, load, resident_bytes
from serving import Server

from atifold import atif

linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
NARROW = ("--max-bytes", "8000000", "--retain", "1")
"""So that every bound is reached in the first seconds."""
GROWTH_BYTES = 12_000_000
"""Between two looks at a server that holds no more than before; it had 4 MB in two minutes, of 28,000 traces."""


def _trace_ids(documents: list[dict[str, Any]]) -> set[str]:
    """Return the traces of documents, each of which has to be whole, valid and right."""
    for document in documents:
        assert atif.check(document) == []
        assert [step["message"] for step in document["steps"]] == ["Say.", TEXT]
        assert "incomplete" not in document["extra"]["atifold"]
    return {trace_id for document in documents for trace_id in document["extra"]["atifold"]["trace_ids"]}


@linux
@pytest.mark.parametrize(
    "seconds",
    [pytest.param(10, marks=pytest.mark.integration), pytest.param(120, marks=pytest.mark.slow)],
)
def test_memory_stays_flat_under_a_sustained_load(seconds: int, serve: Callable[..., Server]) -> None:
    """Four senders without rest: after a third of the time memory grows no more, and each trace has its document."""
    server = serve(*NARROW)
    with load(server) as sent:
        time.sleep(seconds / 3)
        warm = resident_bytes(server.process.pid)
        time.sleep(seconds * 2 / 3)
        at_the_end = resident_bytes(server.process.pid)
    assert sent.errors == []
    assert min(len(ids) for ids in sent.taken.values()) > 10 * seconds
    assert at_the_end - warm < GROWTH_BYTES
    assert server.stop()[0] == 0
    documents = server.documents()
    assert len(documents) == len(sent.ids)
    assert _trace_ids(documents) == sent.ids


@pytest.mark.integration
def test_what_is_on_disk_is_whole_after_a_kill(serve: Callable[..., Server], tmp_path: Path) -> None:
    """-9 in the midst of a load, three times; the last server is sent what was not written before, and ends well."""
    taken: set[str] = set()
    for _ in range(3):
        server = serve()
        with load(server) as sent:
            time.sleep(1)
            assert server.stop(signal.SIGKILL)[0] == -signal.SIGKILL
        assert len(sent.errors) == len(SENDERS), "each was cut off"
        taken |= sent.ids
        _trace_ids(server.documents())
    server = serve()
    assert [path.name for path in server.out.iterdir() if path.suffix != ".json"] == []
    with load(server, pause_s=0.001) as sent:
        _until(sent, taken)
    assert server.stop()[0] == 0
    assert _trace_ids(server.documents()) == sent.ids | taken


def _until(sent: Load, wanted: set[str]) -> None:
    deadline = time.monotonic() + 60
    while not wanted <= sent.ids:
        assert time.monotonic() < deadline
        time.sleep(0.1)
