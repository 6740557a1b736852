"""What a command says of its report in the end."""

from __future__ import annotations

from atifold.cli.summary import remarks, spans_read

WORDS = ["content was not captured: model call (4 times)", "no span gives the agent's version", "no span tells a cost"]


def test_all_words_are_shown_where_two_lines_hold_them() -> None:
    """The most frequent one first; a second line hangs below the first."""
    assert remarks({"documents": [{"missing": WORDS}]}, 78) == [
        "missing: content was not captured: model call; no span gives the agent's\n  version; no span tells a cost"
    ]


def test_words_that_do_not_fit_are_counted() -> None:
    """It is said where they are; at least one is shown."""
    (text,) = remarks({"documents": [{"unsure": [f"a word of which there are many, the {n}th" for n in range(9)]}]}, 78)
    lines = text.splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 78
    assert text.endswith("more, in the report (--report FILE)")
    (short,) = remarks({"left_out": ["x" * 90, "y" * 90]}, 20)
    assert "xxx" in short
    assert "1 more" in " ".join(short.split())


def test_a_report_with_nothing_to_say_has_no_remarks() -> None:
    """Headings without words are not shown."""
    assert remarks({"documents": [{"missing": [], "name": "x"}]}, 78) == []


def test_what_makes_a_result_doubtful_is_told_first() -> None:
    """Before what it lacks and what was concluded; of a call traced twice the line of spans tells."""
    notes = ["chat: one call traced twice, merged with x (3 times)", "chat: broken JSON"]
    report = {"notes": notes, "documents": [{"missing": ["m"], "unsure": ["u"], "inferred": ["i"], "merged": ["x"]}]}
    assert remarks(report, 78) == ["unsure: u", "missing: m", "inferred: i", "remarks: chat: broken JSON"]


def test_it_is_told_how_many_spans_were_read_and_why_the_others_were_not() -> None:
    """In one line; of many reasons the most frequent ones."""
    ignored = {"http": 2, "no dialect": 9, "a": 1, "b": 1, "c": 1, "d": 1}
    report = {"dialects": {"genai": 7, "strands": 1}, "ignored": ignored, "documents": [{"spans": {"merged": 2}}]}
    assert spans_read(report, 200, 23) == (
        "read: 8 of 23 spans (genai 7, strands 1), of which 2 repeat a call; "
        "passed over: no dialect 9, http 2, a 1, b 1, others 2"
    )
    assert spans_read({"dialects": {"genai": 1}}, 78, 1) == "read: 1 of 1 span (genai 1)"
    assert spans_read({}, 78, 0) == ""


def test_calls_out_of_records_are_not_told_as_spans() -> None:
    """Three spans came, and five are told of, since records of a log are calls too: no share of what never was."""
    report = {"dialects": {"codex": 3}, "ignored": {"http": 2}}
    assert spans_read(report, 78, 3) == "read: 3 calls (codex 3); passed over: http 2"


def test_where_nothing_was_read_it_is_told_how_to_find_out() -> None:
    """The command that lists what spans hold."""
    told = spans_read({"ignored": {"no dialect": 3}}, 200, 3)
    assert told == "read: no span; passed over: no dialect 3; `atifold dialects FILE` tells what they hold"
