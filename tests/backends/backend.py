"""Say what a test needs to know of a server: where to send, and the ways of reading back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from backends.facts import Facts
from backends.running import wait_for
from backends.sending import Protocol


class View(NamedTuple):
    """One way in which a server gives traces back.

    `facts` takes a trace id and returns its spans as this way tells them. `files` takes trace ids and a
    folder, and returns files with these traces (and perhaps others) in the server's own format. `logs`
    returns the files of log records, of a server that keeps any.
    """

    facts: Callable[[str], list[Facts]]
    files: Callable[[Iterable[str], Path], list[Path]]
    logs: Callable[[], list[Path]] = list


@dataclass(frozen=True)
class Backend:
    """A running server: base URLs by protocol, its views by name, and what its requests need besides."""

    urls: Mapping[str, str]
    views: Mapping[str, View]
    seen: Callable[[str], int]
    """Takes a trace id; the spans that can be read back so far."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def url(self, protocol: Protocol) -> str:
        """Return where a protocol is spoken."""
        return self.urls[protocol.name]

    def wait(self, traces: Mapping[str, int]) -> None:
        """Wait until each trace has as many spans as it is said to have."""
        for trace_id, count in traces.items():

            def found(trace_id: str = trace_id, count: int = count) -> bool:
                return self.seen(trace_id) >= count

            def words(trace_id: str = trace_id) -> str:
                return f"{self.seen(trace_id)} are there"

            wait_for(found, f"{count} spans of trace {trace_id}", words)


def one_file_each(read: Callable[[str], bytes], ending: str) -> Callable[[Iterable[str], Path], list[Path]]:
    """Return a writer of one file a trace, of what `read` gives for its id."""

    def write(trace_ids: Iterable[str], folder: Path) -> list[Path]:
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{trace_id}{ending}" for trace_id in trace_ids]
        for file in files:
            file.write_bytes(read(file.name.removesuffix(ending)))
        return files

    return write
