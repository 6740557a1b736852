"""Close a command with what was done and what the report says, on stderr."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from shutil import get_terminal_size
from textwrap import indent, wrap
from typing import TYPE_CHECKING, Any

from atifold.cli.words import line, plural, say

if TYPE_CHECKING:
    from atifold.fold import Document, Folded

_HEADINGS = {
    "unsure": "unsure",
    "missing": "missing",
    "inferred": "inferred",
    "left_out": "left out",
    "notes": "remarks",
}
"""What is told of a report, what bears on trust first; that a call was traced twice stands in the line of spans."""
_LINES = 2
"""Lines that the words of a heading get; words that do not fit are counted."""
_LONGEST = 100
_NARROWEST = 40
_INDENT = "  "
_TWICE = "one call traced twice"
_TIMES = re.compile(r" \((\d+) times\)$")


def summarise(source: str, folded: Folded, written: int, target: str | None, *, foreign: int | None = None) -> None:
    """Say how many documents came out of `source` and where they are, then the report in short.

    `target` is what -o was given, `-` for stdout, None where no documents were asked for. Of so many
    `foreign` spans it is said how many were read.
    """
    documents = folded.documents
    if not documents:
        say(f"{source}: no trajectory, as there is no step of an agent")
    elif target is None:
        say(f"{source}: {_trajectories(len(documents))} in them, none written (-o DIR writes them)")
    elif written < len(documents):
        say(f"{source}: {_trajectories(len(documents))} in them, {written:,} written")
    else:
        place = "on stdout" if target == "-" else f"in {target}"
        say(f"{source} -> {_trajectories(written)} {place}{_unfinished(documents)}")
    width = max(get_terminal_size().columns, _NARROWEST)
    used = "" if foreign is None else spans_read(folded.report, width - len(_INDENT), foreign)
    if used:
        say(indent(used, _INDENT))
    for words in remarks(folded.report, width - len(_INDENT)):
        say(indent(words, _INDENT))


def _trajectories(number: int) -> str:
    return plural(number, "trajectory", "trajectories")


def _unfinished(documents: Sequence[Document]) -> str:
    incomplete = sum(document.incomplete for document in documents)
    return f" ({incomplete:,} incomplete)" if incomplete else ""


def spans_read(report: dict[str, Any], width: int, given: int) -> str:
    """Return how many of the `given` spans were read as calls, in which dialects, and why others were not; "" for none.

    It has at most two lines of `width` characters. Where the figures are not of spans alone (records of a log are
    calls too, and a span may come twice), calls are counted.
    """
    dialects, ignored = report.get("dialects", {}), report.get("ignored", {})
    read, passed = sum(dialects.values()), sum(ignored.values())
    if not read + passed:
        return ""
    merged = sum(entry.get("spans", {}).get("merged", 0) for entry in report.get("documents", ()))
    twice = f", of which {merged:,} repeat a call" if merged else ""
    number = f"{read:,} of {plural(given, 'span')}" if read + passed == given else plural(read, "call")
    words = [f"{number} ({counts(dialects)}){twice}" if read else "no span"]
    words += [f"passed over: {counts(ignored)}"] if ignored else []
    words += ["`atifold dialects FILE` tells what they hold"] if not read else []
    return _fitted("read", words, width)


def counts(numbers: Mapping[str, int], most: int = 4) -> str:
    """Return counted names, the most frequent ones first; more than `most` are counted together."""
    ranked = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{line(name, _LONGEST)} {number:,}" for name, number in ranked[:most]]
    rest = sum(number for _, number in ranked[most:])
    return ", ".join([*shown, f"others {rest:,}"] if rest else shown)


def remarks(report: dict[str, Any], width: int) -> list[str]:
    """Return a text for each heading of the report that has words: the most frequent ones first.

    A text has at most two lines of `width` characters; of the words that do not fit it says how many.
    """
    headings = [(title, _words(report, heading)) for heading, title in _HEADINGS.items()]
    return [
        _fitted(title, [line(word, _LONGEST) for word, _ in words.most_common()], width)
        for title, words in headings
        if words
    ]


def _fitted(title: str, words: list[str], width: int) -> str:
    """Return as many words as the lines hold, at least one."""
    shown = len(words)
    lines = _wrapped(title, words, shown, width)
    while len(lines) > _LINES and shown > 1:
        shown -= 1
        lines = _wrapped(title, words, shown, width)
    return "\n".join(lines)


def _wrapped(title: str, words: list[str], shown: int, width: int) -> list[str]:
    rest = len(words) - shown
    more = f"; and {rest:,} more, in the report (--report FILE)" if rest else ""
    text = f"{title}: {'; '.join(words[:shown])}{more}"
    return wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)


def _words(report: dict[str, Any], heading: str) -> Counter[str]:
    """Count, over the whole fold and its documents, how often each word of a heading holds."""
    counter: Counter[str] = Counter()
    for part in (report, *report.get("documents", ())):
        for word in part.get(heading, ()):
            if _TWICE in word:
                continue
            times = _TIMES.search(word)
            counter[_TIMES.sub("", word)] += int(times[1]) if times else 1
    return counter
