"""Read recordings of agent events: what the bus writes and what the producer's own sinks write.

Recognised by content: JSON Lines of events (also the NDJSON of a file sink), the recorder's
`{snapshot, events, structure}`, and the envelope `agentfootprint.recording.v1` around it.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from atifold.errors import InputError
from atifold.events.envelope import Event, NotAnEventError, parse
from atifold.jsontext import from_json, to_json

WANTED = "wanted a recording: events as JSON Lines, or a recorder's JSON"
_GZIP = b"\x1f\x8b"
_RANKS = {
    "agent.run_configured": 0,
    "composition.enter": 1,
    "agent.turn_start": 2,
    "composition.iteration_start": 3,
    "agent.iteration_start": 4,
    "stream.llm_start": 5,
    "stream.token": 6,
    "stream.thinking_delta": 6,
    "stream.llm_end": 8,
    "stream.thinking_end": 9,
    "cost.tick": 10,
    "agent.route_decided": 12,
    "stream.tool_start": 13,
    "stream.tool_end": 15,
    "agent.iteration_end": 16,
    "agent.turn_end": 18,
    "composition.iteration_exit": 19,
    "composition.exit": 20,
}
"""Start before end: the order of events that one stage emits in one millisecond."""

_BETWEEN = 14  # of every other event: inside the bracket of a tool, after that of a model call
_FIRST, _LAST = -1, 1 << 60


class Recording:
    """The events of one file, in the file's order.

    Iterating reads the file anew. A line that is no event costs only itself: it is in `complaints`,
    with its line number. `repeated` counts lines that stand in the file more than once; a repeated
    line is one event.
    """

    def __init__(self, path: str | Path, *, stdin: BinaryIO | None = None, seen: set[bytes] | None = None) -> None:
        """Take the file's path; `-` reads `stdin`. Nothing is read yet.

        Files that are read as one set share `seen`, the lines that stood in one of them already.
        """
        self.path = str(path)
        self.complaints: list[InputError] = []
        self.repeated = 0
        self._stdin = stdin
        self._seen = seen

    def __iter__(self) -> Iterator[Event]:
        """Yield the events; raises InputError where the file cannot be read or holds no recording."""
        self.complaints, self.repeated = [], 0
        data = self._data()
        whole = self._whole(data)
        seen = set() if self._seen is None else self._seen
        yield from self._lines(data, seen) if whole is None else self._list(whole, seen)

    def _data(self) -> bytes:
        try:
            data = self._stdin.read() if self.path == "-" and self._stdin is not None else Path(self.path).read_bytes()
            return gzip.decompress(data) if data.startswith(_GZIP) else data
        except (OSError, EOFError) as error:
            raise InputError(self.path, _reason(error), "wanted a readable file") from error

    def _whole(self, data: bytes) -> list[Any] | None:
        """Return the events of a recorder's JSON document; None where the file is JSON Lines."""
        if not data.strip():
            raise InputError(self.path, "found an empty file", WANTED)
        first = data.lstrip().split(b"\n", 1)[0]
        try:
            if isinstance(from_json(first), dict) and b'"events"' not in first:
                return None
        except ValueError:
            pass
        try:
            value = from_json(data)
        except ValueError:
            return None
        recording = value.get("recording", value) if isinstance(value, dict) else value
        events = recording.get("events") if isinstance(recording, dict) else recording
        if isinstance(events, list):
            return events
        if isinstance(value, dict) and "type" in value:
            return [value]
        raise InputError(self.path, "found JSON that holds no events", WANTED)

    def _list(self, values: list[Any], seen: set[bytes]) -> Iterator[Event]:
        for number, value in enumerate(values, 1):
            if self._repeats(to_json(value), seen):
                continue
            try:
                yield parse(value)
            except NotAnEventError as error:
                self.complaints.append(InputError(self.path, f"event {number}: {error.found}", error.wanted))

    def _repeats(self, text: bytes, seen: set[bytes]) -> bool:
        if text in seen:
            self.repeated += 1
            return True
        seen.add(text)
        return False

    def _lines(self, data: bytes, seen: set[bytes]) -> Iterator[Event]:
        for number, line in enumerate(data.split(b"\n"), 1):
            text = line.strip()
            if not text or self._repeats(text, seen):
                continue
            try:
                yield parse(from_json(text))
            except NotAnEventError as error:
                self.complaints.append(InputError(self.path, error.found, error.wanted, line=number))
            except ValueError:
                self.complaints.append(InputError(self.path, "found no JSON", "wanted one event a line", line=number))


def _reason(error: OSError | EOFError) -> str:
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def in_order(events: list[Event]) -> list[Event]:
    """Return events by time; those of one millisecond by stage, and within a stage start before end.

    The producer's lines of one millisecond have no order of their own: (time, the `#` index of the
    stage, start before end) restores it. Consumers' events (`pause.resume`) have no stage index: a
    resume comes first, others after the stages; `integrity.disposition` is a run's last.
    """
    return sorted(events, key=_place)


def _place(event: Event) -> tuple[int, int, int]:
    name = event.type.removeprefix("agentfootprint.")
    if name == "integrity.disposition":
        return event.meta.time_ns, _LAST, 0
    if name == "pause.resume":
        return event.meta.time_ns, _FIRST, 0
    index = event.meta.runtime_stage_id.rpartition("#")[2]
    stage = int(index) if index.isdecimal() else _LAST - 1
    return event.meta.time_ns, stage, _RANKS.get(name, _BETWEEN)


def tally(events: list[Event]) -> dict[str, int]:
    """Return how many events are not in the catalogue, and how many payloads could not be read."""
    counts: Counter[str] = Counter()
    for event in events:
        reason = getattr(event.payload, "reason", None)
        if reason is not None:
            counts[str(reason)] += 1
    return dict(counts)
