"""Show a trajectory in short: a line a step, with who, what, which tools and how many tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from atifold.cli.figures import count, money
from atifold.cli.words import line, plural
from atifold.jsontext import to_json_text
from atifold.kinds import is_list, is_object

LONGEST = 60
"""Characters of a message that are shown."""

LONGEST_NAME = 20
"""Characters of a tool's name that are shown."""

_STYLES = {"user": "bold", "agent": "cyan", "system": "dim"}
_FAILURE_KEYS = ("error", "is_error", "error_type", "failed")


def trajectory_view(document: Mapping[str, Any], *, name: str = "") -> RenderableType:
    """Return one document, its subagents indented below it; `name` is what its headline begins with."""
    parts: list[RenderableType] = [_headline(document, name), Padding(_steps(document), (0, 0, 0, 2))]
    subagents = _list(document.get("subagent_trajectories"))
    parts += [Padding(trajectory_view(subagent, name="subagent"), (0, 0, 0, 4)) for subagent in subagents]
    return Group(*parts)


class _Headline:
    """Who and how much on one line; on a narrow console the figures stand on a second one."""

    def __init__(self, who: Text, figures: Text) -> None:
        self._who = who
        self._figures = figures

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._figures:
            yield self._who
        elif self._who.cell_len + len(", ") + self._figures.cell_len <= options.max_width:
            yield Text(", ", style="dim").join([self._who, self._figures])
        else:
            yield Text.assemble(self._who, (",", "dim"))
            yield Padding(self._figures, (0, 0, 0, 2))


def _headline(document: Mapping[str, Any], name: str) -> RenderableType:
    agent = _dict(document.get("agent"))
    who = Text(line(f"{name} " if name else ""))
    who.append(" " if name else "")
    who.append(line(str(agent.get("name", "unknown"))), style="bold")
    facts = [line(str(agent["model_name"]))] if agent.get("model_name") else []
    facts.append(plural(len(_list(document.get("steps"))), "step"))
    who.append(": " + ", ".join(facts), style="dim")
    figures = [Text(words, style="dim") for words in _figures(document)]
    return _Headline(who, Text(", ").join([*figures, *(Text(word, style="yellow") for word in _state(document))]))


def _figures(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the document took: tokens of its own steps, and the cost, which includes its subagents'."""
    metrics = _dict(document.get("final_metrics"))
    for key, words in (("total_prompt_tokens", "tokens in"), ("total_completion_tokens", "out")):
        if key in metrics:
            yield f"{count(metrics[key])} {words}"
    if "total_cost_usd" in metrics:
        subagents = len(_list(document.get("subagent_trajectories")))
        whose = "" if not subagents else " with its subagent" if subagents == 1 else f" with its {subagents} subagents"
        yield f"{money(metrics['total_cost_usd']).plain}{whose}"


def _state(document: Mapping[str, Any]) -> list[str]:
    """Return `paused` and `incomplete: REASONS` where the document says so."""
    ours = _dict(_dict(document.get("extra")).get("atifold"))
    words = [line(str(ours["state"]))] if ours.get("state") else []
    reasons = ours.get("incomplete")
    if reasons:
        listed = ", ".join(map(str, reasons)) if isinstance(reasons, list) else str(reasons)
        words.append("incomplete" if reasons is True else f"incomplete: {line(listed, LONGEST)}")
    return words


def _steps(document: Mapping[str, Any]) -> Table:
    table = Table(
        Column("#", justify="right", no_wrap=True),
        Column("who", no_wrap=True),
        Column("what", ratio=1, no_wrap=True, overflow="ellipsis"),
        Column("tools", no_wrap=True),
        Column("in", justify="right", no_wrap=True),
        Column("out", justify="right", no_wrap=True),
        box=None,
        expand=True,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    for copied, steps in groupby(_list(document.get("steps")), lambda step: bool(step.get("is_copied_context"))):
        if copied:
            table.add_row(*_copied(list(steps)), style="dim")
            continue
        for step in steps:
            table.add_row(*_cells(step))
    return table


def _cells(step: Mapping[str, Any]) -> list[RenderableType]:
    source = str(step.get("source", ""))
    metrics = _dict(step.get("metrics"))
    figures = [count(metrics[key]) if key in metrics else "" for key in ("prompt_tokens", "completion_tokens")]
    name = Text(line(source), style=_STYLES.get(source, ""))
    return [str(step.get("step_id", "")), name, _what(step), _tools(step), *figures]


def _copied(steps: list[Any]) -> list[str]:
    """Return one row for steps that were copied from an earlier history: another document tells them."""
    first, last = (line(str(step.get("step_id", ""))) for step in (steps[0], steps[-1]))
    number = first if first == last else f"{first}-{last}"
    return [number, "earlier", f"{plural(len(steps), 'step')}, copied from before"]


def _what(step: Mapping[str, Any]) -> Text:
    """Return the message, else who ran, else what was thought, else what was asked of the tools."""
    message = line(message_text(step.get("message")), LONGEST)
    if message:
        return Text(message)
    member = line(str(_dict(_dict(step.get("extra")).get("atifold")).get("member") or ""), LONGEST)
    if member:
        return Text(f"Ran {member}.")
    thought = line(str(step.get("reasoning_content") or ""), LONGEST)
    if thought:
        return Text(thought, style="italic")
    calls = "; ".join(f"{c.get('function_name')} {to_json_text(c.get('arguments'))}" for c in _calls(step))
    return Text(line(calls, LONGEST), style="dim")


def message_text(content: Any) -> str:
    """Return the text of a message or a result: a string, or parts, of which media is named."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return " ".join(str(part.get("text") or f"[{part.get('type')}]") for part in content if isinstance(part, dict))


def _tools(step: Mapping[str, Any]) -> Text:
    """Return a line a call: its name and how it went."""
    results = {r.get("source_call_id"): r for r in _list(_dict(step.get("observation")).get("results"))}
    lines: list[Text] = []
    for call in _calls(step):
        word, style = _outcome(call, results.get(call.get("tool_call_id")))
        lines.append(Text(line(str(call.get("function_name")), LONGEST_NAME)).append(": ").append(word, style=style))
    return Text("\n").join(lines)


def _outcome(call: Mapping[str, Any], result: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return how a call went, in a word, and the style of that word."""
    marks = {**_dict(call.get("extra")), **_dict((result or {}).get("extra"))}
    if any(marks.get(key) for key in _FAILURE_KEYS):
        return "error", "red"
    return ("ok", "green") if result is not None else ("no result", "yellow")


def _calls(step: Mapping[str, Any]) -> list[Any]:
    return _list(step.get("tool_calls"))


def _list(value: Any) -> list[Any]:
    return [item for item in value if is_object(item)] if is_list(value) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if is_object(value) else {}
