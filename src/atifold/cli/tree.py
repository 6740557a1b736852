"""Show spans as a tree, a trace at a time: what ran in what, how long, for how many tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from itertools import chain
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from atifold import semconv
from atifold.cli.figures import count, duration, money
from atifold.cli.words import line, plural
from atifold.spans import Span, SpanKey, Status

_CONTAINERS = ("invoke_agent", "invoke_workflow", "create_agent")
_TITLES = ("tokens in", "out", "cost", "time")
_GAP = "  "
_NARROWEST = 12
"""Characters of a name that are shown however narrow the console is."""
_NONE = Text()
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


class _Line(NamedTuple):
    """One line of the tree: the name with its guides, the remarks on it, where they stand alone, and the figures."""

    name: Text
    figures: list[Text]
    remarks: Text = _NONE
    beneath: Text = _NONE

    def fitted(self, widths: list[int], width: int) -> Iterator[Text]:
        """Yield the line in `width` characters: the remarks beside the name, or beneath it where they do not fit.

        The name may use the room of figures that are not there, so that a tool's error stands beside it.
        """
        known = next((at for at, figure in enumerate(self.figures) if figure), len(widths))
        cells = [_right(figure, size) for figure, size in zip(self.figures[known:], widths[known:], strict=True)]
        room = max(width - sum(cell.cell_len for cell in cells), _NARROWEST)
        label = Text("  ").join([self.name, self.remarks]) if self.remarks else self.name.copy()
        beside = label.cell_len <= room
        if not beside:
            label = self.name.copy()
        label.truncate(room, overflow="ellipsis", pad=bool(cells))
        whole = Text(no_wrap=True, overflow="ellipsis").append_text(label)
        for cell in cells:
            whole.append_text(cell)
        whole.rstrip()
        yield whole
        if self.remarks and not beside:
            yield Text(no_wrap=True, overflow="ellipsis").append_text(self.beneath).append_text(self.remarks)


def _right(figure: Text, size: int) -> Text:
    """Return a figure at the right end of its column, with the gap before the column."""
    return Text(" " * (len(_GAP) + size - figure.cell_len)).append_text(figure)


def span_tree(spans: Iterable[Span]) -> RenderableType:
    """Return the spans of any number of traces as trees with duration, tokens, cost and remarks.

    Traces stand in the order of their first start, spans under their parents in the order of theirs.
    A span whose parent is not among them stands as a root of its own.
    """
    distinct = {span.key: span for span in spans}
    traces = [(_headline(trace), [_line_of(row) for row in tree_rows(trace)]) for trace in _traces(distinct.values())]
    total = _total(list(distinct.values()))
    widths = _widths([row for _, rows in traces for row in rows] + [total])
    lines: list[_Line | Text] = [_Line(Text("span", style="dim"), [Text(title, style="dim") for title in _TITLES])]
    for headline, rows in traces:
        lines += [headline, *rows]
    return _Lines([*lines, total], widths)


class _Lines:
    """Lines whose figures stand in columns, as wide as the console is."""

    def __init__(self, lines: list[_Line | Text], widths: list[int]) -> None:
        self._lines = lines
        self._widths = widths

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for each in self._lines:
            if isinstance(each, Text):
                yield each
            else:
                yield from each.fitted(self._widths, options.max_width)


def _widths(rows: list[_Line]) -> list[int]:
    """Return the width of each column of figures, so that those of all traces stand in line."""
    return [max(len(title), *(row.figures[place].cell_len for row in rows)) for place, title in enumerate(_TITLES)]


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
    words = line(span.name) or "(no name)"
    name = Text().append(row.guides, style="dim").append(words, style="red" if _failed(span) else _style(span))
    beneath = Text(f"{row.beneath}  ", style="dim")
    return _Line(name, [*figures, Text(duration(lasted))], _remarks(span), beneath)


def _failed(span: Span) -> bool:
    return span.status is Status.ERROR


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
    if _failed(span):
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
    return _Line(Text("in all", style="dim"), [count(sums[0]), count(sums[1]), cost, Text()])


def _known(spans: list[Span], key: str) -> list[Any]:
    return [number for span in spans if (number := _number(span, key)) is not None]
