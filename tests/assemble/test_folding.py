"""The real fold behind the assembler: what its documents say of spans that are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atifold.assemble import Folding
from atifold.sinks import DirectorySink
from atifold.spans import Span

A = "a" * 32


def _spans(run_id: str) -> list[Span]:
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", "agentfootprint.run.id": run_id}
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    return [
        Span(A, "1" * 16, None, "invoke_agent a", 1, 9, attributes=agent),
        Span(A, "2" * 16, "1" * 16, "chat m", 2, 3, attributes=chat),
    ]


def test_a_whole_trace_is_what_the_fold_says() -> None:
    """Nothing is added to it."""
    (document,) = Folding()(_spans("run-1"))
    assert (document.name, document.trajectory["trajectory_id"]) == ("run-1-aaaaaaaa", "run-1-aaaaaaaa")
    assert not document.incomplete
    assert "incomplete" not in document.trajectory["extra"]["atifold"]


@pytest.mark.parametrize("part", [1, 2])
def test_missing_spans_and_the_part_are_said(part: int) -> None:
    """The reasons stand once, and a later part has a name and an id of its own."""
    (document,) = Folding()(_spans("run-1"), incomplete=("open_spans", "open_spans"), part=part)
    ours: dict[str, Any] = document.trajectory["extra"]["atifold"]
    assert document.incomplete
    assert ours["incomplete"] == ["open_spans"]
    assert ours.get("part", 1) == part
    assert document.name == "run-1-aaaaaaaa" + (".part2" if part == 2 else "")
    assert document.trajectory["trajectory_id"] == document.name


@pytest.mark.parametrize("part", [1, 12])
@pytest.mark.parametrize("run_id", ["run-1", "r" * 111, "r" * 150, "a/b", "../x", "ü"])
def test_the_id_the_name_and_the_file_are_one_whatever_a_run_is_called(tmp_path: Path, run_id: str, part: int) -> None:
    """Who reads a document finds its file by its id."""
    (document,) = Folding()(_spans(run_id), part=part)
    path = DirectorySink(tmp_path).write(document)
    assert (path.stem, path.parent) == (document.name, tmp_path)
    assert document.trajectory["trajectory_id"] == document.name
