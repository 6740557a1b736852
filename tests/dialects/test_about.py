"""What people are told of the dialects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from atifold.dialects import DIALECTS
from atifold.dialects.table import Dialect
from atifold.spans import Span, SpanEvent

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_dialect_says_what_it_carries_and_what_it_lacks(dialect: Dialect) -> None:
    """In cells of a table: one line, no full stop, no bar."""
    about = dialect.about
    for words in (about.title, about.versions, about.carries, about.lacks):
        assert words
        assert not set("|\n") & set(words)
        assert not words.endswith(".")


@pytest.mark.parametrize(
    ("dialect", "attributes", "events", "versions"),
    [
        ("genai", {"gen_ai.system": "x"}, (), "before 1.37"),
        ("genai", {"gen_ai.system": "x", "gen_ai.provider.name": "x"}, (), "1.37 and later"),
        ("genai", {"gen_ai.system": "x"}, ("gen_ai.choice",), "1.28 to 1.36"),
        ("genai", {"gen_ai.request.model": "x"}, ("other",), ""),
        ("vercel-ai", {"ai.usage.promptTokens": 1}, (), "4 or 5"),
        ("vercel-ai", {"ai.usage.inputTokens": 1}, (), "5"),
        ("vercel-ai", {"ai.usage.inputTokens": 1, "ai.usage.inputTokenDetails.cacheReadTokens": 1}, (), "6"),
        ("openllmetry", {"gen_ai.prompt.0.role": "user"}, (), "up to 0.5x, flat messages"),
        ("openinference", {"openinference.span.kind": "LLM"}, (), ""),
    ],
)
def test_versions_show_in_names(
    span: Callable[..., Span], dialect: str, attributes: dict[str, Any], events: tuple[str, ...], versions: str
) -> None:
    """Of attributes and events; nothing is guessed where they do not tell."""
    found = span(attributes, events=tuple(SpanEvent(name, 1) for name in events))
    assert BY_NAME[dialect].about.generation_of(found) == versions
