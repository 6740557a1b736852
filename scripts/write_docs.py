"""Write docs/events.md anew: where each event of the catalogue goes, from the emitter's own table.

    make docs

A test compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from atifold.emit.places import PLACES, Place
from atifold.events import DOMAINS, EVENTS, Mark, full_name, marks

PAGE = Path(__file__).resolve().parent.parent / "docs" / "events.md"

HEAD = f"""# Where each event goes

Written by `make docs` from the table behind the emitter (`src/atifold/emit/places.py`) and from the marks of the
events' fields (`src/atifold/events/marks.py`): {len(EVENTS)} events in {len(DOMAINS)} domains. Names go without their
prefix `agentfootprint.`.

*Becomes* says what of OpenTelemetry an event opens, ends or writes. *Structure* and *content* count the leaves that
its payload can have: structure may always leave, content (what a person, a model or a tool said) only where capture is
on. An event that only is counted says why. Fields that the catalogue does not know are content, on every event.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join((HEAD, *(table(domain) for domain in DOMAINS)))


def table(domain: str) -> str:
    """Return a domain's heading and table, the events in the order of the emitter's table."""
    rows = [row for row in PLACES if row.event.split(".", maxsplit=1)[0] == domain]
    return "\n".join((f"## {domain}", "", *lines(rows), ""))


def lines(rows: list[Place]) -> Iterator[str]:
    """Yield the lines of a table; its last column only where an event of it has something to say there."""
    why = any(row.why for row in rows)
    yield "| event | becomes | structure | content |" + (" why nothing more |" if why else "")
    yield "|---|---|--:|--:|" + ("---|" if why else "")
    for row in rows:
        yield f"| `{row.event}` | {row.place} | {leaves(row.event)} |" + (f" {row.why} |" if why else "")


def leaves(event: str) -> str:
    """Return two cells: how many leaves are structure and content; all of an event without a model is content."""
    name = full_name(event)
    if EVENTS[name] is None:
        return "0 | all"
    counted = Counter(marks(name).values())
    return f"{counted[Mark.STRUCTURE]} | {counted[Mark.CONTENT]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
