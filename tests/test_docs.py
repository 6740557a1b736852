"""docs/events.md says where the events go now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from atifold.emit.places import PLACES
from atifold.events import DOMAINS, Mark, full_name, marks

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")


@pytest.fixture
def writer() -> ModuleType:
    """Return the script that writes the page."""
    found = importlib.util.spec_from_file_location("write_docs", ROOT / "scripts" / "write_docs.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_page_is_as_the_tables_are_now(writer: ModuleType) -> None:
    """`make docs` writes it anew."""
    assert writer.page() == PAGE


def test_every_event_has_a_row_below_its_domain() -> None:
    """And what it becomes is what the emitter's table says."""
    parts = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])
    assert tuple(parts) == DOMAINS
    for row in PLACES:
        found = re.findall(rf"^\| `{re.escape(row.event)}` \| (.*?) \|", parts[row.event.split(".")[0]], re.MULTILINE)
        assert found == [row.place]
    assert PAGE.count("\n| `") == len(PLACES)


def test_an_event_that_is_only_counted_says_why() -> None:
    """In the last column of its table."""
    for row in PLACES:
        if row.does is None:
            assert re.search(rf"^\| `{re.escape(row.event)}` .* \| {re.escape(row.why)} \|$", PAGE, re.MULTILINE)


def test_the_counts_are_of_the_policy_s_leaves() -> None:
    """One event by hand, and the one that has no model."""
    told = list(marks(full_name("stream.llm_end")).values())
    assert f"| `stream.llm_end` | ends chat | {told.count(Mark.STRUCTURE)} | {told.count(Mark.CONTENT)} |" in PAGE
    assert re.search(r"^\| `risk\.flagged` \| .* \| 0 \| all \|", PAGE, re.MULTILINE)
