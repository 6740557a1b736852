"""Collect what a fold has to say about its work, beside the documents.

A document's report is a JSON object; a key is absent where there is nothing to say::

    {"name": "run-1-0123abcd",            the document's name
     "trace_ids": ["…"], "dialects": {"genai": 12},
     "spans": {"read": 13, "merged": 1,   spans that became calls, and those of them that told of one twice
               "ignored": {"http": 2}},   spans that are no calls, by reason
     "calls": {"model": 3, "tool": 2, "agent": 1},
     "subagents": 1,                      documents embedded in it, at any depth
     "incomplete": ["…"],                 why it is unfinished
     "inferred": ["…"],                   what was concluded, not read
     "merged": ["…"],                     what was told more than once and is one
     "missing": ["…"],                    what the trace does not say
     "unsure": ["…"],                     what may be otherwise
     "left_out": ["…"]}                   what ATIF or the rules have no place for

Each word is one line; one that holds for several calls ends in `(N times)`. The whole fold's report
has `documents` (their reports, in order), `totals` (documents, calls and ignored spans), and from
the reading `dialects`, `ignored`, `notes` and `unknown_keys`; `left_out` says which agents held nothing.
No report holds content of a person, a model or a tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

Heading = Literal["inferred", "merged", "missing", "unsure", "left_out"]
HEADINGS: Final[tuple[Heading, ...]] = ("inferred", "merged", "missing", "unsure", "left_out")


class Words:
    """Words under headings, each counted: those of a document and of all that it embeds."""

    def __init__(self) -> None:
        """Start with nothing said."""
        self._said: dict[Heading, Counter[str]] = {heading: Counter() for heading in HEADINGS}

    def say(self, heading: Heading, word: str, times: int = 1) -> None:
        """Add a word; nothing when `times` is 0."""
        if times > 0:
            self._said[heading][word] += times

    def as_lists(self) -> dict[str, list[str]]:
        """Return the headings that have words, each with its lines in alphabetical order."""
        return {h: [_line(w, n) for w, n in sorted(words.items())] for h, words in self._said.items() if words}


def with_words(report: Mapping[str, Any], words: Iterable[tuple[Heading, str]]) -> dict[str, Any]:
    """Return a document's report with more words under its headings, each counted."""
    more = Words()
    for heading, word in words:
        more.say(heading, word)
    added = more.as_lists()
    return {**report, **{heading: sorted([*report.get(heading, ()), *lines]) for heading, lines in added.items()}}


def _line(word: str, times: int) -> str:
    """Return a word with how often it holds."""
    return word if times == 1 else f"{word} ({times} times)"


def whole_report(
    documents: Iterable[Mapping[str, Any]],
    reading: Mapping[str, Any],
    left_out: Iterable[str],
) -> dict[str, Any]:
    """Return the report of a whole fold, as the module says."""
    entries = [dict(entry) for entry in documents]
    calls: Counter[str] = Counter()
    for entry in entries:
        calls.update(entry["calls"])
    totals = {"documents": len(entries), "calls": dict(sorted(calls.items()))}
    totals["ignored_spans"] = sum(reading["ignored"].values())
    words = Counter(left_out)
    report: dict[str, Any] = {"totals": totals, **{key: value for key, value in reading.items() if value}}
    if words:
        report["left_out"] = [_line(word, times) for word, times in sorted(words.items())]
    report["documents"] = entries
    return report
