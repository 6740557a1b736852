"""The tree of spans that people see."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from atifold.cli.tree import span_tree, tree_rows
from atifold.spans import Kind, Span, SpanEvent, Status

TRACE = "0af7651916cd43dd8448eb211c80319c"
START_NS = 1_767_225_600_000_000_000  # 2026-01-01 00:00:00 UTC


def span(span_id: str, parent: str | None, name: str, ms: tuple[int, int | None] = (0, 1), **more: Any) -> Span:
    """Return a span that starts and ends so many milliseconds after the start of the trace."""
    start, end = ms
    operation = name.split(maxsplit=1)[0]
    attributes = {"gen_ai.operation.name": operation, **more.pop("attributes", {})}
    end_ns = None if end is None else START_NS + end * 1_000_000
    return Span(
        more.pop("trace_id", TRACE),
        span_id,
        parent,
        name,
        START_NS + start * 1_000_000,
        end_ns,
        kind=Kind.INTERNAL,
        attributes=attributes,
        **more,
    )


def text_of(renderable: RenderableType, width: int = 100) -> str:
    """Return what a console without colours shows, without the spaces at the line ends."""
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


AGENT = span("a", None, "invoke_agent planner", (0, 2_900))
CHAT = span(
    "b",
    "a",
    "chat m",
    (5, 900),
    attributes={
        "gen_ai.usage.input_tokens": 1200,
        "gen_ai.usage.output_tokens": 30,
        "agentfootprint.cost.usd": 0.00081,
    },
)
TOOL = span("c", "a", "execute_tool db", (901, 960), status=Status.ERROR, attributes={"error.type": "Refused"})


def test_a_tree_shows_names_durations_tokens_cost_and_errors() -> None:
    """Everything that a person looks for in a trace stands in its line."""
    assert text_of(span_tree([TOOL, CHAT, AGENT]), 80).splitlines() == [
        "span                                            tokens in  out      cost    time",
        "trace 0af76519…, 2026-01-01 00:00:00 UTC, 3 spans",
        "invoke_agent planner                                                       2.9 s",
        "├─ chat m                                           1,200   30  $0.00081  895 ms",
        "└─ execute_tool db  error: Refused                                         59 ms",
        "in all                                              1,200   30  $0.00081",
    ]


@pytest.mark.parametrize("attributes", [{}, {"error.type": "_OTHER"}])
def test_an_error_without_a_type_is_just_an_error(attributes: dict[str, Any]) -> None:
    """The conventions' word for "no better one known" says nothing to people."""
    span_line = text_of(span_tree([span("a", None, "chat m", status=Status.ERROR, attributes=attributes)]))
    assert span_line.splitlines()[2].split() == ["chat", "m", "error", "1", "ms"]


def test_a_sum_of_which_prices_are_missing_is_a_lower_bound() -> None:
    """One model call has a price, the other has not."""
    other = span("z", "a", "chat m", attributes={"gen_ai.usage.output_tokens": 1})
    assert text_of(span_tree([CHAT, other])).splitlines()[-1].endswith("≥ $0.00081")


def test_a_remark_that_does_not_fit_beside_its_span_stands_beneath_it() -> None:
    """On a narrow terminal an error is not cut; the guides go on."""
    child = span("d", "c", "execute_tool inner", (902, 903))
    tool = span("c", "a", "execute_tool db", (901, 960), status=Status.ERROR, attributes={"error.type": "R" * 20})
    lines = text_of(span_tree([AGENT, tool, child]), 52).splitlines()
    assert lines[3].startswith("└─ execute_tool db  ")
    assert lines[3].endswith("  59 ms")
    assert lines[4] == f"   │  error: {'R' * 20}"
    assert lines[5].startswith("   └─ execute_tool inner")


def test_a_remark_may_use_the_room_of_figures_that_are_not_there() -> None:
    """A tool has no tokens: its error stands beside it on eighty columns, that of a model call with tokens does not."""
    long = "execute_tool find_connections_by_rail"
    tool = span("c", None, long, (0, 60), status=Status.ERROR, attributes={"error.type": "TimeoutError"})
    lines = text_of(span_tree([CHAT, tool]), 80).splitlines()
    assert lines[2].startswith(f"{long}  error: TimeoutError  ")
    figures = {"gen_ai.usage.input_tokens": 1, "error.type": "TimeoutError"}
    chat = span("d", None, "chat a-model-with-a-long-name", status=Status.ERROR, attributes=figures)
    lines = text_of(span_tree([CHAT, chat]), 70).splitlines()
    assert lines[2].startswith("chat a-model-with-a-long-name  ")
    assert lines[3].strip() == "error: TimeoutError"


def test_a_long_name_is_cut_before_its_figures() -> None:
    """The columns stay in line; on the narrowest console something of each name is left."""
    (line,) = [
        line for line in text_of(span_tree([span("a", None, f"chat {'x' * 99}")]), 40).splitlines() if "x" in line
    ]
    assert len(line) == 40
    assert line.endswith("x…  1 ms")
    assert "chat" in text_of(span_tree([CHAT]), 20)


def test_no_line_ends_in_spaces() -> None:
    """What is copied out of a terminal, or piped, has no rubbish at its ends."""
    out = StringIO()
    Console(file=out, width=80, highlight=False).print(span_tree([AGENT, CHAT, TOOL]))
    assert [line for line in out.getvalue().splitlines() if line != line.rstrip()] == []


def test_unknown_figures_are_not_shown_as_nothing() -> None:
    """A trace without tokens and cost has dashes in its sum, never zeros."""
    last = text_of(span_tree([AGENT])).splitlines()[-1]
    assert last.split() == ["in", "all", "–", "–", "–"]


def test_what_containers_repeat_is_not_counted_twice() -> None:
    """Usage on an agent's span repeats what its model calls used."""
    agent = span("a", None, "invoke_agent x", attributes={"gen_ai.usage.input_tokens": 1200})
    assert text_of(span_tree([agent, CHAT])).splitlines()[-1].split()[2] == "1,200"


@pytest.mark.parametrize(
    ("attributes", "word"),
    [
        ({"agentfootprint.paused": True}, "paused"),
        ({"atifold.resumes.trace_id": TRACE}, "resumed"),
        ({"atifold.incomplete": ["run_open"]}, "incomplete"),
        ({"atifold.dispatch": "not_dispatched"}, "not dispatched"),
    ],
)
def test_what_is_unusual_stands_beside_the_span(attributes: dict[str, Any], word: str) -> None:
    """A pause, a resumption, an open end and a call that never ran are each said in a word."""
    assert word in text_of(span_tree([span("a", None, "chat m", attributes=attributes)]))
    assert word not in text_of(span_tree([AGENT]))


def test_retries_are_counted() -> None:
    """Two retries inside a model call stand beside it."""
    events = tuple(SpanEvent("agentfootprint.error.retried", START_NS) for _ in range(2))
    assert "2 retries" in text_of(span_tree([span("a", None, "chat m", events=events)]))


def test_a_span_that_never_ended_is_open() -> None:
    """No duration is invented for it."""
    assert "open" in text_of(span_tree([span("a", None, "chat m", (0, None))]))


def test_a_span_whose_parent_is_elsewhere_is_a_root() -> None:
    """What is at hand is shown, though the trace began in another service."""
    rows = list(tree_rows([span("b", "gone", "chat m")]))
    assert [(row.guides, row.span.span_id) for row in rows] == [("", "b")]


def test_a_span_that_came_twice_is_shown_once() -> None:
    """Two exports of one span are one line."""
    assert text_of(span_tree([AGENT, AGENT])).count("invoke_agent") == 1


def test_traces_stand_in_the_order_of_their_starts() -> None:
    """Each trace has a headline of its own."""
    later = span("z", None, "chat later", (5_000, 5_001), trace_id="f" * 32)
    shown = text_of(span_tree([later, AGENT]))
    assert shown.index("planner") < shown.index("trace ffffffff") < shown.index("chat later")


def test_equal_starts_are_ordered_by_our_sequence_number() -> None:
    """Spans of one millisecond keep the order in which they were started."""
    second = span("1", None, "chat second", attributes={"atifold.sequence": 2})
    first = span("2", None, "chat first", attributes={"atifold.sequence": 1})
    assert [row.span.name for row in tree_rows([second, first])] == ["chat first", "chat second"]


def test_escape_sequences_do_not_reach_the_terminal() -> None:
    """A name from a stranger cannot steer the terminal, nor break the line."""
    shown = text_of(span_tree([span("a", None, "chat \x1b[31mred\nnext")]))
    assert "\x1b" not in shown
    assert "chat [31mred next" in shown


def test_no_spans_make_no_tree() -> None:
    """Nothing but the headings and an empty sum."""
    assert len(text_of(span_tree([])).splitlines()) == 2


@given(st.lists(st.tuples(st.integers(0, 9), st.one_of(st.none(), st.integers(0, 9))), max_size=12))
def test_every_span_is_shown_exactly_once(edges: list[tuple[int, int | None]]) -> None:
    """Whatever the parents say, circles included, each span has one line."""
    spans = {str(own): span(str(own), None if up is None else str(up), "chat m") for own, up in edges}
    rows = list(tree_rows(spans.values()))
    assert sorted(row.span.span_id for row in rows) == sorted(spans)
