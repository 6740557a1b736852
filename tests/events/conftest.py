"""Fixtures of the tests of events: the catalogue's own description of its payloads, for comparison."""

from __future__ import annotations

from pathlib import Path

import pytest
from structures import Catalogue


@pytest.fixture(scope="session")
def facts(shared: Path) -> Catalogue:
    """Return the catalogue as the facts folder has it."""
    return Catalogue(shared / "reference")
