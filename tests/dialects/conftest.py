"""Make spans of one trace with few words, and read them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from atifold import dialects
from atifold.calls import Call, Reading
from atifold.spans import Span

C = TypeVar("C", bound=Call)
TRACE = "0af7651916cd43dd8448eb211c80319c"

MakeSpan = Callable[..., Span]


@pytest.fixture
def span() -> MakeSpan:
    """Return a maker of spans: ids and times count up, `parent` is a span, everything else a field of `Span`."""
    numbers = itertools.count(1)

    def make(attributes: dict[str, Any] | None = None, parent: Span | None = None, **more: Any) -> Span:
        number = next(numbers)
        fields: dict[str, Any] = {
            "trace_id": TRACE,
            "span_id": f"{number:016x}",
            "parent_id": parent.span_id if parent is not None else None,
            "name": "x",
            "start_ns": number * 1000,
            "end_ns": number * 1000 + 500,
            "attributes": attributes or {},
        }
        return Span(**{**fields, **more})

    return make


@pytest.fixture
def chat(span: MakeSpan) -> MakeSpan:
    """Return a maker of chat spans of the conventions; attributes with dots come in a dict."""

    def make(attributes: dict[str, Any] | None = None, parent: Span | None = None, **more: Any) -> Span:
        return span({"gen_ai.operation.name": "chat", **(attributes or {})}, parent, **more)

    return make


@pytest.fixture
def only() -> Callable[[type[C], Reading], C]:
    """Return what finds the one call of a kind in a reading."""

    def find(kind: type[C], reading: Reading) -> C:
        (call,) = [call for call in reading.calls if isinstance(call, kind)]
        return call

    return find


@pytest.fixture
def read_one() -> Callable[..., Any]:
    """Return what reads one span into its one call."""

    def read(span: Span) -> Call:
        (call,) = dialects.read([span]).calls
        return call

    return read


@pytest.fixture
def said() -> Callable[[str, str], str]:
    """Return what writes one message of one text, as the conventions do."""

    def write(role: str, text: str) -> str:
        return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])

    return write
