"""The same spans fold to the same documents from whatever container they come, shuffled, doubled, split or mixed."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import exports
import pytest

from atifold import dialects, fold, otlp
from atifold.spans import Kind, Span

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
CASES = sorted(path for path in GOLDEN.glob("*/*/spans.jsonl"))
NAMES = [f"{path.parent.parent.name}/{path.parent.name}" for path in CASES]
LANGFUSE = [path for path in CASES if path.parent.parent.name == "langfuse"]
WRITERS = {**exports.EXACT, **exports.SERVERS}
CASE = GOLDEN / "genai" / "delegation_as_subagent" / "spans.jsonl"


def read(path: Path) -> otlp.Batch:
    """Return the spans and log records of a golden case."""
    logs = path.with_name("logs.jsonl")
    return otlp.read([path, logs] if logs.exists() else [path])


def documents(batch: otlp.Batch) -> list[dict[str, Any]]:
    """Return the documents that a batch folds to."""
    assert batch.complaints == []
    return [document.trajectory for document in fold.fold(dialects.read(batch.spans, batch.logs)).documents]


def kept(span: Span) -> Span:
    """Return what Phoenix and MLflow keep of a span at most."""
    return replace(span, resource={}, scope_name="", scope_version="", kind=Kind.UNSPECIFIED, links=())


@pytest.fixture(params=CASES, ids=NAMES)
def whole(request: pytest.FixtureRequest) -> otlp.Batch:
    """Return the batch of a golden case."""
    return read(request.param)


def test_a_container_that_keeps_all_gives_equal_spans(whole: otlp.Batch) -> None:
    """To the attribute: JSON in all its variants, protobuf, framed or not."""
    for name, write in exports.EXACT.items():
        assert otlp.parse(write(whole.spans), name) == otlp.Batch(whole.spans), name


def test_what_a_server_gives_back_folds_to_the_same_documents(whole: otlp.Batch) -> None:
    """Jaeger's own JSON keeps what the fold needs; Phoenix and MLflow lose resource, scope, kind and links."""
    without = [kept(span) for span in whole.spans]
    for name, write in exports.SERVERS.items():
        wanted = otlp.Batch(whole.spans if name == "Jaeger" else without, logs=whole.logs)
        found = otlp.parse(write(whole.spans), name)
        assert documents(otlp.Batch(found.spans, found.complaints, whole.logs)) == documents(wanted), name


@pytest.mark.parametrize("path", LANGFUSE)
def test_what_langfuse_exports_folds_to_the_same_documents(path: Path) -> None:
    """An observation becomes the span that its SDK sent."""
    batch = read(path)
    assert documents(otlp.parse(exports.langfuse(batch.spans), "x.json")) == documents(batch)


@pytest.mark.parametrize("name", WRITERS)
def test_order_and_doubles_do_not_matter(name: str) -> None:
    """Spans in any order, each twice."""
    spans = read(CASE).spans
    wanted = documents(otlp.parse(WRITERS[name](spans), name))
    shuffled = random.Random(name).sample(spans * 2, len(spans) * 2)  # noqa: S311 - an order, no secret
    assert documents(otlp.parse(WRITERS[name](shuffled), name)) == wanted


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_set_of_files_may_be_of_all_containers(tmp_path: Path, compress: Any) -> None:
    """Each span in another container, the log records in theirs: one set of files is one trace."""
    for path in CASES:
        batch = read(path)
        spans, paths = batch.spans, []
        for number, span in enumerate(spans):
            paths.append(tmp_path / f"{path.parent.name}-{number}")
            writer = list(exports.EXACT.values())[number % len(exports.EXACT)]
            paths[-1].write_bytes(compress(writer([span])))
        logs = path.with_name("logs.jsonl")
        found = otlp.read([*reversed(paths), logs] if logs.exists() else paths)
        assert documents(found) == documents(batch)


@pytest.mark.parametrize("name", WRITERS)
def test_a_bad_span_costs_only_itself(name: str) -> None:
    """Its place is named in one line, what was found and what was wanted; the others are read."""
    good, bad = read(CASE).spans[:2]
    data = WRITERS[name]([replace(good, name="a"), replace(bad, span_id="0" * 16, name="b")])
    batch = otlp.parse(data, "x")
    assert [span.name for span in batch.spans] == ["a"]
    (complaint,) = batch.complaints
    assert "found a span that cannot be read (no 'span" in str(complaint)
    assert str(complaint).startswith(("x: ", "x, message 2: ", "x, message 2:1: "))
