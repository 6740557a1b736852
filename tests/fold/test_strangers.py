"""Strangers' traces, through the reader and the dialects: the fold agrees with what is known of them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from atifold import atif, dialects, otlp
from atifold.fold import fold

CASES = [
    *(
        f"corpus/genai-semconv/genai-1.3b0-span_only-{name}"
        for name in (
            "openai-chat",
            "anthropic-stream",
            "langgraph-delegate",
            "openai-agents-chat",
            "openai-agents-delegate",
            "openai-agents-stream",
        )
    ),
    *(
        f"corpus/openinference/{name}"
        for name in (
            "openai-chat",
            "openai-stream",
            "openai-agents-delegate",
            "anthropic",
            "smolagents",
            "openai-noroot",
        )
    ),
    *(
        f"faults/{name}"
        for name in (
            "01-two-instrumentations-nested",
            "03-usage-on-container",
            "09-tool-id-differs-llm-vs-span",
            "14-result-not-serializable",
            "18-every-span-own-trace",
            "20-missing-parents",
            "22-parallel-tools-no-parent",
            "24-handoff-unknown",
            "25-cumulative-history-two-traces",
            "33-times-equal-or-reversed",
        )
    ),
]


@pytest.fixture(scope="module")
def comparator(shared: Path) -> Any:
    """Return the program that compares documents with an expectation."""
    spec = importlib.util.spec_from_file_location("compare_fold", shared / "tools" / "compare_fold.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("case", CASES)
def test_a_strangers_trace_folds_to_what_its_program_did(
    shared: Path, tmp_path: Path, comparator: Any, case: str
) -> None:
    """Every fact that the case knows agrees, and every document is valid."""
    expect = json.loads((shared / f"{case}.expect.json").read_text(encoding="utf-8"))
    batch = otlp.read([(shared / case).parent / name for name in expect["inputs"]])
    folded = fold(dialects.read(batch.spans), group=expect["group"])
    for document in folded.documents:
        (tmp_path / f"{document.name}.json").write_bytes(atif.dumps(document.trajectory))
        assert [str(f) for f in atif.check(document.trajectory) if f.severity == "error"] == []
    assert comparator.compare(expect, comparator.facts_of(tmp_path), json.dumps(folded.report)) == []
