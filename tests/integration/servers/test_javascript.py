"""Spans straight from the JavaScript SDK of npm to `atifold serve`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backends.running import program
from serving import TIMEOUT_S, Server

from atifold import atif

pytestmark = pytest.mark.integration

AGENT = Path(__file__).parents[1] / "programs" / "agent.cjs"


@pytest.fixture(scope="module")
def javascript() -> Path:
    """Return what runs a file with Node.js and the pinned SDK; skipped where either is not here."""
    if shutil.which("node") is None:
        pytest.skip("no Node.js is on PATH")
    return program("javascript")


def _run(javascript: Path, *arguments: str) -> None:
    """Run the agent, which has to end well and to say nothing."""
    done = subprocess.run(
        [javascript, AGENT, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def _right(document: dict[str, Any], day: str) -> None:
    """Check the turn to the word: steps, call, result, tokens; whole and valid."""
    assert atif.check(document) == []
    user, asks, answers = document["steps"]
    assert (user["source"], user["message"]) == ("user", f"A table on {day}, für zwei 🍝")
    (call,) = asks["tool_calls"]
    assert (call["tool_call_id"], call["function_name"]) == ("call_1", "find_table")
    assert call["arguments"] == {"day": day, "seats": 2}
    (result,) = asks["observation"]["results"]
    assert (result["source_call_id"], result["content"]) == ("call_1", f"free on {day}")
    assert answers["message"] == f"Booked for {day}."
    assert (document["agent"]["name"], document["agent"]["model_name"]) == ("bookings", "gpt-4o")
    totals = document["final_metrics"]
    assert (totals["total_prompt_tokens"], totals["total_completion_tokens"]) == (81, 23)
    assert "incomplete" not in document["extra"]["atifold"]


@pytest.mark.parametrize("exporter", ["http", "proto", "grpc"])
def test_an_agent_in_javascript_becomes_one_right_trajectory(
    exporter: str, javascript: Path, serve: Callable[..., Server]
) -> None:
    """By each of the SDK's three exporters: JSON and protobuf over HTTP, and gRPC."""
    server = serve()
    _run(javascript, exporter, server.grpc if exporter == "grpc" else server.http, "Friday")
    (document,) = server.wait_for(bool)
    _right(document, "Friday")
    assert server.stop() == (0, "4 spans -> 1 document written to out\n")
