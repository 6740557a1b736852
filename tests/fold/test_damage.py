"""Truth under damage: what is taken out of a trace may be missed, but never makes more of it.

Spans, attributes, messages and log records are taken out of traces by chance. The fold never raises, each
document is valid, and there are never more model calls, tool calls or tokens than the whole trace has,
unless the report says that it is unsure of something.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atifold import atif, dialects, otlp
from atifold.fold import Folded, fold
from atifold.spans import LogRecord, Span

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = sorted(path.parent for path in (ROOT / "tests" / "golden").glob("**/spans.jsonl"))
SHARED = ROOT.parent / "shared"
STRANGERS = sorted([*SHARED.glob("corpus/*/*.expect.json"), *SHARED.glob("faults/*.expect.json")])
MADE_IDS: Final = frozenset({"autogen", "claude-code", "codex", "gemini-cli"})
"""Dialects whose calls are made of what is told, and so are their ids."""


class Case(NamedTuple):
    """A trace as it was exported, and how it is folded."""

    spans: list[Span]
    logs: list[LogRecord]
    group: Literal["trace", "conversation"]

    def folded(self) -> Folded:
        """Return what it folds to."""
        return fold(dialects.read(self.spans, self.logs), group=self.group)


@cache
def case_of(path: Path) -> Case:
    """Return the trace of a golden folder, or of a stranger's expectation."""
    if path.is_dir():
        batch = otlp.read(sorted(path.glob("*.jsonl")))
        return Case(batch.spans, batch.logs, "trace")
    expect = json.loads(path.read_text(encoding="utf-8"))
    batch = otlp.read([path.parent / name for name in expect["inputs"]])
    return Case(batch.spans, batch.logs, expect["group"])


@cache
def whole_of(path: Path) -> Counter[str]:
    """Return what the whole trace of a case counts."""
    return counts(case_of(path).folded())


def counts(folded: Folded) -> Counter[str]:
    """Count the model calls, tool calls and tokens of all documents, those embedded included."""
    found: Counter[str] = Counter()
    for step in steps(document.trajectory for document in folded.documents):
        found["model calls"] += step["source"] == "agent" and step.get("llm_call_count") != 0
        found["tool calls"] += len(step.get("tool_calls", ()))
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
            found[name] += step.get("metrics", {}).get(name, 0)
    return found


def steps(trajectories: Any) -> Iterator[Mapping[str, Any]]:
    """Yield each step that is no copy, of trajectories and of what they embed."""
    for trajectory in trajectories:
        yield from (step for step in trajectory["steps"] if not step.get("is_copied_context"))
        yield from steps(trajectory.get("subagent_trajectories", ()))


# ---- damage --------------------------------------------------------------------------------------


def fewer_messages(value: Any, chance: Any) -> Any:
    """Return a list of messages, JSON text or not, with some of them taken out."""
    if isinstance(value, str) and value.startswith("["):
        try:
            listed = json.loads(value)
        except ValueError:
            return value
        return json.dumps([message for message in listed if chance.random() < 0.7])
    if isinstance(value, list) and value and not isinstance(value[0], str):
        return [message for message in value if chance.random() < 0.7]
    return value


def damaged(case: Case, chance: Any) -> Case:
    """Return a case with spans, records, attributes, events and messages taken out, more or fewer of them."""
    gone, lost, cut = chance.choice([0, 0.1, 0.3, 0.6]), chance.choice([0, 0.05, 0.2, 0.5]), chance.choice([0, 0.3])
    spans = []
    for span in case.spans:
        if chance.random() < gone:
            continue
        kept = {name: value for name, value in span.attributes.items() if chance.random() >= lost}
        found = {name: fewer_messages(v, chance) if chance.random() < cut else v for name, v in kept.items()}
        events = tuple(event for event in span.events if chance.random() >= lost)
        spans.append(replace(span, attributes=found, events=events))
    return Case(spans, [record for record in case.logs if chance.random() >= gone], case.group)


def more_unsaid(path: Path, chance: Any) -> dict[str, tuple[int, int]]:
    """Damage a case; return what it counts more of than the whole (found, whole), nothing where the report is unsure.

    Every document is valid, whatever was taken out.
    """
    folded = damaged(case_of(path), chance).folded()
    for document in folded.documents:
        assert [str(found) for found in atif.check(document.trajectory) if found.severity == "error"] == []
        atif.dumps(document.trajectory)
    json.dumps(folded.report)
    if any("unsure" in document for document in folded.report["documents"]):
        return {}
    whole, found = whole_of(path), counts(folded)
    return {name: (found[name], whole[name]) for name in found if found[name] > whole[name]}


ANY_CASE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@given(st.sampled_from(GOLDEN), st.randoms(use_true_random=False))
@settings(ANY_CASE, max_examples=100, derandomize=True)
def test_damage_never_makes_more_of_our_own_traces(path: Path, chance: Any) -> None:
    """Of the golden folders; the same in every run."""
    assert more_unsaid(path, chance) == {}


@pytest.mark.skipif(not STRANGERS, reason="no folder 'shared' beside the repository")
@given(st.sampled_from(STRANGERS or [Path()]), st.randoms(use_true_random=False))
@settings(ANY_CASE, max_examples=100, derandomize=True)
def test_damage_never_makes_more_of_strangers_traces(path: Path, chance: Any) -> None:
    """Of what other people's agents wrote; the same in every run."""
    assert more_unsaid(path, chance) == {}


# ---- the same trace, told in another order -------------------------------------------------------


def renamed(case: Case) -> tuple[Case, dict[str, str]]:
    """Return a case with other ids of traces and spans, in the same order, and each new id's old one."""
    logs = case.logs
    traces = sorted({span.trace_id for span in case.spans} | {record.trace_id for record in logs if record.trace_id})
    inside = {found for span in case.spans for found in (span.span_id, span.parent_id) if found}
    inside |= {record.span_id for record in logs if record.span_id}
    names = {old: f"{at:08x}" * 4 for at, old in enumerate(traces, 1)}
    names |= {old: f"{at:016x}" for at, old in enumerate(sorted(inside), 1)}

    def new(old: Any) -> Any:
        return names.get(old, old) if isinstance(old, str) else old

    def again(span: Span) -> Span:
        links = tuple(replace(link, trace_id=new(link.trace_id), span_id=new(link.span_id)) for link in span.links)
        told = {name: new(value) for name, value in span.attributes.items()}
        ids = {"trace_id": new(span.trace_id), "span_id": new(span.span_id), "parent_id": new(span.parent_id)}
        return replace(span, **ids, links=links, attributes=told)

    records = [replace(record, trace_id=new(record.trace_id), span_id=new(record.span_id)) for record in logs]
    return Case([again(span) for span in case.spans], records, case.group), {new: old for old, new in names.items()}


def under_old_ids(text: str, old_of: Mapping[str, str]) -> str:
    """Return a document with its old ids; a run's document is named after the first eight signs of its trace."""
    for new, old in old_of.items():
        text = text.replace(new, old).replace(f'-{new[:8]}"', f'-{old[:8]}"')
    return text


def texts(case: Case) -> list[bytes]:
    """Return the bytes of each document."""
    return [atif.dumps(document.trajectory) for document in case.folded().documents]


def told_anew(path: Path, chance: Any) -> None:
    """Fold a case shuffled, doubled, and with its records before its spans: the same bytes each time."""
    case = case_of(path)
    spans, logs = [*case.spans, *case.spans], [*case.logs, *case.logs]
    chance.shuffle(spans)
    chance.shuffle(logs)
    assert texts(Case(spans, logs, case.group)) == texts(case)


@given(st.sampled_from(STRANGERS or GOLDEN), st.randoms(use_true_random=False))
@settings(ANY_CASE, max_examples=30, derandomize=True)
def test_order_and_doubles_change_no_byte(path: Path, chance: Any) -> None:
    """Of strangers' traces; those of our own are shuffled with the golden documents."""
    told_anew(path, chance)


@pytest.mark.parametrize(
    "path",
    [path for path in GOLDEN if path.parent.name not in MADE_IDS],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_other_ids_change_nothing_but_the_ids(path: Path) -> None:
    """Ids of spans and traces only tell what belongs together: in the same order, they give the same documents."""
    case = case_of(path)
    other, old_of = renamed(case)
    assert [under_old_ids(text.decode(), old_of).encode() for text in texts(other)] == texts(case)


# ---- very many -----------------------------------------------------------------------------------


TIMES: Final = 200


@pytest.mark.fuzz
@pytest.mark.parametrize("path", [*GOLDEN, *STRANGERS], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_very_much_damage_never_makes_more_unsaid(path: Path) -> None:
    """The same of each trace, for minutes; never is a document invalid, and never does the order matter."""
    chances = [random.Random(f"{path.name} {at}") for at in range(TIMES)]  # noqa: S311  the same in every run
    unsaid = [found for chance in chances if (found := more_unsaid(path, chance))]
    assert unsaid == []
    told_anew(path, chances[0])
