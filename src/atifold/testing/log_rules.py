"""Hold what the pinned GenAI conventions say of each log event, as data."""

from __future__ import annotations

from typing import Final, NamedTuple

from atifold.spans import Kind
from atifold.testing.span_rules import SPAN_TYPES

DEBUG: Final = 5
WARN: Final = 13


class LogEvent(NamedTuple):
    """One log event.

    `severity` None: the conventions name none. Of `either` at least one attribute has to be there.
    `context`: None where it has to be in a span's context, else the attribute that may stand for it.
    `needs` are pairs: where the first attribute is, the second has to be.
    """

    severity: int | None
    required: frozenset[str]
    allowed: frozenset[str]
    either: frozenset[str] = frozenset()
    context: str | None = None
    needs: tuple[tuple[str, str], ...] = ()


_INFERENCE = SPAN_TYPES["gen_ai.client.inference"]
_OF_CLIENTS = frozenset().union(*(row.allowed for row in SPAN_TYPES.values() if Kind.CLIENT in row.kinds))

EVENTS: Final[dict[str, LogEvent]] = {
    "gen_ai.client.inference.operation.details": LogEvent(
        DEBUG, _INFERENCE.required, _INFERENCE.allowed, needs=_INFERENCE.needs
    ),
    "gen_ai.evaluation.result": LogEvent(
        None,
        frozenset({"gen_ai.evaluation.name"}),
        frozenset(
            {
                "error.type",
                "gen_ai.evaluation.explanation",
                "gen_ai.evaluation.name",
                "gen_ai.evaluation.score.label",
                "gen_ai.evaluation.score.value",
                "gen_ai.response.id",
            }
        ),
        context="gen_ai.response.id",
    ),
    # The attributes of the client's span may be on it too, so all of them are allowed.
    "gen_ai.client.operation.exception": LogEvent(
        WARN,
        frozenset(),
        _OF_CLIENTS | {"exception.message", "exception.stacktrace", "exception.type"},
        either=frozenset({"exception.message", "exception.type"}),
    ),
}
"""All log events, by name."""

OLD_LOGS: Final = dict.fromkeys(
    (
        "gen_ai.assistant.message",
        "gen_ai.choice",
        "gen_ai.system.message",
        "gen_ai.tool.message",
        "gen_ai.user.message",
    ),
    "gen_ai.client.inference.operation.details",
)
"""Log event of older conventions to the one that has its content now."""
