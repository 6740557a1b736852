"""Read values that an instrumentation wrote with Python's `repr` in place of JSON."""

from __future__ import annotations

import ast
import re
from typing import Any, Final

from atifold.calls import MISSING

_OBJECT: Final = re.compile(r"[A-Z]\w*\(\w+=|\{\s*'|\[\s*(?:\{\s*'|[A-Z]\w*\(\w+=)")
"""How the repr of an object begins: a call with keywords, a dict with a text as its first key, a list of these."""

_MEMBER: Final = re.compile(r"<[A-Za-z_][\w.]*: ('[^'\\]*'|-?[\d.]+)>")
"""How the repr of an enum's member looks: `<Status.DONE: 'done'>`."""

_LONGEST: Final = 1_000_000


def from_repr(text: str) -> Any:
    """Return the objects, lists, texts and numbers behind a repr, MISSING for any other text.

    Values are as Python wrote them: bytes and numbers that JSON does not have may be among them.

    What looks like the call of a class is an object of its keywords: `Item(id='x')` is `{"id": "x"}`.
    Nothing is evaluated.
    """
    if len(text) > _LONGEST or _OBJECT.match(text) is None:
        return MISSING
    found = _read(text.strip())
    return _read(_MEMBER.sub(r"\1", text.strip())) if found is MISSING and _MEMBER.search(text) else found


def _read(text: str) -> Any:
    try:
        return _value(ast.parse(text, mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return MISSING


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Dict(keys=keys, values=values):
            return {str(_value(key)): _value(item) for key, item in zip(keys, values, strict=True) if key is not None}
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Call(args=[], keywords=keywords):
            return {word.arg: _value(word.value) for word in keywords if word.arg is not None}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case _:
            raise ValueError(f"no plain value: {type(node).__name__}")
