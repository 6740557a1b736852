"""File names of what documents are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atifold.filename import file_stem


def test_good_names_stay_as_they_are() -> None:
    """Run ids and trace ids are such names."""
    assert file_stem("run-1.part2_X") == "run-1.part2_X"


@given(st.text(max_size=300) | st.text("ab.-/", max_size=300))
def test_any_name_becomes_a_file_in_the_folder(name: str) -> None:
    """No separator, no hidden file, no name too long, and always the same."""
    stem = file_stem(name)
    assert stem == file_stem(name)
    assert stem.isascii()
    assert not set(stem) & set('/\\:*?"<>|\0')
    assert not stem.startswith(".")
    assert 0 < len(stem) <= 120
    assert file_stem(stem) == stem, "what is a stem already stays as it is"


@pytest.mark.parametrize(("one", "other"), [("a/b", "a_b"), ("a/b", "a:b"), ("x" * 200, "x" * 201), ("", ".")])
def test_two_names_never_become_one_file(one: str, other: str) -> None:
    """What is changed carries a hash of the whole name."""
    assert file_stem(one) != file_stem(other)
