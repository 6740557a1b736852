"""Texts of a request without roles have them from their places."""

from __future__ import annotations

from typing import Any

import pytest

from atifold.calls import MISSING, Text
from atifold.dialects import untold_roles
from atifold.dialects.values import Note


@pytest.mark.parametrize(
    ("texts", "roles"),
    [
        (["u"], ["user"]),
        (["s", "u"], ["system", "user"]),
        (["u", "a", "u"], ["user", "assistant", "user"]),
        (["s", "u", "a", "u"], ["system", "user", "assistant", "user"]),
        (["u", "", ""], ["user"]),
        (["s", "u", "", ""], ["system", "user"]),
        (["s", "u", "a", ""], ["system", "user", "assistant"]),
        (["u", "a", "", "a", "u"], ["user", "assistant", "assistant", "user"]),
        (["s", "u", "a", "", "b", ""], ["system", "user", "assistant", "assistant"]),
    ],
)
def test_turns_tell_whose_a_text_is(texts: list[str], roles: list[str]) -> None:
    """The last is a person's or a tool's; a text that is empty is no message."""
    note = Note()
    found = untold_roles.asked(texts, note)
    assert [message.role for message in found] == roles
    assert [message.parts for message in found] == [(Text(text),) for text in texts if text]
    assert bool(note.remarks) is (len(texts) > 1)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ('["s", "u"]', ["s", "u"]),
        ('["say "hi"", "u"]', ['say "hi"', "u"]),
        (("s", "u"), ["s", "u"]),
        ('["s", 1]', None),
        (['{"role": "user"}'], None),
        ("a text", None),
        ([], None),
        ({"a": 1}, None),
    ],
)
def test_only_lists_of_texts_are_read(value: Any, texts: list[str] | None) -> None:
    """Also where quotation marks inside make it no JSON."""
    assert untold_roles.texts_in(value) == texts


def test_what_says_nothing_is_no_message() -> None:
    """Neither in a request nor in an answer."""
    assert untold_roles.asked(["", ""], Note()) is MISSING
    assert untold_roles.said([""]) is MISSING
    assert untold_roles.said(None) is MISSING
    assert [message.parts for message in untold_roles.said('["a"]')] == [(Text("a"),)]
