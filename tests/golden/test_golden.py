"""The golden folders are the specification: these spans fold to these documents, to the byte.

A case is `<dialect>/<case>/` with `spans.jsonl` (OTLP, a span a line; also `spans-2.jsonl`, …), `logs.jsonl` where
log records belong to them, the documents (`trajectory.json`; where there are several `trajectory-1.json`,
`trajectory-2.json`, … in their order), those of a fold by conversation where there are several traces
(`conversation.json`, …), and `about.md`, which says what it shows. `pytest tests/golden --write-golden`
writes the documents anew; the difference is read in review.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

import pytest

from atifold import atif, dialects, otlp
from atifold.fold import Document, fold
from atifold.spans import LogRecord, Span

HERE = Path(__file__).resolve().parent
FOLDERS = sorted(folder for folder in HERE.glob("*/*") if folder.is_dir() and folder.name != "__pycache__")
SHUFFLES = 20


@pytest.fixture(params=FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def case(request: pytest.FixtureRequest) -> Path:
    """Return the folder of a case."""
    return Path(request.param)


@pytest.fixture
def spans(case: Path) -> list[Span]:
    """Return the spans of a case, all of which can be read."""
    batch = otlp.read(sorted(case.glob("spans*.jsonl")))
    assert batch.complaints == []
    return batch.spans


@pytest.fixture
def logs(case: Path) -> list[LogRecord]:
    """Return the log records of a case, none for most."""
    path = case / "logs.jsonl"
    batch = otlp.read([path] if path.exists() else [])
    assert batch.complaints == []
    return batch.logs


Group = Literal["trace", "conversation"]


def documents_of(spans: list[Span], logs: list[LogRecord], group: Group = "trace") -> tuple[Document, ...]:
    """Return the documents that spans and log records fold to, as they lie in a folder."""
    return fold(dialects.read(spans, logs), group=group, files=True).documents


def files_of(spans: list[Span], logs: list[LogRecord]) -> dict[str, str]:
    """Return the text of each document that spans and log records fold to, by the name of its file."""
    found = _named("trajectory", documents_of(spans, logs))
    if len({span.trace_id for span in spans}) > 1:
        found |= _named("conversation", documents_of(spans, logs, "conversation"))
    return found


def _named(stem: str, documents: tuple[Document, ...]) -> dict[str, str]:
    names = [f"{stem}.json"] if len(documents) == 1 else [f"{stem}-{n}.json" for n in range(1, len(documents) + 1)]
    return {name: atif.dumps(one.trajectory).decode() for name, one in zip(names, documents, strict=True)}


def kept_in(case: Path) -> dict[str, str]:
    """Return the text of each document that a case holds, by the name of its file."""
    paths = [*case.glob("trajectory*.json"), *case.glob("conversation*.json")]
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


def test_there_are_cases_of_each_dialect_that_makes_calls() -> None:
    """What a dialect of its own does is specified by at least one case."""
    adding = {"atifold", "strands", "koog", "openlit", "semantic-kernel"}  # to calls of another one
    makers = {dialect.name for dialect in dialects.DIALECTS} - adding
    assert {folder.parent.name for folder in FOLDERS} == makers


def test_a_case_folds_to_its_documents(
    case: Path, spans: list[Span], logs: list[LogRecord], *, write_golden: bool
) -> None:
    """To the byte, and to no other document."""
    found = files_of(spans, logs)
    if write_golden:
        for name in kept_in(case).keys() - found.keys():
            (case / name).unlink()
        for name, text in found.items():
            (case / name).write_text(text, encoding="utf-8")
    assert found == kept_in(case)


def test_the_order_of_the_input_changes_nothing(case: Path, spans: list[Span], logs: list[LogRecord]) -> None:
    """Nor does a span or a record that comes twice, or a trace that comes in several files."""
    chance = random.Random(case.name)  # noqa: S311  any order will do, the same in every run
    orders = [spans[::-1], spans + spans[::-1], *(chance.sample(spans, len(spans)) for _ in range(SHUFFLES))]
    wanted = files_of(spans, logs)
    for order in orders:
        assert files_of(order, [*chance.sample(logs, len(logs)), *logs]) == wanted


def test_the_documents_of_a_case_are_valid(spans: list[Span], logs: list[LogRecord]) -> None:
    """The strict check finds nothing in them, not even a warning."""
    for document in (*documents_of(spans, logs), *documents_of(spans, logs, "conversation")):
        assert [str(finding) for finding in atif.check(document.trajectory)] == []


def test_a_case_says_what_it_shows(case: Path, spans: list[Span], logs: list[LogRecord]) -> None:
    """In a headline and two to five lines; it lies under the dialect of its spans."""
    headline, blank, *lines = (case / "about.md").read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert headline.startswith("# ")
    assert blank == ""
    assert 2 <= len(lines) <= 5
    assert case.parent.name in dialects.read(spans, logs).dialects


WRONG: Final = (
    *(None, True, 0, 1.5, float("nan"), b"\xff", "", "{}", "[]", "null", '"', "{", "[[", "\ud800"),
    *([1], [None], {"a": 1}, '{"a": [', '[{"type": "text"}]', '{"messages": [[1]]}', '{"messages": 1}'),
    *('{"generations": [[{"message": {"kwargs": {"usage_metadata": 1}}}]]}', '{"generations": [1]}'),
    *('{"output": {"update": {"messages": [1]}}}', '[{"update": {"messages": 1}}]', '{"inputs": [1]}'),
    *('{"contents": [{"parts": [{"function_call": {"name": 1, "args": 1}}]}]}', '{"choices": [1]}'),
    *('[{"toolResult": {"content": 1}}]', '[{"reasoningContent": {"reasoningText": 1}}]', '{"function_tools": 1}'),
)
"""Values of types and shapes that nobody expects."""


def test_no_value_of_an_attribute_is_too_much(case: Path, spans: list[Span], logs: list[LogRecord]) -> None:
    """Each attribute of each span in turn may be anything: there are still documents of valid JSON."""
    chance = random.Random(case.name)  # noqa: S311  a few of them each, the same in every run
    for at, span in enumerate(spans):
        for name in span.attributes:
            for wrong in chance.sample(WRONG, 3):
                broken = replace(span, attributes={**span.attributes, name: wrong})
                for document in fold(dialects.read([*spans[:at], broken, *spans[at + 1 :]], logs)).documents:
                    atif.dumps(document.trajectory)
