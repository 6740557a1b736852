"""The reference's examples: the same bytes come out of the same input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from ledgers import Repo, hold_against_schema

from atifold.runs.dsse import RunnerKey
from atifold.runs.lines import parse
from atifold.runs.statement import attest
from atifold.runs.view import fold

RUN = "run-1796035684871-2"


def test_the_recorded_example_comes_out_byte_for_byte(repo: Repo, examples: Path) -> None:
    """Ledger lines, digest and document are those of the example; the commit alone is another."""
    shutil.copyfile(examples / "traj.json", repo.folder / "traj.json")
    printed = repo.runs("record", "--from", examples / "record-input.json").document
    expected = json.loads((examples / "record-output.json").read_text(encoding="utf-8"))
    printed["ledger"]["commit"] = expected["ledger"]["commit"]
    assert printed == expected
    assert repo.file(RUN).split(b"\n") == (examples / "ledger-file.jsonl").read_bytes().split(b"\n")[:2]


def test_the_signed_example_verifies(examples: Path) -> None:
    """Line 3 is judged as the example judges it."""
    run = fold(RUN, "x", parse((examples / "ledger-file.jsonl").read_bytes(), RUN))
    assert run is not None
    public = json.loads((examples / "runner-public-key.json").read_text(encoding="utf-8"))["publicKey"]
    expected = json.loads((examples / "sign-output.json").read_text(encoding="utf-8"))["run"]["attestation"]
    assert attest(run, [RunnerKey("lobby", "service", public)]) == expected


@pytest.mark.parametrize("name", ["record-output.json", "sign-output.json"])
def test_the_examples_are_valid(examples: Path, name: str) -> None:
    """By our schemas."""
    hold_against_schema(json.loads((examples / name).read_text(encoding="utf-8")))
