"""What a command says of its report in the end."""

from __future__ import annotations

from atifold.cli.summary import remarks

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
