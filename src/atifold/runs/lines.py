"""Make the lines of a run's file, and read them back."""

from __future__ import annotations

from typing import Any, NamedTuple

from atifold.kinds import is_object
from atifold.runs.canonical import canonical
from atifold.runs.ecmascript import parse_json, trim
from atifold.runs.fields import EndFields, StartFields

Line = dict[str, Any]
"""A line as JSON has it; only start and end have more keys than the reader asks for."""

_EVENTS = ("start", "end", "statement")


class Lines(NamedTuple):
    """The lines of a run's file that are its events, in their order, and how many others there are."""

    events: tuple[Line, ...]
    malformed: int

    def first(self, event: str) -> Line | None:
        """Return the first line of an event, None where there is none: later ones do not count."""
        return next((line for line in self.events if line["event"] == event), None)

    @property
    def statements(self) -> tuple[Line, ...]:
        """Return the lines that hold a signed statement."""
        return tuple(line for line in self.events if line["event"] == "statement")


def parse(data: bytes, run: str) -> Lines:
    """Return the lines of a run's file."""
    texts = [text for raw in data.decode("utf-8", "replace").split("\n") if (text := trim(raw))]
    events = tuple(line for line in (_line(text, run) for text in texts) if line is not None)
    return Lines(events, len(texts) - len(events))


def _line(text: str, run: str) -> Line | None:
    try:
        value = parse_json(text)
        canonical(value)  # a number beyond every double can be read and not be signed
    except ValueError:
        return None
    fits = (
        is_object(value)
        and value.get("version") == 1
        and not isinstance(value["version"], bool)
        and value.get("event") in _EVENTS
        and value.get("run") == run
        and isinstance(value.get("at"), str)
        and (value["event"] != "statement" or is_object(value.get("envelope")))
    )
    return value if fits else None


def appended(data: bytes, lines: list[Line]) -> bytes:
    """Return a run's file with more lines: no line of it changes, and no line end is its last."""
    before = data.removesuffix(b"\n")
    return b"\n".join(part for part in (before, *map(canonical, lines)) if part)


def start_line(fields: StartFields, run: str, at: str, instruction: Line | None) -> Line:
    """Return the line of a start; what was not given is null."""
    unit = fields.unit
    return {
        "version": 1,
        "event": "start",
        "run": run,
        "at": at,
        "by": fields.by,
        "agent": fields.agent,
        "harness": {"name": fields.harness.name, "version": fields.harness.version},
        "model": fields.model,
        "provider": fields.provider,
        "unit": None if unit is None else {"id": unit.id, "kind": unit.kind},
        "lease": fields.lease,
        "records": fields.records or [],
        "instruction": instruction,
    }


def end_line(fields: EndFields, run: str, at: str, transcript: Line | None, commits: list[Line]) -> Line:
    """Return the line of an end; what was not given is null, lists are empty."""
    return {
        "version": 1,
        "event": "end",
        "run": run,
        "at": at,
        "outcome": fields.outcome,
        "usage": None if fields.usage is None else fields.usage.model_dump(),
        "models": [model.model_dump() for model in fields.models or ()],
        "cost": None if fields.cost is None else fields.cost.model_dump(),
        "transcript": transcript,
        "commits": commits,
    }


def statement_line(run: str, at: str, envelope: Line) -> Line:
    """Return the line of a signed statement."""
    return {"version": 1, "event": "statement", "run": run, "at": at, "envelope": envelope}
