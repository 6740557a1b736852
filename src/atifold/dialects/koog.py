"""Read what Koog writes beside the conventions: what its tools were given and gave, as plain values."""

from __future__ import annotations

from typing import Final

from atifold.dialects import values
from atifold.dialects.about import About
from atifold.dialects.table import TOOLS, Dialect, Row
from atifold.spans import Span

ROWS: Final = (
    Row("arguments", ("input.value",), values.arguments, TOOLS),
    Row("result", ("output.value",), values.result, TOOLS),
)


def marks(span: Span) -> bool:
    """Tell whether Koog names a node here, or a tool of the conventions has plain values beside it."""
    found = span.attributes
    plain = "input.value" in found and "gen_ai.tool.name" in found and "openinference.span.kind" not in found
    return plain or any(name.startswith("koog.") for name in found)


KOOG: Final = Dialect(
    name="koog",
    marks=marks,
    rows=ROWS,
    known_prefixes=("koog.",),
    about=About(
        title="Koog (JetBrains)",
        versions="its spans beside the conventions",
        carries="what tools were given and gave, as plain values",
        lacks="a cost",
    ),
)
