"""Give each test every recording: the one that is bundled, and those beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from story import DEMO

NAMES = (
    "01-plain-chat",
    "02-tool-loop",
    "03-parallel-tools",
    "04-tool-error",
    "06-streaming",
    "07-thinking",
    "08a-retry",
    "09-pause-resume",
    "10-composition",
    "11-multi-turn",
    "12-cost-budget-halt",
    "13-eval-score",
    "15-rag",
    "21-parallel-agents",
    "23-agent-as-tool",
)


@pytest.fixture(params=["demo", *NAMES])
def recording(request: pytest.FixtureRequest) -> Path:
    """Return one recording after the other; all but the bundled one need the shared folder."""
    return DEMO if request.param == "demo" else path_of(request, request.param)


@pytest.fixture(params=NAMES)
def real_recording(request: pytest.FixtureRequest) -> Path:
    """Return one recording of the producer after the other."""
    return path_of(request, request.param)


def path_of(request: pytest.FixtureRequest, name: str) -> Path:
    """Return a shared recording's path, or skip."""
    shared: Path = request.getfixturevalue("shared")
    return shared / "recordings" / f"{name}.jsonl"
