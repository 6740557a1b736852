"""Close a command with what was done and what the report says, on stderr."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from atifold.cli.words import line, plural, say

if TYPE_CHECKING:
    from atifold.fold import Document, Folded

_HEADINGS = {"missing": "missing", "inferred": "inferred", "left_out": "left out", "unsure": "unsure"}
_SHOWN = 2
"""Words of a heading that are shown; the others are counted."""
_LONGEST = 100
_TIMES = re.compile(r" \((\d+) times\)$")


def summarise(source: str, folded: Folded, written: int, target: str | None) -> None:
    """Say how many documents came out of `source` and where they are, then the report in short.

    `target` is what -o was given, `-` for stdout, None where no documents were asked for.
    """
    documents = folded.documents
    if not documents:
        say(f"{source}: no trajectory, as there is no step of an agent")
    elif target is None:
        say(f"{source}: {_trajectories(len(documents))} in them, none written (-o DIR writes them)")
    elif written < len(documents):
        say(f"{source}: {_trajectories(len(documents))} in them, {written:,} written")
    else:
        place = "stdout" if target == "-" else target
        say(f"{source} -> {_trajectories(written)} in {place}{_unfinished(documents)}")
    for words in remarks(folded.report):
        say(f"  {words}")


def _trajectories(number: int) -> str:
    return plural(number, "trajectory", "trajectories")


def _unfinished(documents: Sequence[Document]) -> str:
    incomplete = sum(document.incomplete for document in documents)
    return f" ({incomplete:,} incomplete)" if incomplete else ""


def remarks(report: dict[str, Any]) -> list[str]:
    """Return a line for each heading of the report that has words: the most frequent ones first."""
    lines: list[str] = []
    for heading, title in _HEADINGS.items():
        words = _words(report, heading)
        if words:
            shown = "; ".join(line(word, _LONGEST) for word, _ in words.most_common(_SHOWN))
            more = len(words) - _SHOWN
            lines.append(f"{title}: {shown}{f'; and {more:,} more' if more > 0 else ''}")
    return lines


def _words(report: dict[str, Any], heading: str) -> Counter[str]:
    """Count, over the whole fold and its documents, how often each word of a heading holds."""
    counter: Counter[str] = Counter()
    for part in (report, *report.get("documents", ())):
        for word in part.get(heading, ()):
            times = _TIMES.search(word)
            counter[_TIMES.sub("", word)] += int(times[1]) if times else 1
    return counter
