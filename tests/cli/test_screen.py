"""What is printed for people suits the other end."""

from __future__ import annotations

from io import BytesIO, TextIOWrapper

import pytest
from rich.table import Table

from atifold.cli.screen import Screen, plain

TREE = "├─ chat m  ≥ $1.00  –\n│  └─ x…"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "no such encoding"])
def test_signs_that_an_encoding_has_not_are_drawn_in_ascii(encoding: str) -> None:
    """As wide as before, so that columns stay in line; where all signs are known, nothing changes."""
    shown = plain(TREE, encoding)
    assert shown == (TREE if encoding == "utf-8" else "|- chat m  >=$1.00  -\n|  `- x~")
    assert len(shown) == len(TREE)


def test_signs_of_others_stay_as_they_are() -> None:
    """What a person wrote is not redrawn."""
    assert plain("Hôtel", "ascii") == "Hôtel"


def test_no_line_ends_in_spaces() -> None:
    """Tables pad their last column; a pipe gets none of it."""
    table = Table("a", "b", box=None, padding=(0, 2, 0, 0), expand=True)
    table.add_row("1", "")
    out = TextIOWrapper(BytesIO(), encoding="ascii")
    screen = Screen(out, width=40)
    screen.print(table)
    screen.print()
    screen.print("x" * 50, wrap=False)
    out.seek(0)
    lines = out.read().split("\n")
    assert [line.split() for line in lines] == [["a", "b"], ["1"], [], ["x" * 50], []]
    assert all(line == line.rstrip() for line in lines)
