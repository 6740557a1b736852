"""Read recordings of agent events: what the bus writes and what the producer's own sinks write.

Recognised by content: JSON Lines of events (also the NDJSON of a file sink), the recorder's
`{snapshot, events, structure}`, and the envelope `agentfootprint.recording.v1` around it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from atifold.errors import InputError
from atifold.events.envelope import Event, NotAnEventError, parse
from atifold.jsonfiles import BOM, STDIN, Document, documents
from atifold.jsontext import sorted_json
from atifold.kinds import is_list, is_object
from atifold.packed import unpacked

WANTED = "wanted a recording: events as JSON Lines, or a recorder's JSON"
_WANTED_LINE = "wanted one event a line"
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

_TOOL_START, _TOOL_END = "agentfootprint.stream.tool_start", "agentfootprint.stream.tool_end"
_OF_AN_EARLIER_START = 12  # the end of a call that started before comes before the starts of others
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
        self._where = STDIN if self.path == "-" and stdin is not None else self.path

    def __iter__(self) -> Iterator[Event]:
        """Yield the events; raises InputError where the file cannot be read or holds no recording."""
        self.complaints, self.repeated = [], 0
        data = self._data()
        seen = set() if self._seen is None else self._seen
        last_ns = 0
        for found in documents(data, _is_event):
            for event in self._whole(found, seen) if found.line is None else self._line(found, seen):
                if not event.meta.time_ns:
                    event.meta.time_ns = last_ns  # an event without a clock stands where the file has it
                last_ns = event.meta.time_ns
                yield event

    def _data(self) -> bytes:
        """Return the file's text; of a damaged gzip stream the whole lines before the damage, if there are any."""
        try:
            data = self._stdin.read() if self.path == "-" and self._stdin is not None else Path(self.path).read_bytes()
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise InputError(self._where, f"cannot be read: {why}", "wanted a readable file") from error
        data, complaint = unpacked(data, self._where)
        data = data.removeprefix(BOM)
        if complaint is not None and not data.strip():
            raise complaint
        if not data.strip():
            raise InputError(self._where, "found an empty file", WANTED)
        self.complaints += [complaint] if complaint else []
        return data

    def _whole(self, found: Document, seen: set[bytes]) -> Iterator[Event]:
        """Yield the events of a recorder's document, or the one event that the file is."""
        if found.error is not None:
            raise InputError(self._where, "found no JSON", WANTED)
        value = found.value
        inner = value.get("recording", value) if is_object(value) else value
        events = inner.get("events") if is_object(inner) else inner
        if not is_list(events):
            if not _is_event(value):
                raise InputError(self._where, "found JSON that holds no events", WANTED)
            events = [value]
        for number, event in enumerate(events, 1):
            if self._repeats(event, seen):
                continue
            try:
                yield parse(event)
            except NotAnEventError as error:
                self.complaints.append(InputError(self._where, f"event {number}: {error.found}", error.wanted))

    def _line(self, found: Document, seen: set[bytes]) -> Iterator[Event]:
        """Yield the event of one line, if it is one that has not come before."""
        if found.error is not None:
            self.complaints.append(InputError(self._where, "found no JSON", _WANTED_LINE, line=found.line))
            return
        if self._repeats(found.value, seen):
            return
        try:
            yield parse(found.value)
        except NotAnEventError as error:
            self.complaints.append(InputError(self._where, error.found, error.wanted, line=found.line))

    def _repeats(self, event: Any, seen: set[bytes]) -> bool:
        """Tell whether an event came before, however its JSON was spaced; a digest of each is kept."""
        digest = hashlib.blake2b(sorted_json(event), digest_size=16).digest()
        if digest in seen:
            self.repeated += 1
            return True
        seen.add(digest)
        return False


def _is_event(value: Any) -> bool:
    return is_object(value) and "type" in value


def in_order(events: list[Event]) -> list[Event]:
    """Return events by time; those of one millisecond by stage, and within a stage start before end.

    The producer's lines of one millisecond have no order of their own: (time, the `#` index of the
    stage, start before end) restores it. Consumers' events (`pause.resume`) have no stage index: a
    resume comes first, others after the stages; `integrity.disposition` is a run's last.
    """
    begun = {_call(event) for event in events if event.type == _TOOL_START}
    return sorted(events, key=lambda event: _place(event, begun))


def _place(event: Event, begun: set[tuple[object, ...]]) -> tuple[int, int, int]:
    name = event.type.removeprefix("agentfootprint.")
    if name == "integrity.disposition":
        return event.meta.time_ns, _LAST, 0
    if name == "pause.resume":
        return event.meta.time_ns, _FIRST, 0
    index = event.meta.runtime_stage_id.rpartition("#")[2]
    stage = int(index) if index.isdecimal() else _LAST - 1
    if event.type == _TOOL_END and _call(event) not in begun:
        return event.meta.time_ns, stage, _OF_AN_EARLIER_START
    return event.meta.time_ns, stage, _RANKS.get(name, _BETWEEN)


def _call(event: Event) -> tuple[object, ...]:
    """Return what a tool's start and end in one millisecond have in common."""
    return event.meta.time_ns, event.meta.run_id, getattr(event.payload, "tool_call_id", None)
