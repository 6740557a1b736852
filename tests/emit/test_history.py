"""Messages in whatever shape a caller has them come out in the conventions' shape."""

from __future__ import annotations

from typing import Any

import pytest

from atifold.emit.history import shaped, text_part


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ({"role": "user", "content": "Hello"}, [text_part("Hello")]),
        ({"role": "user", "content": None}, []),
        ({"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}, [text_part("Hello")]),
        ({"role": "user", "content": [{"type": "image", "id": 1}]}, [{"type": "image", "id": 1}]),
        ({"role": "user", "content": [{}]}, [text_part("{}")]),
        ({"role": "user", "content": {"city": "Lyon"}}, [text_part('{"city":"Lyon"}')]),
        ({"role": "user", "content": [["a", 1], None, "b"]}, [text_part('["a",1]'), text_part("null"), text_part("b")]),
        ({"role": "user", "parts": [{"type": 7}, "a"]}, [text_part('{"type":7}'), text_part("a")]),
        ({"role": "user", "parts": [{"type": "text"}]}, [text_part('{"type":"text"}')]),
        ({"role": "user", "parts": [{"type": "uri", "uri": "a:b"}]}, [text_part('{"type":"uri","uri":"a:b"}')]),
        (
            {"role": "user", "parts": [{"type": "tool_call", "id": "c1"}]},
            [{"type": "tool_call", "id": "c1", "name": ""}],
        ),
        (
            {"role": "user", "parts": [{"type": "tool_call_response", "id": "c1"}]},
            [{"type": "tool_call_response", "id": "c1", "response": None}],
        ),
        (
            {"role": "user", "tool_calls": [{"id": 7, "function": {"name": 8}}]},
            [{"type": "tool_call", "id": "7", "name": "8", "arguments": None}],
        ),
        ([{}], [text_part("{}")]),
        ("Hello", [text_part("Hello")]),
    ],
)
def test_every_part_is_one_of_the_conventions(source: Any, parts: list[dict[str, Any]]) -> None:
    """Whatever stands in the content, nothing else comes out."""
    assert shaped(source) == {"role": "user", "parts": parts}


def test_a_message_in_the_conventions_shape_is_not_copied() -> None:
    """A history knows its messages by identity."""
    message = {"role": "assistant", "parts": [text_part("Hi")], "finish_reason": "stop"}
    assert shaped(message) is message


def test_a_role_that_is_no_text_becomes_one() -> None:
    """What else the message has is kept."""
    assert shaped({"role": 7, "parts": [text_part("a")], "name": "x"}) == {
        "role": "7",
        "parts": [text_part("a")],
        "name": "x",
    }
