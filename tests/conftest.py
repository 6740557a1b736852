"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take `--write-golden`, which writes the documents of tests/golden anew."""
    parser.addoption("--write-golden", action="store_true", help="write the documents of tests/golden anew")


def pytest_configure() -> None:
    """Take the caller's OpenTelemetry and atifold settings out of the tests' environment."""
    for name in [n for n in os.environ if n.startswith(("OTEL_", "ATIFOLD_"))]:
        del os.environ[name]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of facts beside the repository, or skip the test where it is not."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no folder 'shared' beside the repository")
    return folder


@pytest.fixture(scope="session")
def recordings(shared: Path) -> list[Path]:
    """Return the recordings of events, JSON Lines, in the order of their names."""
    return sorted((shared / "recordings").glob("*.jsonl"))


@pytest.fixture
def write_golden(request: pytest.FixtureRequest) -> bool:
    """Return whether golden documents are to be written anew."""
    return bool(request.config.getoption("--write-golden"))
