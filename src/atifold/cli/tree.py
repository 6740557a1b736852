"""Show spans as a tree, a trace at a time: what ran in what, how long, for how many tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from itertools import chain
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from atifold import semconv
from atifold.cli.figures import count, duration, money
from atifold.cli.words import line, plural
from atifold.spans import Span, SpanKey, Status

_CONTAINERS = ("invoke_agent", "invoke_workflow", "create_agent")
_TITLES = ("time", "tokens in", "out", "cost")
_FIGURES = {semconv.USAGE_INPUT: count, semconv.USAGE_OUTPUT: count, semconv.COST_USD: money}
_STYLES = {
    "invoke_agent": "bold",
    "invoke_workflow": "bold",
    "chat": "cyan",
    "text_completion": "cyan",
    "generate_content": "cyan",
    "execute_tool": "green",
}


class Row(NamedTuple):
    """One span in the tree: the guides before its name, and those of a line beneath it."""

    guides: str
    beneath: str
    span: Span


class _Label:
    """A span's name, and its remarks beside it, or beneath it where the column is too narrow for both."""

    def __init__(self, row: Row) -> None:
        span = row.span
        self.name = Text().append(row.guides, style="dim")
        self.name.append(line(span.name) or "(no name)", style="red" if span.status is Status.ERROR else _style(span))
        self.remarks = _remarks(span)
        self.beneath = Text().append(f"{row.beneath}  ", style="dim").append(self.remarks)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        beside = Text("  ").join([self.name, self.remarks]) if self.remarks else self.name
        if beside is self.name or beside.cell_len <= options.max_width:
            yield beside
        else:
            yield self.name
            yield self.beneath

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)


class _Line(NamedTuple):
    """One line of the table: what stands under the tree, and the figures."""

    label: RenderableType
    figures: list[Text]


def span_tree(spans: Iterable[Span]) -> RenderableType:
    """Return the spans of any number of traces as trees with duration, tokens, cost and remarks.

    Traces stand in the order of their first start, spans under their parents in the order of theirs.
    A span whose parent is not among them stands as a root of its own.
    """
    distinct = {span.key: span for span in spans}
    traces = [(_headline(trace), [_line_of(row) for row in tree_rows(trace)]) for trace in _traces(distinct.values())]
    total = _total(list(distinct.values()))
    widths = _widths([row for _, rows in traces for row in rows] + [total])
    parts: list[RenderableType] = [_table(widths, [], header=True)]
    for headline, rows in traces:
        parts += [headline, _table(widths, rows)]
    return Group(*parts, _table(widths, [total]))


def _widths(rows: list[_Line]) -> list[int]:
    """Return the width of each column but the first, so that the tables of all traces stand in line."""
    return [max(len(title), *(row.figures[place].cell_len for row in rows)) for place, title in enumerate(_TITLES)]


def _table(widths: list[int], rows: list[_Line], *, header: bool = False) -> Table:
    figures = [
        Column(title, width=width, justify="right", no_wrap=True) for title, width in zip(_TITLES, widths, strict=True)
    ]
    table = Table(
        Column("span", ratio=1, no_wrap=True, overflow="ellipsis"),
        *figures,
        box=None,
        expand=True,
        padding=(0, 2, 0, 0),
        show_header=header,
        header_style="dim",
    )
    for row in rows:
        table.add_row(row.label, *row.figures)
    return table


def tree_rows(trace: Iterable[Span]) -> Iterator[Row]:
    """Yield the spans of one trace, parents before children, each with its guides.

    Every span comes exactly once, also where parents form a circle.
    """
    ordered = sorted(trace, key=_order)
    keys = {span.key for span in ordered}
    children: dict[SpanKey, list[Span]] = defaultdict(list)
    roots: list[Span] = []
    for span in ordered:
        parent = (span.trace_id, span.parent_id or "")
        (children[parent] if parent in keys else roots).append(span)
    shown: set[SpanKey] = set()
    for root in chain(roots, ordered):  # the second time for circles, which have no root
        yield from _below(root, children, shown)


def _below(root: Span, children: dict[SpanKey, list[Span]], shown: set[SpanKey]) -> Iterator[Row]:
    """Yield a span and what is under it, without recursion: traces can be deep."""
    waiting = [(root, "", "")]
    while waiting:
        span, guides, indent = waiting.pop()
        if span.key in shown:
            continue
        shown.add(span.key)
        own = children.get(span.key, [])
        yield Row(guides, indent + ("│" if own else " "), span)
        for child in reversed(own):
            last = child is own[-1]
            waiting.append((child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))


def _traces(spans: Iterable[Span]) -> list[list[Span]]:
    traces: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        traces[span.trace_id].append(span)
    return sorted(traces.values(), key=lambda trace: min(_order(span) for span in trace))


def _order(span: Span) -> tuple[int, int, str]:
    sequence = span.attributes.get(semconv.SEQUENCE)
    return span.start_ns, sequence if isinstance(sequence, int) else 0, span.span_id


def _headline(trace: list[Span]) -> Text:
    start_ns = min(span.start_ns for span in trace)
    try:
        start = datetime.fromtimestamp(start_ns // 1_000_000_000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):  # a time that no calendar has
        start = f"{start_ns} ns"
    return Text(f"trace {trace[0].trace_id[:8]}…, {start}, {plural(len(trace), 'span')}", style="dim")


def _line_of(row: Row) -> _Line:
    span = row.span
    lasted = None if span.end_ns is None else span.end_ns - span.start_ns
    figures = [_figure(span, key, write) for key, write in _FIGURES.items()]
    return _Line(_Label(row), [Text(duration(lasted)), *figures])


def _style(span: Span) -> str:
    return _STYLES.get(str(span.attributes.get(semconv.OPERATION)), "")


def _figure(span: Span, key: str, write: Callable[[Any], Text]) -> Text:
    number = _number(span, key)
    return Text() if number is None else write(number)


def _number(span: Span, key: str) -> Any:
    value = span.attributes.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _remarks(span: Span) -> Text:
    """Return what went wrong or unusual, errors in red."""
    known = span.attributes
    remarks: list[Text] = []
    if span.status is Status.ERROR:
        kind = known.get(semconv.ERROR_TYPE) or semconv.OTHER_ERROR
        words = "error" if kind == semconv.OTHER_ERROR else f"error: {line(str(kind))}"
        remarks.append(Text(words, style="red"))
    if known.get(semconv.PAUSED):
        remarks.append(Text("paused", style="yellow"))
    if known.get(semconv.RESUMES_TRACE):
        remarks.append(Text("resumed", style="yellow"))
    if known.get(semconv.INCOMPLETE):
        remarks.append(Text("incomplete", style="yellow"))
    if known.get(semconv.DISPATCH):
        remarks.append(Text(line(str(known[semconv.DISPATCH])).replace("_", " "), style="yellow"))
    retries = sum(event.name == "agentfootprint.error.retried" for event in span.events)
    if retries:
        remarks.append(Text(plural(retries, "retry", "retries"), style="yellow"))
    return Text(", ").join(remarks)


def _total(spans: list[Span]) -> _Line:
    """Return the line of what the leaves used in all; containers repeat what is counted below them."""
    leaves = [span for span in spans if span.attributes.get(semconv.OPERATION) not in _CONTAINERS]
    sums = [sum(known) if (known := _known(leaves, key)) else None for key in _FIGURES]
    cost = money(sums[2])
    unpriced = [s for s in leaves if _number(s, semconv.USAGE_OUTPUT) and _number(s, semconv.COST_USD) is None]
    if unpriced and sums[2] is not None:  # the sum is of those that have a price
        cost = Text("≥ ").append(cost)
    return _Line(Text("in all", style="dim"), [Text(), count(sums[0]), count(sums[1]), cost])


def _known(spans: list[Span], key: str) -> list[Any]:
    return [number for span in spans if (number := _number(span, key)) is not None]
